"""A model of your own: how often each screen was seen on each day.

Each function with @model in this folder becomes a table, here `daily_screens`. Its parameters name
what it reads: a model's rows of this run, or its whole stored table. Delete this file if you do
not need it, and the table stays as it is.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from windrow import model, stored


@model(
    key=("screen_date", "screen_view_name"),
    date="screen_date",
    tags=["daily"],
    package="mobile",
)
def daily_screens(
    screen_views: DataFrame, all_screen_views: DataFrame = stored("screen_views")
) -> DataFrame:
    """One row per day and screen: screen views and devices."""
    # A run brings whole sessions, not whole days: each day it touches is summed up anew.
    days = screen_views.select("derived_tstamp_date").distinct()
    views = all_screen_views.join(days, "derived_tstamp_date", how="left_semi")
    return (
        views.where(F.col("screen_view_name").isNotNull())
        .groupBy(F.col("derived_tstamp_date").alias("screen_date"), "screen_view_name")
        .agg(
            F.count(F.lit(1)).alias("screen_views"),
            F.count_distinct("device_user_id").alias("devices"),
        )
    )
