"""How many different values a group has."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F


def count_different(value: Column) -> Column:
    """The number of different values of a small group, nulls not counted.

    Several such sets need no second shuffle, as several count(distinct) would.
    """
    return F.size(F.collect_set(value)).cast("bigint")
