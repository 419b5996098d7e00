"""Averages over plays that are the same in whatever order these come."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F


def exact_average(value: Column, is_counted: Column) -> Column:
    """The average over the rows that count, the same in whatever order rows come."""
    return F.avg(F.when(is_counted, value.try_cast("decimal(30,12)"))).cast("double")


def share_played() -> Column:
    """Play time as a share of the duration; null where that is unknown."""
    return F.when(F.col("duration") > 0, F.col("play_time_sec") / F.col("duration"))
