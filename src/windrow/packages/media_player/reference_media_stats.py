"""media_stats as the SQL package makes it, for `compat: true`: new plays added to what is stored.

New are the plays that started after the latest start in the whole table, and whose last event is
`max_media_pv_window` hours ago. A play that started earlier is never counted, and one that was
counted is not corrected. Two things are not as there: an id with two labels has one row, and a
table that is empty is built as if it were missing.
"""

from __future__ import annotations

from datetime import datetime

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from windrow.columns.timestamps import literal
from windrow.models.model import model, stored
from windrow.packages.media_player.media_stats import (
    CHECKS,
    columns_for,
    reached_column,
    with_rates,
)
from windrow.packages.media_player.play_averages import exact_average, share_played
from windrow.packages.media_player.settings import MediaPlayerSettings

_NEVER_YET, _NEVER = "2999-01-01 00:00:00", "2000-01-01 00:00:00"
"""First and last play of media that were never played, once they have been added to."""


@model(name="media_stats", key="media_id", columns=columns_for, checks=CHECKS)
def reference_media_stats(
    settings: MediaPlayerSettings,
    now: datetime,
    plays: DataFrame = stored("base"),
    known: DataFrame = stored("media_stats"),
) -> DataFrame:
    """One row per media item: the stored figures, and those of the new plays added to them."""
    watermark = known.agg(F.max("last_base_tstamp").alias("watermark"))
    window = F.make_dt_interval(hours=F.lit(settings.max_media_pv_window))
    is_over = F.col("end_tstamp") + window < literal(now)
    is_new = F.col("watermark").isNull() | ((F.col("start_tstamp") > F.col("watermark")) & is_over)
    used = plays.crossJoin(F.broadcast(watermark)).where(is_new)

    # With nothing stored there is nothing to add to, and all of it is a first build.
    first = _whole_build(used.where(F.col("watermark").isNull()), settings)
    # In a first build plays of unknown duration have an average share of 0.
    shares = (
        used.where(F.col("is_played"))
        .groupBy("media_id")
        .agg(F.avg(F.coalesce(share_played(), F.lit(0.0))).alias("avg_percent_played"))
    )
    first = first.drop("avg_percent_played").join(shares, "media_id", how="left")
    added = _add_to_stored(used.where(F.col("watermark").isNotNull()), known, settings)
    rows = first.select(*columns_for(settings)).unionByName(added)
    latest = used.agg(F.max("start_tstamp").alias("last_base_tstamp"))
    return rows.drop("last_base_tstamp").crossJoin(F.broadcast(latest))


def _add_to_stored(used: DataFrame, known: DataFrame, settings: MediaPlayerSettings) -> DataFrame:
    """The batch on top of the stored row of the same media."""
    old = known.select(
        "media_id",
        *(F.col(name).alias(f"old_{name}") for name in known.columns if name != "media_id"),
    )
    joined = _figures(used, settings).join(old, "media_id", how="left")

    def sum_of(name: str) -> Column:
        return F.col(name) + F.coalesce(f"old_{name}", F.lit(0))

    counts = (
        *("plays", "valid_plays", "complete_plays", "impressions"),
        *(reached_column(percent) for percent in settings.boundaries),
    )
    batch_plays, old_plays = F.col("plays"), F.coalesce("old_plays", F.lit(0))
    total_plays = F.nullif(batch_plays + old_plays, F.lit(0))

    def weighted_average(name: str) -> Column:
        before = F.coalesce(f"old_{name}", F.lit(0.0)) * old_plays
        return F.col(name) * batch_plays / total_plays + before / total_plays

    minutes = F.col("seconds") / 60 + F.coalesce("old_play_time_min", F.lit(0.0))
    averages = ("avg_percent_played", "avg_retention_rate", "avg_playback_rate")
    far_first, far_last = F.lit(_NEVER_YET).cast("timestamp"), F.lit(_NEVER).cast("timestamp")
    totals = joined.select(
        *("media_id", "media_label", "media_type", "media_player_type", "last_base_tstamp"),
        F.coalesce(F.greatest("duration", "old_duration"), F.lit(0.0)).alias("duration"),
        minutes.alias("play_time_min"),
        (minutes / total_plays).alias("avg_play_time_min"),
        F.coalesce(F.least("first_play", "old_first_play"), far_first).alias("first_play"),
        F.coalesce(F.greatest("last_play", "old_last_play"), far_last).alias("last_play"),
        *(sum_of(name).alias(name) for name in counts),
        *(weighted_average(name).alias(name) for name in averages),
    )
    return with_rates(totals, settings)


def _percent_counts(settings: MediaPlayerSettings) -> dict[str, Column]:
    """How often each boundary was reached, again within one play too."""
    reached = F.split("percent_progress_reached", ",")

    def times(percent: int) -> Column:
        found = F.filter(reached, lambda piece: piece == F.lit(str(percent)))
        return F.coalesce(F.sum(F.when(reached.isNotNull(), F.size(found))), F.lit(0))

    return {reached_column(percent): times(percent) for percent in settings.boundaries}


def _figures(plays: DataFrame, settings: MediaPlayerSettings) -> DataFrame:
    """What rows of base come to, per media: one row for each id whatever its labels are."""
    is_played = F.col("is_played")
    latest = F.struct("start_tstamp", "play_id")
    described = F.struct("media_label", "media_type", "media_player_type")
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
            exact_average(share_played(), is_played).alias("avg_percent_played"),
            exact_average(F.col("retention_rate"), is_played).alias("avg_retention_rate"),
            exact_average(F.col("avg_playback_rate"), is_played).alias("avg_playback_rate"),
            F.max("start_tstamp").alias("last_base_tstamp"),
            *(value.alias(name) for name, value in _percent_counts(settings).items()),
        )
        .select("*", "described.*")
        .drop("described")
    )


def _whole_build(plays: DataFrame, settings: MediaPlayerSettings) -> DataFrame:
    """The rows of media_stats from all rows of base of their media."""
    totals = _figures(plays, settings).withColumns(
        {
            "play_time_min": F.col("seconds") / 60,
            "avg_play_time_min": F.col("seconds_of_plays")
            / F.nullif(F.col("plays"), F.lit(0))
            / 60,
        }
    )
    return with_rates(totals, settings)
