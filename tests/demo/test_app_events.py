"""Synthetic events of an app: their entities, their hard cases, and the website's beside them."""

from __future__ import annotations

from datetime import date

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from windrow.atomic.columns import STANDARD_COLUMNS
from windrow.atomic.entity_columns import (
    APPLICATION_ERROR,
    CLIENT_SESSION,
    ENTITY_COLUMNS,
    SCREEN_VIEW,
    WEB_PAGE,
)
from windrow.demo.events import GenerateOptions, generate
from windrow.errors import UsageError

# Days of traffic take their time to be made.
pytestmark = pytest.mark.ci

OPTIONS = GenerateOptions(
    start=date(2024, 3, 1), days=3, events_per_day=600, hard_cases=True, platforms=("mob", "web")
)


def test_an_app_sends_what_phones_send_beside_the_website(spark: SparkSession) -> None:
    events = generate(spark, OPTIONS)
    entities = {column.name: column.type for column in ENTITY_COLUMNS}
    assert events.dtypes == list((STANDARD_COLUMNS | entities).items())

    session = F.get(F.col(CLIENT_SESSION.name), F.lit(0))
    is_view = F.col("event_name") == "screen_view"
    has_view, has_error = F.col(SCREEN_VIEW.name), F.col(APPLICATION_ERROR.name)
    is_hidden = session["user_id"] == "00000000-0000-0000-0000-000000000000"
    wrong = {
        "a website's id": F.col("domain_sessionid").isNotNull() | F.col(WEB_PAGE.name).isNotNull(),
        "a view that is none": is_view != has_view.isNotNull(),
        "an error that is none": (F.col("event_name") == "application_error")
        != has_error.isNotNull(),
        "a session without device": session["session_id"].isNotNull() & session["user_id"].isNull(),
        "a session without number": session["session_id"].isNotNull()
        & session["session_index"].isNull(),
    }
    there = {
        "no session": session["session_id"].isNull(),
        "no screen view id": is_view & has_view["id"].isNull(),
        "hidden device": is_hidden,
        "install": F.col("event_name") == "application_install",
        "background": F.col("event_name") == "application_background",
        "fatal error": has_error["is_fatal"],
        "login": F.col("user_id").isNotNull(),
        "earlier session": session["previous_session_id"].isNotNull(),
    }
    counts = events.groupBy("platform").agg(
        F.count(F.lit(1)).alias("events"),
        (F.count(F.lit(1)) - F.count_distinct("event_id")).alias("copies"),
        *(F.count_if(test).alias(name) for name, test in (wrong | there).items()),
    )
    found = {row["platform"]: row.asDict() for row in counts.collect()}
    app = found["mob"]
    assert {name: app[name] for name in wrong} == dict.fromkeys(wrong, 0)
    assert all(app[name] > 0 for name in (*there, "copies"))
    assert app["events"] > 1800
    assert found["web"]["no session"] == found["web"]["events"]


def test_a_platform_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match="expected some of web, mob"):
        GenerateOptions(start=date(2024, 3, 1), days=1, events_per_day=1, platforms=("app",))
