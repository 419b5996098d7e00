"""users: one row per cookie user, over all sessions the user ever had."""

from __future__ import annotations

from datetime import datetime

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from windrow.checks import NotNull
from windrow.columns.timestamps import literal
from windrow.model import model, stored
from windrow.packages.web.event_fields import MARKETING, PAGE, REFERRER, strings
from windrow.tables import Columns

_FIRST_PAGE = tuple(f"first_{name}" for name in PAGE)
_LAST_PAGE = tuple(f"last_{name}" for name in PAGE)
_PLACE = ("geo_country", "geo_country_name", "geo_continent", "geo_city", "geo_region_name")
_LANGUAGE = ("br_lang", "br_lang_name")
_OF_FIRST = (*REFERRER, *MARKETING, "mkt_source_platform", "default_channel_group")

COLUMNS: Columns = {
    **strings("user_id", "domain_userid", "network_userid"),
    "start_tstamp": "timestamp",
    "end_tstamp": "timestamp",
    "model_tstamp": "timestamp",
    "page_views": "bigint",
    "sessions": "bigint",
    "engaged_time_in_s": "bigint",
    **strings(*_FIRST_PAGE, *(f"first_{name}" for name in (*_PLACE, *_LANGUAGE))),
    **strings(*_LAST_PAGE, *(f"last_{name}" for name in (*_PLACE, *_LANGUAGE))),
    **strings("referrer", *_OF_FIRST),
    "start_tstamp_date": "date",
}


@model(
    key="domain_userid",
    date="start_tstamp",
    columns=COLUMNS,
    replaces="domain_userid",
    steps=("users_this_run", "users_aggs", "users_lasts", "users_sessions_this_run"),
    checks=(
        NotNull(("start_tstamp", "end_tstamp", "page_views", "sessions", "engaged_time_in_s")),
        NotNull(("network_userid", "first_page_url", "last_page_url"), severity="warn"),
    ),
)
def users(
    sessions_of_users: DataFrame, now: datetime, sessions: DataFrame = stored("sessions")
) -> DataFrame:
    """One row per user: first and last visit, where they came from, and totals over all visits."""
    of_first = ("user_id", "network_userid", *_FIRST_PAGE, "referrer", *_OF_FIRST)
    first = F.struct(*of_first, *_PLACE, *_LANGUAGE)
    last = F.struct(*(f"last_{name}" for name in (*PAGE, *_PLACE, *_LANGUAGE)))
    # Of two sessions that start, or end, at the same time, the one with the greater id counts.
    earliest = F.struct(-F.unix_micros("start_tstamp"), F.col("domain_sessionid"))
    latest = F.struct("end_tstamp", "domain_sessionid")
    totals = sessions_of_users.groupBy("domain_userid").agg(
        F.min("start_tstamp").alias("start_tstamp"),
        F.max("end_tstamp").alias("end_tstamp"),
        F.sum("page_views").alias("page_views"),
        F.count_distinct("domain_sessionid").alias("sessions"),
        F.sum("engaged_time_in_s").alias("engaged_time_in_s"),
        F.max_by(first, earliest).alias("first"),
        F.max_by(last, latest).alias("last"),
    )
    values = {
        "model_tstamp": literal(now),
        **{name: F.col(f"first.{name}") for name in of_first},
        **{f"first_{name}": F.col(f"first.{name}") for name in (*_PLACE, *_LANGUAGE)},
        **{f"last_{name}": F.col(f"last.last_{name}") for name in (*PAGE, *_PLACE, *_LANGUAGE)},
        "start_tstamp_date": F.to_date("start_tstamp"),
    }
    return totals.select(
        *(values.get(name, F.col(name)).cast(kind).alias(name) for name, kind in COLUMNS.items())
    )
