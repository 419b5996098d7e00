"""Since when and until when sessions live that a window touches."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame, SparkSession

from literal_rows import literal_rows
from website import at
from windrow.engine.intake.lifecycle import continued, sessions_this_run
from windrow.packages import PACKAGES
from windrow.packages.web.settings import WebSettings
from windrow.state.limits import Limits, State

WEB = PACKAGES["web"].foundation
THREE_DAYS = WebSettings(max_session_days=3)
NEW = "session_id string, session_user string, start_tstamp timestamp, end_tstamp timestamp"


def rows(spark: SparkSession, *sessions: tuple[Any, ...]) -> DataFrame:
    return literal_rows(
        spark, [(id, user, at(first), at(last)) for id, user, first, last in sessions], NEW
    )


def stored(spark: SparkSession, *sessions: tuple[Any, ...]) -> DataFrame:
    return rows(spark, *sessions).selectExpr("*", "to_date(start_tstamp) as start_tstamp_date")


def lives(found: DataFrame) -> list[tuple[Any, ...]]:
    columns = ("session_id", "session_user", "start_tstamp", "end_tstamp")
    told = found.selectExpr(*columns[:2], *(f"date_format({it}, 'dd HH:mm')" for it in columns[2:]))
    return sorted(tuple(row) for row in told.collect())


def test_a_session_goes_on_from_what_is_stored_up_to_its_cap(spark: SparkSession):
    new = rows(
        spark,
        ("begins", "u1", "2024-01-05 10:00", "2024-01-05 11:00"),
        ("goes on", "u2", "2024-01-05 10:00", "2024-01-05 11:00"),
        ("was earlier", "u3", "2024-01-05 10:00", "2024-01-05 10:30"),
        ("is capped", "u4", "2024-01-05 10:00", "2024-01-05 11:00"),
        ("is at its cap", "u5", "2024-01-05 10:00", "2024-01-05 11:00"),
        ("is capped at once", "u6", "2024-01-01 10:00", "2024-01-05 11:00"),
    )
    known = stored(
        spark,
        ("goes on", "u1", "2024-01-04 09:00", "2024-01-04 10:00"),
        ("was earlier", None, "2024-01-05 10:10", "2024-01-05 12:00"),
        ("is capped", "u4", "2024-01-01 09:00", "2024-01-02 10:00"),
        ("is at its cap", "u5", "2024-01-01 09:00", "2024-01-04 09:00"),
        ("is another", "u9", "2024-01-05 09:00", "2024-01-05 09:10"),
    )
    assert lives(continued(new, known, WEB, THREE_DAYS)) == [
        ("begins", "u1", "05 10:00", "05 11:00"),
        ("goes on", "u1", "04 09:00", "05 11:00"),
        ("is capped", "u4", "01 09:00", "04 09:00"),
        ("is capped at once", "u6", "01 10:00", "04 10:00"),
        ("was earlier", "u3", "05 10:00", "05 12:00"),
    ]


def test_sessions_of_a_run_are_those_that_live_in_its_window_and_end_with_it(spark: SparkSession):
    found = stored(spark, ("has new events", "u1", "2024-01-05 10:00", "2024-01-05 11:00"))
    known = stored(
        spark,
        ("has new events", "u1", "2024-01-05 09:00", "2024-01-05 09:10"),
        ("reaches in", "u2", "2024-01-04 23:00", "2024-01-05 00:00"),
        ("ended before", "u3", "2024-01-04 22:00", "2024-01-04 23:59"),
        ("goes beyond", "u4", "2024-01-05 12:00", "2024-01-06 12:00"),
        ("begins after", "u5", "2024-01-06 00:01", "2024-01-06 00:02"),
        ("began too long ago", "u6", "2024-01-01 23:59", "2024-01-05 12:00"),
    )
    window = (at("2024-01-05 00:00"), at("2024-01-06 00:00"))
    limits = Limits(State.STANDARD, *window, None, window[1])
    assert lives(sessions_this_run(found, known, limits, THREE_DAYS)) == [
        ("goes beyond", "u4", "05 12:00", "06 00:00"),
        ("has new events", "u1", "05 10:00", "05 11:00"),
        ("reaches in", "u2", "04 23:00", "05 00:00"),
    ]
