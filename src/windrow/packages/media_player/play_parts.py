"""play_parts: what each session has of a play. Several have a part where a page view goes on."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from windrow.columns.rules import column
from windrow.models.model import STATE, model, stored
from windrow.models.parts.time_columns import START_DATE
from windrow.packages.media_player.interactions import MEDIA, PLAY_ID
from windrow.packages.web.event_fields import PAGE_VIEW_ID, fields
from windrow.tables import Columns

PLAY = "play"
SEEKS = ("seek", "seeked")
"""YouTube's word and HTML5's."""

VISIT: Columns = fields(
    *("page_referrer", "page_url", "geo_region_name", "br_name", "dvce_type", "os_name"),
    "os_timezone",
)

DESCRIPTION: Columns = {
    **{name: MEDIA[name] for name in ("media_label", "media_type", "media_player_type")},
    **fields("domain_userid"),
    **VISIT,
}
"""What the earliest event says of a play."""

MEASURES: Columns = {
    "start_tstamp": column("timestamp", "Time of the earliest event."),
    "end_tstamp": column("timestamp", "Time of the latest event, not of the end of playback."),
    "source_url": column("string", "URL of what is played; the greatest of several."),
    "plays": column("bigint", "Number of events that say that playback began."),
    "seeks": column("bigint", "Number of seeks."),
    "first_seek": column("timestamp", "Time of the first seek; null if there is none."),
    "play_time_sec": column("bigint", "Seconds of play time, by the boundaries reached."),
    "play_time_sec_muted": column("bigint", "Of these, seconds during which the player was muted."),
    "weighted_rate": column("decimal(30,6)", "Sum of playback rate times play time."),
    "greatest_rate": column("double", "Greatest playback rate."),
    "progress": column(
        "array<struct<start_tstamp:timestamp,percent_progress:int>>",
        "When which percent was reported.",
    ),
}
"""What adds up over events and over parts."""

COLUMNS: Columns = {
    **PLAY_ID,
    **fields("domain_sessionid"),
    **PAGE_VIEW_ID,
    "media_id": MEDIA["media_id"],
    "first_event_id": column("string", "Id of the earliest event."),
    **DESCRIPTION,
    "duration": column("double", "Greatest duration in whole seconds that an event knows."),
    **MEASURES,
    **START_DATE,
}


@model(
    key=("play_id", "domain_sessionid"),
    date="start_tstamp",
    columns=COLUMNS,
    replaces="domain_sessionid",
    storage=STATE,
)
def play_parts(
    interactions_this_run: DataFrame,
    nearby: DataFrame,
    former: DataFrame = stored("play_parts", before_this_run=True, of_sessions=True),
) -> DataFrame:
    """One row per play and session: what the session's events tell of the play.

    Of every play that the run's sessions have, or had, a part in, the rows of other sessions come
    along unchanged, so that what is made of these rows is made of the whole play.
    """
    is_known = F.col("media_id").isNotNull() & F.col("page_view_id").isNotNull()
    in_order = F.struct("start_tstamp", "event_id")
    parts = (
        interactions_this_run.where(is_known)
        .groupBy("play_id", "domain_sessionid", "page_view_id", "media_id")
        .agg(
            F.min_by(F.struct("event_id", *DESCRIPTION), in_order).alias("first"),
            F.max("duration").alias("duration"),
            *(value.alias(name) for name, value in event_measures().items()),
        )
    )
    rows = parts.select(
        "*",
        F.col("first.event_id").alias("first_event_id"),
        *(F.col(f"first.{name}").alias(name) for name in DESCRIPTION),
        F.to_date("start_tstamp").alias("start_tstamp_date"),
    ).select(*COLUMNS)

    touched = rows.select("play_id").union(former.select("play_id")).distinct()
    of_other_sessions = nearby.join(touched, "play_id", how="left_semi").select(*COLUMNS)
    return rows.unionByName(of_other_sessions)


def event_measures() -> dict[str, Column]:
    """The measures of a group of interactions."""
    event_type = F.col("event_type")
    is_seek = event_type.isin(*SEEKS)
    # Of decimals a sum does not depend on the order in which rows come.
    rate = F.col("playback_rate").try_cast("decimal(12,6)")
    reported = F.when(
        F.col("percent_progress").isNotNull(), F.struct("start_tstamp", "percent_progress")
    )
    return {
        "start_tstamp": F.min("start_tstamp"),
        "end_tstamp": F.max("start_tstamp"),
        "source_url": F.max("source_url"),
        "plays": F.count_if(event_type == PLAY),
        "seeks": F.count_if(is_seek),
        "first_seek": F.min(F.when(is_seek, F.col("start_tstamp"))),
        "play_time_sec": F.sum("play_time_sec"),
        "play_time_sec_muted": F.sum("play_time_sec_muted"),
        "weighted_rate": F.sum(rate * F.col("play_time_sec")),
        "greatest_rate": F.max("playback_rate"),
        "progress": F.array_sort(F.collect_list(reported)),
    }


def part_measures() -> dict[str, Column]:
    """The measures of a group of parts."""
    totals = ("plays", "seeks", "play_time_sec", "play_time_sec_muted", "weighted_rate")
    return {
        "start_tstamp": F.min("start_tstamp"),
        "end_tstamp": F.max("end_tstamp"),
        "source_url": F.max("source_url"),
        **{name: F.sum(name) for name in totals},
        "first_seek": F.min("first_seek"),
        "greatest_rate": F.max("greatest_rate"),
        "progress": F.array_sort(F.flatten(F.collect_list("progress"))),
    }
