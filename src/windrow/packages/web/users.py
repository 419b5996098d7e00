"""users: one row per cookie user, over all sessions the user ever had."""

from __future__ import annotations

from datetime import datetime

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from windrow.columns.timestamps import literal
from windrow.extras import Extras
from windrow.model import model, stored
from windrow.packages.web.event_fields import MARKETING, PAGE, REFERRER, strings
from windrow.parts.users import over_sessions
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
    extras=Extras(
        "sessions_of_users", by=("domain_userid",), first=("start_tstamp", "domain_sessionid")
    ),
    steps=("users_this_run", "users_aggs", "users_lasts", "users_sessions_this_run"),
)
def users(
    sessions_of_users: DataFrame, now: datetime, sessions: DataFrame = stored("sessions")
) -> DataFrame:
    """One row per user: first and last visit, where they came from, and totals over all visits."""
    of_first = ("user_id", "network_userid", *_FIRST_PAGE, "referrer", *_OF_FIRST)
    totals = over_sessions(
        sessions_of_users,
        user="domain_userid",
        session="domain_sessionid",
        of_first=(*of_first, *_PLACE, *_LANGUAGE),
        of_last=tuple(f"last_{name}" for name in (*PAGE, *_PLACE, *_LANGUAGE)),
        totals={name: F.sum(name) for name in ("page_views", "engaged_time_in_s")},
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
