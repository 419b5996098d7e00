"""media_durations: how long each media item lasts, as far as anybody has told."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from windrow.columns.rules import column
from windrow.models.model import STATE, model, stored
from windrow.packages.media_player.carrying_on import carried, is_as_great, taken_away
from windrow.packages.media_player.interactions import MEDIA
from windrow.tables import Columns
from windrow.tables.frames import few, measured

COLUMNS: Columns = {
    "media_id": MEDIA["media_id"],
    "duration": column("double", "Greatest duration in whole seconds that any event told."),
}


@model(key="media_id", columns=COLUMNS, storage=STATE)
def media_durations(
    play_parts: DataFrame,
    sessions_this_run: DataFrame,
    most_events: int,
    before: DataFrame = stored("play_parts", before_this_run=True, near=True),
    all_parts: DataFrame = stored("play_parts"),
    going_on: DataFrame | None = stored("media_durations", in_step_with="play_parts"),
) -> DataFrame:
    """One row per media item: the greatest duration that any of its events told."""
    if going_on is None:
        every = all_parts.select(*COLUMNS).unionByName(play_parts.select(*COLUMNS))
        return _durations(every)

    former = taken_away(before, play_parts, sessions_this_run, most_events)
    old = _durations(former).withColumnRenamed("duration", "old_duration")
    new = _durations(play_parts).withColumnRenamed("duration", "new_duration")
    changed = old.join(new, "media_id", how="full")
    known = going_on.join(few(changed.select("media_id"), most_events), "media_id", how="left_semi")
    longest = carried(F.col("duration"), F.col("old_duration"), F.col("new_duration"), is_as_great)
    after = changed.join(known, "media_id", how="left").select(
        "media_id", longest.value.alias("duration"), longest.is_unsure.alias("is_unsure")
    )
    after, found = measured(after, {"unsure": F.count_if("is_unsure")})
    sure = after.where(~F.col("is_unsure")).select(*COLUMNS)
    if not found["unsure"]:
        return sure
    unsure = after.where("is_unsure").select("media_id")
    anew = _durations(all_parts.join(few(unsure, most_events), "media_id", how="left_semi"))
    return sure.unionByName(unsure.join(anew, "media_id", how="left").select(*COLUMNS))


def _durations(parts: DataFrame) -> DataFrame:
    return (
        parts.where(F.col("media_id").isNotNull())
        .groupBy("media_id")
        .agg(F.max("duration").alias("duration"))
    )
