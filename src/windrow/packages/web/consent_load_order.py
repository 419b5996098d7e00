"""How the reference finds new consent events: by the time they were loaded. Compat only."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def rows_loaded_since(log: DataFrame, known: DataFrame, progress: str) -> DataFrame:
    """Rows of the log that were loaded after the greatest `progress` in the stored table.

    Nothing stored means no limit. The reference blocks a table that was made while there was
    nothing to put in it for ever; that is not reproduced.
    """
    until = known.agg(F.max(progress).alias("loaded_until"))
    is_new = F.col("loaded_until").isNull() | (F.col("load_tstamp") > F.col("loaded_until"))
    return log.crossJoin(F.broadcast(until)).where(is_new).drop("loaded_until")
