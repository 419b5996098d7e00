"""A sessions table in place of ours: the same rows, and whether the visit was a long one.

`sessions` is disabled in windrow.yml, so that it is computed for this model but not stored.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from windrow import model


@model(key="domain_sessionid", date="start_tstamp", replaces="domain_sessionid", tags=["shop"])
def shop_sessions(sessions: DataFrame) -> DataFrame:
    """One row per session: windrow's columns, and one of the shop's."""
    return sessions.withColumn("is_long", F.col("absolute_time_in_s") > 300)
