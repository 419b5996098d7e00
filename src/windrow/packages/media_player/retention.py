"""retention: how many of the plays of a media item were still going on, percent by percent."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from windrow.columns.rules import column
from windrow.models.checks import Expression
from windrow.models.model import model, stored
from windrow.packages.media_player.interactions import MEDIA
from windrow.packages.media_player.media_stats import touched_media
from windrow.packages.media_player.settings import MediaPlayerSettings
from windrow.tables import Columns
from windrow.tables.frames import few

COLUMNS: Columns = {
    "media_id": MEDIA["media_id"],
    "percent_progress": column("int", "Percent of the media: 0 or one of the boundaries."),
    "plays": column("bigint", "Number of plays of the media."),
    "plays_watching": column(
        "bigint", "Plays that came to this percent without seeking before it; at 0 all plays."
    ),
    "plays_reaching": column("bigint", "Plays that came to this percent in any way; at 0 all."),
    "retention_rate": column("double", "Share of the plays that were still watching."),
    "reach_rate": column("double", "Share of the plays that reached this percent in any way."),
}


@model(
    key=("media_id", "percent_progress"),
    columns=COLUMNS,
    checks=(Expression("plays_watching <= plays_reaching AND plays_reaching <= plays"),),
)
def retention(
    base: DataFrame,
    settings: MediaPlayerSettings,
    most_events: int,
    former: DataFrame = stored("base", before_this_run=True, of_sessions=True),
    plays: DataFrame = stored("base"),
) -> DataFrame:
    """One row per media item and percent: the plays that were still watching there.

    Like media_stats, the rows of the media that the run touched are made anew from all their plays.
    """
    touched = few(touched_media(base, former), most_events)
    percents = (0, *(percent for percent in settings.boundaries if percent > 0))
    curve = touched.select(
        "media_id", F.explode(F.array(*map(F.lit, percents))).alias("percent_progress")
    )
    pieces = F.split("percent_progress_reached", ",")
    reached = (
        plays.where(F.col("is_played"))
        .join(touched, "media_id", how="left_semi")
        .select(
            "media_id",
            F.round(F.col("retention_rate") * 100).cast("int").alias("watched_to"),
            F.array_max(F.transform(pieces, lambda piece: piece.cast("int"))).alias("reached"),
        )
    )
    # Few percents: each play is counted where it ended, not once for each that it passed.
    ends = reached.groupBy("media_id", "watched_to", "reached").agg(F.count("*").alias("number"))
    percent, number = F.col("percent_progress"), F.col("number")
    counted = (
        curve.join(ends, "media_id", how="left")
        .groupBy("media_id", "percent_progress")
        .agg(
            F.coalesce(F.sum("number"), F.lit(0)).alias("plays"),
            *(
                F.coalesce(
                    F.sum(F.when((percent == 0) | (F.col(end) >= percent), number)), F.lit(0)
                ).alias(name)
                for name, end in (("plays_watching", "watched_to"), ("plays_reaching", "reached"))
            ),
        )
    )
    some_plays = F.nullif(F.col("plays"), F.lit(0))
    return counted.withColumns(
        {
            "retention_rate": F.col("plays_watching") / some_plays,
            "reach_rate": F.col("plays_reaching") / some_plays,
        }
    ).select(*COLUMNS)
