"""The first event of every id, such as a page view's, whichever session it is in."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import Window as W
from pyspark.sql import functions as F

EARLIEST = ("derived_tstamp", "dvce_created_tstamp", "event_id")
"""What makes one event of a session earlier than another; the id settles ties."""


def first_of_each(events: DataFrame, id_column: str, order: Sequence[str] = EARLIEST) -> DataFrame:
    """The earliest event of every id; the last column of `order` settles ties."""
    numbered = events.withColumn(
        "nth", F.row_number().over(W.partitionBy(id_column).orderBy(*order))
    )
    return numbered.where(F.col("nth") == 1).drop("nth")


def not_had_before(
    firsts: DataFrame, nearby: DataFrame, id_column: str, order: Sequence[str] = EARLIEST
) -> DataFrame:
    """Without ids that a session of an earlier run already has, and had first."""
    earlier = nearby.select(id_column, F.struct(*order).alias("stored_first")).alias("e")
    this_first = F.struct(*(F.col(f"v.{name}") for name in order))
    is_same = F.col(f"v.{id_column}") == F.col(f"e.{id_column}")
    had_first = F.col("e.stored_first") < this_first
    return firsts.alias("v").join(earlier, is_same & had_first, how="left_anti")


def with_rows(rows: DataFrame, found: DataFrame, event_id: str, session: str) -> DataFrame:
    """The columns of the events that were found, beside what was found of them.

    The rows lie session by session, and stay where they are: only the found ones are sent there.
    """
    names = {event_id: "found_event", session: "found_session"}
    known = found.withColumnsRenamed(names).hint("shuffle_hash")
    is_same = F.col(event_id).eqNullSafe(F.col("found_event")) & (
        F.col(session) == F.col("found_session")
    )
    return rows.join(known, is_same, how="inner").drop(*names.values())
