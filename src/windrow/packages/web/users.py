"""users: one row per cookie user, over all sessions the user ever had."""

from __future__ import annotations

from datetime import datetime

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from windrow.columns.rules import column, with_note
from windrow.columns.timestamps import literal
from windrow.models.checks import NotNull
from windrow.models.model import Storage, model
from windrow.models.parts.declared_columns import select_declared
from windrow.models.parts.time_columns import MODEL_TSTAMP, START_DATE
from windrow.models.parts.users import STEPS, Summary, Visits, reads_sessions
from windrow.packages.web.event_fields import CAME_FROM, COUNTRY_NAMES, LANGUAGE_NAME, PAGE, fields
from windrow.tables import Columns

_FIRST_PAGE = tuple(f"first_{name}" for name in PAGE)
_PLACE = ("geo_country", "geo_country_name", "geo_continent", "geo_city", "geo_region_name")
_LANGUAGE = ("br_lang", "br_lang_name")
_FROM_FIRST = "from the first page view or ping of the user's first session"
_FROM_LAST = "from the last page of the user's last session"

_VISITED: Columns = {
    **fields(*PAGE, "geo_country"),
    **COUNTRY_NAMES,
    **fields("geo_city", "geo_region_name", "br_lang"),
    **LANGUAGE_NAME,
}
"""What is known of the first visit and of the last."""

COLUMNS: Columns = {
    **with_note(fields("user_id"), _FROM_FIRST),
    "domain_userid": column("string", "Id of the user in the site's own cookie."),
    **with_note(fields("network_userid"), _FROM_FIRST),
    "start_tstamp": column("timestamp", "Start of the user's first session."),
    "end_tstamp": column("timestamp", "End of the user's last session."),
    **MODEL_TSTAMP,
    "page_views": column("bigint", "Sum of `page_views` over all the user's sessions."),
    "sessions": column("bigint", "Number of the user's sessions."),
    "engaged_time_in_s": column("bigint", "Engaged seconds of all the user's sessions together."),
    **with_note(_VISITED, _FROM_FIRST, prefix="first_"),
    **with_note(_VISITED, _FROM_LAST, prefix="last_"),
    **with_note(CAME_FROM, _FROM_FIRST),
    **START_DATE,
}


_SUMMARY = Summary(
    user="domain_userid",
    session="domain_sessionid",
    of_first={
        **{name: name for name in ("user_id", "network_userid", *_FIRST_PAGE, *CAME_FROM)},
        **{f"first_{name}": name for name in (*_PLACE, *_LANGUAGE)},
    },
    of_last={name: name for name in (f"last_{it}" for it in (*PAGE, *_PLACE, *_LANGUAGE))},
    totals={name: name for name in ("page_views", "engaged_time_in_s")},
)


@model(
    key="domain_userid",
    date="start_tstamp",
    columns=COLUMNS,
    replaces="domain_userid",
    reads=reads_sessions(user="domain_userid", session="domain_sessionid"),
    storage=Storage(steps=STEPS),
    checks=(
        NotNull(("start_tstamp", "end_tstamp", "page_views", "sessions", "engaged_time_in_s")),
        NotNull(("network_userid", "first_page_url", "last_page_url"), severity="warn"),
    ),
)
def users(visits: Visits, now: datetime) -> DataFrame:
    """One row per cookie user: first and last visit, origin, and totals over all visits."""
    values = {"model_tstamp": literal(now), "start_tstamp_date": F.to_date("start_tstamp")}
    return select_declared(_SUMMARY.of_users(visits), COLUMNS, values)
