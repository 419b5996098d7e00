"""plays_by_pageview: the rows of base that were played."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from windrow.models.model import Storage, model, stored
from windrow.packages.media_player.base import COLUMNS, amend_durations


@model(
    key="play_id",
    date="start_tstamp",
    columns=COLUMNS,
    replaces="domain_sessionid",
    storage=Storage(amend=amend_durations("plays_by_pageview")),
)
def plays_by_pageview(base: DataFrame) -> DataFrame:
    """One row per play: the rows of base whose playback began."""
    return base.where(F.col("is_played"))


@model(name="plays_by_pageview", kind="rebuilt", key="play_id", columns=COLUMNS)
def reference_plays_by_pageview(base: DataFrame = stored("base")) -> DataFrame:
    """One row per play: the rows of base whose playback began."""
    return base.where(F.col("is_played"))
