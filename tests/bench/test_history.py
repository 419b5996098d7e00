"""Histories of different lengths: their events, and the tables of what runs cost after them."""

from __future__ import annotations

from datetime import date

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from bench.figures import Figures
from bench.history_table import Measured, by_table, totals
from bench.long_events import long_events

# Days of traffic take their time to be made.
pytestmark = pytest.mark.ci

SHORT = Measured(10, Figures(2.0, 4.0, 0, 3e6, 12, 5, 6, 7, 8, 9.9e6, 10), {}, {"users": (1, 2000)})
LONG = Measured(
    1000,
    Figures(3.0, 5.0, 0, 6e6, 24, 5, 6, 7, 8, 9.9e6, 30),
    {"users": (3, 4000)},
    {"users": (2, 2400), "sessions": (1, 600)},
)


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_totals_have_how_many_times_the_shortest_history_they_are():
    short, long = (cells(line) for line in totals([SHORT, LONG]).splitlines()[2:])
    assert short[:5] == ["10 days", "9.9 (1.00)", "10 (1.00)", "3.0 (1.00)", "12 (1.00)"]
    assert short[5:] == ["5", "7", "4.0 (1.00)", "2.0"]
    assert long[:5] == ["1000 days", "9.9 (1.00)", "30 (3.00)", "6.0 (2.00)", "24 (2.00)"]
    assert long[5:] == ["5", "7", "5.0 (1.25)", "3.0"]


def test_tables_that_a_run_does_not_touch_have_no_figures():
    head, _, sessions, users = map(cells, by_table([SHORT, LONG]).splitlines())
    assert len(head) == len(sessions) == len(users) == 5
    assert sessions == ["sessions", "", "1, 1", "", ""]
    assert users == ["users", "1, 2", "2, 2", "", "3, 4"]


def test_people_and_sessions_come_back_after_a_month(spark: SparkSession):
    asked = {"days": 45, "events_per_day": 300, "package": "web", "resumed_share": 0.1}
    events = long_events(spark, start=date(2024, 1, 1), **asked).select(
        "domain_userid", "domain_sessionid", "derived_tstamp", "event_id"
    )
    events = events.localCheckpoint()
    days = events.groupBy(F.to_date("derived_tstamp").alias("day")).count()
    assert days.where("count >= 290").count() >= 44
    for who in ("domain_userid", "domain_sessionid"):
        lives = events.groupBy(who).agg(
            F.datediff(F.max("derived_tstamp"), F.min("derived_tstamp")).alias("days")
        )
        assert lives.where("days >= 30").count() > 0, who
    assert events.select("event_id").distinct().count() == events.count()
