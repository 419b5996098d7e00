"""A model of your own: how often each page was seen on each day.

Each function with @model in this folder becomes a table, here `daily_pages`. Its parameters name
what it reads. Delete this file if you do not need it, and the table stays as it is.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from windrow import model


# A run brings whole sessions, not whole days. So each day and page that it touches is made anew,
# from all stored page views of that day and page; `per` says where the key comes from.
@model(
    key=("page_date", "page_urlpath"),
    date="page_date",
    per={"page_date": "start_tstamp_date"},
    tags=["daily"],
    package="web",
)
def daily_pages(page_views: DataFrame) -> DataFrame:
    """One row per day and page: page views, visitors and engaged time."""
    return (
        page_views.where(F.col("page_urlpath").isNotNull())
        .groupBy(F.col("start_tstamp_date").alias("page_date"), "page_urlpath")
        .agg(
            F.count(F.lit(1)).alias("page_views"),
            F.count_distinct("domain_userid").alias("visitors"),
            F.sum("engaged_time_in_s").alias("engaged_time_in_s"),
        )
    )
