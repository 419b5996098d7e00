"""user_stats: one row per user with media, over all the user's sessions."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from windrow.columns.rules import column
from windrow.models.checks import NotNull
from windrow.models.model import model, stored
from windrow.models.parts.declared_columns import select_declared
from windrow.packages.media_player.play_averages import exact_average
from windrow.packages.media_player.session_stats import COLUMNS as SESSION_COLUMNS
from windrow.packages.media_player.settings import MediaPlayerSettings
from windrow.tables import Columns

_TOTALS = (
    *("video_plays", "audio_plays", "valid_video_plays", "valid_audio_plays"),
    *("complete_plays", "seeks"),
)


def columns_for(settings: MediaPlayerSettings) -> Columns:
    """The columns of user_stats; the SQL package has whole minutes."""
    minutes = "int" if settings.compat else "double"
    return {
        "domain_userid": column("string", "Id of the user in the site's own cookie."),
        "first_play": column("timestamp", "Start of the user's first session with a play."),
        "last_play": column("timestamp", "Start of the user's last session with a play."),
        **{name: SESSION_COLUMNS[name] for name in _TOTALS},
        "play_time_min": column(minutes, "Minutes of play time."),
        "avg_session_play_time_min": column(
            minutes, "Average over sessions with plays of the average minutes of a play; 0 if none."
        ),
        "avg_percent_played": column(
            "double",
            "Average over sessions with plays, with `compat` over all, of their average share of "
            "play time in the duration; 0 if none.",
        ),
        "first_play_date": column("date", "Day of `first_play` in UTC."),
    }


@model(
    kind="rebuilt",
    key="domain_userid",
    date="first_play",
    columns=columns_for,
    checks=(NotNull("domain_userid", severity="warn"),),
)
def user_stats(
    settings: MediaPlayerSettings, sessions: DataFrame = stored("session_stats")
) -> DataFrame:
    """One row per user with media: plays and play time over all sessions."""
    is_playing = F.col("video_plays") + F.col("audio_plays") > 0
    start = F.when(is_playing, F.col("start_tstamp"))
    with_share = F.lit(True) if settings.compat else is_playing

    def average(name: str, is_counted: Column) -> Column:
        return F.coalesce(exact_average(F.col(name), is_counted), F.lit(0.0))

    totals = sessions.groupBy("domain_userid").agg(
        F.min(start).alias("first_play"),
        F.max(start).alias("last_play"),
        *(F.sum(name).alias(name) for name in _TOTALS),
        F.sum(F.col("play_time_min").try_cast("decimal(30,12)")).alias("minutes"),
        average("avg_play_time_min", is_playing).alias("minutes_of_a_play"),
        average("avg_percent_played", with_share).alias("avg_percent_played"),
    )
    values: dict[str, Column] = {
        "play_time_min": _minutes(F.col("minutes"), settings),
        "avg_session_play_time_min": _minutes(F.col("minutes_of_a_play"), settings),
        "first_play_date": F.to_date("first_play"),
    }
    return select_declared(totals, columns_for(settings), values)


def _minutes(value: Column, settings: MediaPlayerSettings) -> Column:
    minutes = value.cast("double")
    return F.floor(minutes).cast("int") if settings.compat else minutes
