"""media_stats: one row per media item, with how often and how far it was played."""

from __future__ import annotations

from functools import partial

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from windrow.columns.rules import column
from windrow.models.checks import Expression
from windrow.models.model import model, stored
from windrow.models.parts.declared_columns import select_declared
from windrow.packages.media_player.base import is_complete
from windrow.packages.media_player.interactions import MEDIA
from windrow.packages.media_player.media_totals import number_of
from windrow.packages.media_player.settings import MediaPlayerSettings
from windrow.tables import Columns

CHECKS = (
    Expression("valid_plays <= plays", severity="warn"),
    Expression("plays <= impressions", severity="warn"),
)


def reached_column(percent: int) -> str:
    """The column that counts how often a percent was reached."""
    return f"_{percent}_percent_reached"


def columns_for(settings: MediaPlayerSettings) -> Columns:
    """The columns of media_stats, with one for each boundary."""
    return {
        "media_id": MEDIA["media_id"],
        "media_label": column("string", "Label of the media in the latest play or impression."),
        "duration": column("double", "Greatest duration of the media in whole seconds."),
        "media_type": MEDIA["media_type"],
        "media_player_type": MEDIA["media_player_type"],
        "play_time_min": column("double", "Minutes of play time of all plays."),
        "avg_play_time_min": column("double", "Average minutes of play time of a play."),
        "first_play": column("timestamp", "Start of the first play; null if never played."),
        "last_play": column("timestamp", "Start of the last play; null if never played."),
        "plays": column("bigint", "Number of plays."),
        "valid_plays": column("bigint", "Number of valid plays."),
        "complete_plays": column("bigint", "Number of complete plays."),
        "impressions": column("bigint", "Number of page views that had the media, played or not."),
        "avg_playback_rate": column("double", "Average of the plays' playback rates."),
        "play_rate": column("double", "Plays per impression."),
        "completion_rate_by_plays": column("double", "Share of the plays that are complete."),
        "avg_percent_played": column(
            "double",
            "Average of the plays' shares of play time in the duration; 0 where that is unknown.",
        ),
        "avg_retention_rate": column("double", "Average of the plays' retention rates."),
        "last_base_tstamp": column(
            "timestamp",
            "Start of the media's latest play or impression; with `compat` that of all media.",
        ),
        "first_play_date": column("date", "Day of `first_play` in UTC."),
        **{
            reached_column(percent): column("bigint", f"How often {percent} percent was reached.")
            for percent in settings.boundaries
        },
    }


def with_rates(totals: DataFrame, settings: MediaPlayerSettings) -> DataFrame:
    """The rows of media_stats from their totals."""
    values: dict[str, Column] = {
        "play_rate": F.col("plays") / F.nullif(F.col("impressions"), F.lit(0)),
        "completion_rate_by_plays": F.col("complete_plays") / F.nullif(F.col("plays"), F.lit(0)),
        "first_play_date": F.to_date("first_play"),
    }
    return select_declared(totals, columns_for(settings), values)


@model(key="media_id", columns=columns_for, checks=CHECKS)
def media_stats(
    media_totals: DataFrame,
    settings: MediaPlayerSettings,
    all_totals: DataFrame = stored("media_totals"),
    going_on: DataFrame | None = stored("media_stats", in_step_with="media_totals"),
) -> DataFrame:
    """One row per media item: plays, impressions, play time and rates over all its plays.

    The rows of the media that the run touched are made anew from their totals, so that they are
    exact however runs were cut or repeated.
    """
    totals = totals_to_tell(media_totals, all_totals, going_on)
    is_complete_time = partial(is_complete, duration=F.col("duration"), settings=settings)
    plays, duration = F.nullif(F.col("plays"), F.lit(0)), F.col("duration")
    # All plays of media last the same, so that the average share is that of all their seconds.
    share = F.when(duration > 0, F.col("seconds_of_plays") / duration / plays)
    values: dict[str, Column] = {
        **{it: F.col(f"latest.{it}") for it in ("media_label", "media_type", "media_player_type")},
        "play_time_min": number_of("play_times", times_value=True) / 60,
        "avg_play_time_min": F.col("seconds_of_plays") / plays / 60,
        "valid_plays": number_of("play_times", F.lit(settings.valid_play_sec).__lt__),
        "complete_plays": number_of("play_times", is_complete_time),
        "avg_playback_rate": (F.col("sum_of_rates") / F.nullif(F.col("rates"), F.lit(0))).cast(
            "double"
        ),
        "avg_percent_played": F.when(plays.isNotNull(), F.coalesce(share, F.lit(0.0))),
        "avg_retention_rate": number_of("watched", times_value=True) / 100 / plays,
        "last_base_tstamp": F.col("latest.start_tstamp"),
        **{
            reached_column(percent): number_of("reported", F.lit(percent).__eq__)
            for percent in settings.boundaries
        },
    }
    return with_rates(totals.withColumns(values), settings)


def totals_to_tell(
    media_totals: DataFrame, all_totals: DataFrame, going_on: DataFrame | None
) -> DataFrame:
    """The totals that a table made of them has yet to tell; all, where it is not in step."""
    if going_on is not None:
        return media_totals
    others = all_totals.join(media_totals.select("media_id"), "media_id", how="left_anti")
    return media_totals.unionByName(others)
