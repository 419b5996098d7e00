"""base as the SQL package makes it, for `compat: true`.

A play whose description changes during the page view, such as the session, keeps its earliest part
and loses the others; its duration is the greatest of the run.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import Window as W
from pyspark.sql import functions as F

from windrow.models.model import Storage, model
from windrow.packages.media_player.base import CHECKS, COLUMNS, greatest, plays
from windrow.packages.media_player.play_parts import DESCRIPTION, event_measures
from windrow.packages.media_player.settings import MediaPlayerSettings

_GROUP = ("play_id", "page_view_id", "media_id", "domain_sessionid", *DESCRIPTION)


@model(
    name="base",
    key="play_id",
    date="start_tstamp",
    columns=COLUMNS,
    storage=Storage(steps=("base_this_run",)),
    checks=CHECKS,
)
def reference_base(interactions_this_run: DataFrame, settings: MediaPlayerSettings) -> DataFrame:
    """One row per media element on a page view: what the first part of it tells."""
    groups = interactions_this_run.groupBy(*_GROUP).agg(
        *(value.alias(name) for name, value in event_measures().items())
    )
    of_play = W.partitionBy("play_id")
    in_order = of_play.orderBy("start_tstamp", "end_tstamp", "domain_sessionid")
    whole = of_play.rowsBetween(W.unboundedPreceding, W.unboundedFollowing)
    first_parts = groups.withColumns(
        {
            "place": F.row_number().over(in_order),
            # Progress counts if it comes before the first seek of any group; one without a seek
            # lets all of it count.
            "lasts": F.max(F.col("first_seek").isNull()).over(whole),
            "last_first_seek": F.max("first_seek").over(whole),
            "all_progress": F.flatten(F.collect_list("progress").over(whole)),
        }
    ).where(F.col("place") == 1)

    durations = (
        interactions_this_run.where(F.col("media_id").isNotNull())
        .groupBy("media_id")
        .agg(F.max("duration").alias("duration"))
    )
    before_seek = F.filter(
        "all_progress",
        lambda report: F.col("lasts") | (report["start_tstamp"] <= F.col("last_first_seek")),
    )
    retained = F.when(
        greatest(before_seek).isNotNull(),
        F.least(greatest(before_seek), greatest(F.col("progress"))),
    )
    return plays(first_parts.join(durations, "media_id", how="left"), retained, settings)
