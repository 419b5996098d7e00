"""retention: how many of the plays of a media item were still going on, percent by percent."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from windrow.columns.rules import column
from windrow.models.checks import Expression
from windrow.models.model import model, stored
from windrow.packages.media_player.interactions import MEDIA
from windrow.packages.media_player.media_stats import totals_to_tell
from windrow.packages.media_player.media_totals import number_of, totals
from windrow.packages.media_player.settings import MediaPlayerSettings
from windrow.tables import Columns

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

CHECKS = (Expression("plays_watching <= plays_reaching AND plays_reaching <= plays"),)


@model(key=("media_id", "percent_progress"), columns=COLUMNS, checks=CHECKS)
def retention(
    media_totals: DataFrame,
    settings: MediaPlayerSettings,
    all_totals: DataFrame = stored("media_totals"),
    going_on: DataFrame | None = stored("retention", in_step_with="media_totals"),
) -> DataFrame:
    """One row per media item and percent: the plays that were still watching there.

    Like media_stats, the rows of the media that the run touched are made anew from their totals.
    """
    return _curves(totals_to_tell(media_totals, all_totals, going_on), settings)


@model(name="retention", key=("media_id", "percent_progress"), columns=COLUMNS, checks=CHECKS)
def retention_with_reference(
    settings: MediaPlayerSettings, plays: DataFrame = stored("base")
) -> DataFrame:
    """One row per media item and percent: the plays that were still watching there.

    The SQL package has no such table, nor totals to make it of: it is made of all plays.
    """
    return _curves(totals(plays), settings)


def _curves(totals: DataFrame, settings: MediaPlayerSettings) -> DataFrame:
    percents = (0, *(percent for percent in settings.boundaries if percent > 0))
    points = totals.withColumn(
        "percent_progress", F.explode(F.array(*(F.lit(it) for it in percents)))
    )
    percent, plays = F.col("percent_progress"), F.col("plays")

    def plays_to(counts: str) -> Column:
        came = number_of(counts, lambda furthest: furthest >= percent)
        return F.when(percent == 0, plays).otherwise(came)

    curves = points.withColumns(
        {"plays_watching": plays_to("watched"), "plays_reaching": plays_to("reached")}
    )
    some_plays = F.nullif(plays, F.lit(0))
    rates = {
        "retention_rate": F.col("plays_watching") / some_plays,
        "reach_rate": F.col("plays_reaching") / some_plays,
    }
    return curves.withColumns(rates).select(*COLUMNS)
