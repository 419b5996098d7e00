"""plays_by_pageview: the rows of base that were played."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from windrow.models.model import model, stored
from windrow.packages.media_player.base import COLUMNS, new_durations
from windrow.packages.media_player.settings import MediaPlayerSettings


@model(kind="this_run")
def plays_with_new_durations(
    base: DataFrame,
    settings: MediaPlayerSettings,
    stored_plays: DataFrame = stored("plays_by_pageview"),
) -> DataFrame:
    """One row per stored play whose media turn out to last longer, or shorter, than it says."""
    return new_durations(base, stored_plays, settings)


@model(
    key="play_id",
    date="start_tstamp",
    columns=COLUMNS,
    replaces="domain_sessionid",
    amend=plays_with_new_durations,
)
def plays_by_pageview(base: DataFrame) -> DataFrame:
    """One row per play: the rows of base whose playback began."""
    return base.where(F.col("is_played"))


@model(name="plays_by_pageview", kind="rebuilt", key="play_id", columns=COLUMNS)
def reference_plays_by_pageview(base: DataFrame = stored("base")) -> DataFrame:
    """One row per play: the rows of base whose playback began."""
    return base.where(F.col("is_played"))
