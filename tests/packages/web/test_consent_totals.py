"""consent_totals: users of a version by their last answer."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from windrow.packages.web.consent_totals import COLUMNS, consent_totals
from windrow.packages.web.consent_users import COLUMNS as USERS
from windrow.packages.web.consent_versions import COLUMNS as VERSIONS
from windrow.tables.frames import frame_of

NOW = datetime(2024, 3, 1, 15, 30, tzinfo=UTC)


def totals(spark: SparkSession, *users: dict[str, Any], now: datetime = NOW) -> DataFrame:
    versions = frame_of(
        spark, [["1", "2024-01-01 00:00:00", "all", "url", "a", True, None]], VERSIONS
    )
    rows = [
        [({"last_consent_version": "1", "domain_userid": f"u{n}"} | user).get(c) for c in USERS]
        for n, user in enumerate(users)
    ]
    return consent_totals(now, versions, frame_of(spark, rows, USERS))


def test_users_are_counted_by_their_last_answer(spark: SparkSession) -> None:
    types = ("allow_all", "allow_all", "allow_selected", "pending", "deny_all", "expired")
    answers = [{"last_consent_event_type": type_} for type_ in (*types, "withdrawn")]
    others: list[dict[str, Any]] = [
        {"last_consent_event_type": "implicit_consent"},
        {"last_consent_event_type": None},
        {"last_consent_event_type": "allow_all", "last_consent_version": "2"},
    ]
    row = totals(spark, *answers, *others).collect()[0]
    assert {name: row[name] for name in list(COLUMNS)[7:]} == {
        "total_visitors": 8,
        "allow_all": 2,
        "allow_selected": 1,
        "allow": 3,
        "pending": 1,
        "denied": 1,
        "expired": 1,
        "withdrawn": 1,
        "implicit_consent": 1,
        "expires_in_six_months": 0,
    }


def test_a_version_that_nobody_answered_has_null_counts(spark: SparkSession) -> None:
    frame = totals(spark)
    row = frame.collect()[0]
    assert dict(frame.dtypes) == COLUMNS
    assert (row["consent_version"], row["is_latest_version"]) == ("1", True)
    assert {row[name] for name in list(COLUMNS)[7:]} == {None}


@pytest.mark.parametrize(
    ("answered", "type_", "counted"),
    [
        ("2023-03-01 00:00:00", "allow_all", 0),
        ("2023-03-01 00:00:01", "allow_all", 1),
        ("2023-09-01 00:00:00", "deny_all", 1),
        ("2023-09-01 00:00:01", "allow_all", 0),
        ("2023-06-01 00:00:00", "expired", 0),
        ("2023-06-01 00:00:00", "pending", 1),
    ],
)
def test_consent_ends_after_a_year(
    spark: SparkSession, answered: str, type_: str, counted: int
) -> None:
    user = {"last_consent_event_tstamp": answered, "last_consent_event_type": type_}
    assert totals(spark, user).collect()[0]["expires_in_six_months"] == counted
