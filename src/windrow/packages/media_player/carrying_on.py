"""What is known of a media item, carried on by the rows that a run takes away and those it brings.

Numbers are added and subtracted. Of a least and a greatest value that does not do: where the row is
taken away that had it, nobody knows the next one, and that media item alone is made of all rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from windrow.tables.frames import few


@dataclass(frozen=True)
class Carried:
    """A value as it is after the run."""

    value: Column
    is_unsure: Column
    """True where the value went with a row that was taken away."""


def carried(
    known: Column, old: Column, new: Column, is_beyond: Callable[[Column, Column], Column]
) -> Carried:
    """An extreme value of all rows: as it was, of those taken away, and of those brought.

    `is_beyond`: whether a value is as far out as another, or further.
    """
    takes_new = known.isNull() | F.coalesce(is_beyond(new, known), F.lit(False))
    is_gone = F.coalesce(is_beyond(old, known), F.lit(False))
    return Carried(F.when(takes_new, new).otherwise(known), is_gone & ~takes_new)


def is_as_great(value: Column, than: Column) -> Column:
    """For `carried`: the greatest value counts."""
    return value >= than


def is_as_little(value: Column, than: Column) -> Column:
    """For `carried`: the least value counts."""
    return value <= than


def taken_away(before: DataFrame, rows: DataFrame, sessions: DataFrame, number: int) -> DataFrame:
    """The stored rows in whose place the run's come: those of its plays, and those of its sessions.

    `before`: those near the run's days, as they were. `number`: the most plays there can be.
    """
    plays = rows.select("play_id").distinct().withColumn("is_brought", F.lit(True))
    of_run = sessions.select(
        F.col("session_id").alias("domain_sessionid"), F.lit(True).alias("is_of_run")
    )
    marked = before.join(few(plays, number), "play_id", how="left").join(
        few(of_run, number), "domain_sessionid", how="left"
    )
    return marked.where("is_brought or is_of_run").drop("is_brought", "is_of_run")
