"""media_stats: one row per media item, with how often and how far it was played."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from windrow.columns.rules import column
from windrow.models.checks import Expression
from windrow.models.model import model, stored
from windrow.models.parts.declared_columns import select_declared
from windrow.packages.media_player.interactions import MEDIA
from windrow.packages.media_player.settings import MediaPlayerSettings
from windrow.tables import Columns
from windrow.tables.frames import few

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


def exact_average(value: Column, is_counted: Column) -> Column:
    """The average over the rows that count, the same in whatever order rows come."""
    return F.avg(F.when(is_counted, value.try_cast("decimal(30,12)"))).cast("double")


def share_played() -> Column:
    """Play time as a share of the duration; null where that is unknown."""
    return F.when(F.col("duration") > 0, F.col("play_time_sec") / F.col("duration"))


def percent_counts(settings: MediaPlayerSettings) -> dict[str, Column]:
    """How often each boundary was reached, again within one play too."""
    reached = F.split("percent_progress_reached", ",")

    def times(percent: int) -> Column:
        found = F.filter(reached, lambda piece: piece == F.lit(str(percent)))
        return F.coalesce(F.sum(F.when(reached.isNotNull(), F.size(found))), F.lit(0))

    return {reached_column(percent): times(percent) for percent in settings.boundaries}


def figures(plays: DataFrame, settings: MediaPlayerSettings) -> DataFrame:
    """What rows of base come to, per media: one row for each id whatever its labels are."""
    is_played = F.col("is_played")
    latest = F.struct("start_tstamp", "play_id")
    described = F.struct("media_label", "media_type", "media_player_type")
    share = share_played() if settings.compat else F.coalesce(share_played(), F.lit(0.0))
    return (
        plays.groupBy("media_id")
        .agg(
            F.max_by(described, latest).alias("described"),
            F.max("duration").alias("duration"),
            F.sum("play_time_sec").alias("seconds"),
            F.sum(F.when(is_played, F.col("play_time_sec"))).alias("seconds_of_plays"),
            F.min(F.when(is_played, F.col("start_tstamp"))).alias("first_play"),
            F.max(F.when(is_played, F.col("start_tstamp"))).alias("last_play"),
            F.count_if(is_played).alias("plays"),
            F.count_if("is_valid_play").alias("valid_plays"),
            F.count_if("is_complete_play").alias("complete_plays"),
            # A play is one page view's, so that none counts twice.
            F.count("page_view_id").alias("impressions"),
            exact_average(share, is_played).alias("avg_percent_played"),
            exact_average(F.col("retention_rate"), is_played).alias("avg_retention_rate"),
            exact_average(F.col("avg_playback_rate"), is_played).alias("avg_playback_rate"),
            F.max("start_tstamp").alias("last_base_tstamp"),
            *(value.alias(name) for name, value in percent_counts(settings).items()),
        )
        .select("*", "described.*")
        .drop("described")
    )


def with_rates(totals: DataFrame, settings: MediaPlayerSettings) -> DataFrame:
    """The rows of media_stats from their totals."""
    values: dict[str, Column] = {
        "play_rate": F.col("plays") / F.nullif(F.col("impressions"), F.lit(0)),
        "completion_rate_by_plays": F.col("complete_plays") / F.nullif(F.col("plays"), F.lit(0)),
        "first_play_date": F.to_date("first_play"),
    }
    return select_declared(totals, columns_for(settings), values)


def touched_media(base: DataFrame, former: DataFrame) -> DataFrame:
    """The media whose plays this run made, changed or took away."""
    media = base.select("media_id").union(former.select("media_id"))
    return media.where(F.col("media_id").isNotNull()).distinct()


def whole_build(plays: DataFrame, settings: MediaPlayerSettings) -> DataFrame:
    """The rows of media_stats from all rows of base of their media."""
    totals = figures(plays, settings).withColumns(
        {
            "play_time_min": F.col("seconds") / 60,
            "avg_play_time_min": F.col("seconds_of_plays")
            / F.nullif(F.col("plays"), F.lit(0))
            / 60,
        }
    )
    return with_rates(totals, settings)


@model(key="media_id", columns=columns_for, checks=CHECKS)
def media_stats(
    base: DataFrame,
    settings: MediaPlayerSettings,
    most_events: int,
    former: DataFrame = stored("base", before_this_run=True, of_sessions=True),
    plays: DataFrame = stored("base"),
) -> DataFrame:
    """One row per media item: plays, impressions, play time and rates over all its plays.

    The rows of the media that the run touched are made anew from all their plays, so that they
    are exact however runs were cut or repeated. That reads the columns in question of the whole of
    base, and then works on the plays of these media only.
    """
    touched = few(touched_media(base, former), most_events)
    rows = whole_build(plays.join(touched, "media_id", how="left_semi"), settings)
    # Media that have lost every play are not to keep the figures that they had.
    counts = ["plays", "valid_plays", "complete_plays", "impressions", "play_time_min"]
    reached = [reached_column(percent) for percent in settings.boundaries]
    return touched.join(rows, "media_id", how="left").fillna(0, [*counts, *reached])
