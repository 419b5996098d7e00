"""A model of your own: how often each screen was seen on each day.

Each function with @model in this folder becomes a table, here `daily_screens`. Its parameters name
what it reads. Delete this file if you do not need it, and the table stays as it is.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from windrow import model


# A run brings whole sessions, not whole days. So each day and screen that it touches is made anew,
# from all stored screen views of that day and screen; `per` says where the key comes from.
@model(
    key=("screen_date", "screen_view_name"),
    date="screen_date",
    per={"screen_date": "derived_tstamp_date"},
    tags=["daily"],
    package="mobile",
)
def daily_screens(screen_views: DataFrame) -> DataFrame:
    """One row per day and screen: screen views and devices."""
    return (
        screen_views.where(F.col("screen_view_name").isNotNull())
        .groupBy(F.col("derived_tstamp_date").alias("screen_date"), "screen_view_name")
        .agg(
            F.count(F.lit(1)).alias("screen_views"),
            F.count_distinct("device_user_id").alias("devices"),
        )
    )
