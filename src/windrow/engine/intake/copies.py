"""Each event once: copies of it go, in its own session and in others."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import Window as W
from pyspark.sql import functions as F

from windrow.config import PackageSettings
from windrow.models.foundation import Foundation

NTH_COPY = "windrow_nth_copy"
_WITHOUT_ORDER = ("map", "variant")


def first_copies(events: DataFrame, within: Sequence[str], time: str) -> DataFrame:
    """Of the copies of an event, the first by `time`, then the one enriched first.

    Copies are looked for among rows that agree in `within`, by which the rows are spread too: all
    that follows works session by session, so this is the one wide shuffle of a run. A run that is
    small enough for one partition needs none at all. The rows come with NTH_COPY: from what is kept
    of them, nobody has to read it; to take it out, each row would be written anew.
    """
    spread = in_one_partition(events) if _is_small(events) else events.repartition(*within)
    # Any order will do that depends on nothing but the rows. Their columns are compared only where
    # all before them are the same; a hash of them would be computed for every row.
    others = [name for name, kind in events.dtypes if not kind.startswith(_WITHOUT_ORDER)]
    same_event = W.partitionBy(*dict.fromkeys((*within, "event_id")))
    order = same_event.orderBy(*dict.fromkeys((time, "etl_tstamp", *others)))
    # Nothing else is asked of the copies: so Spark lets only the first of them into the window.
    numbered = spread.withColumn(NTH_COPY, F.row_number().over(order))
    return numbered.where(F.col(NTH_COPY) == 1)


def in_one_partition(rows: DataFrame) -> DataFrame:
    """The rows where nothing has to be sent about, if the run is small enough for that."""
    return rows.coalesce(1) if _is_small(rows) else rows


def _is_small(rows: DataFrame) -> bool:
    return rows.sparkSession.conf.get("spark.sql.shuffle.partitions") == "1"


def has_any(ids: DataFrame, events: DataFrame) -> bool:
    """Whether one of these ids is that of one of the events."""
    same = in_one_partition(ids).join(events.select("event_id"), "event_id", how="left_semi")
    return not same.isEmpty()


def ids_in_several_sessions(
    events: DataFrame, foundation: Foundation, beside: DataFrame | None = None
) -> DataFrame:
    """Event id of events that another session has too: of nearly none, and the look is narrow.

    `beside`: ids and sessions of further events that may be copies of these. Sessions are told
    apart by a number each, as the least and the greatest of those are found without sorting.
    """
    ids = events.select("event_id", foundation.session).withColumn("is_meant", F.lit(True))
    if beside is not None:
        ids = in_one_partition(ids.unionByName(beside.withColumn("is_meant", F.lit(False))))
    session = F.xxhash64(foundation.session)
    found = ids.groupBy("event_id").agg(
        F.min(session).alias("least"),
        F.max(session).alias("greatest"),
        F.max("is_meant").alias("is_meant"),
    )
    return found.where("is_meant and least != greatest").select("event_id")


def copies_in_other_sessions(
    events: DataFrame, foundation: Foundation, settings: PackageSettings
) -> DataFrame:
    """Event id and session of events whose first copy lies in another session of the run."""
    session = F.col(foundation.session).alias("session")
    order = F.struct(settings.session_timestamp, "etl_tstamp", session)
    sessions_of_event = events.groupBy("event_id").agg(
        F.collect_list(order).alias("copies"), F.min(order).alias("first")
    )
    repeated = sessions_of_event.where(F.size("copies") > 1)
    return (
        repeated.select("event_id", "first", F.explode("copies").alias("copy"))
        .where(F.col("copy.session") != F.col("first.session"))
        .select("event_id", F.col("copy.session").alias(foundation.session))
    )
