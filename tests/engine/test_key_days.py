"""Where a table's keys lie: on old days that are written down, and on all that are not yet."""

from __future__ import annotations

from datetime import date

import pytest
from pyspark.sql import SparkSession

from literal_rows import literal_rows
from website import Site, at
from windrow.engine.key_days import RECENT_DAYS, Brought, KeyDays, keyed_sessions
from windrow.engine.workspace import Workspace
from windrow.tables.days import DayRange

DAYS = DayRange(date(2024, 1, 1), date(2024, 1, 20)).days()
"""A session begins on each."""


@pytest.fixture(scope="module")
def ws(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    made = Site(spark, tmp_path_factory.mktemp("keys")).workspace
    made.prepare_manifests()
    sessions = [(f"s{day.day}", "u", at(f"{day} 10:00"), at(f"{day} 11:00"), day) for day in DAYS]
    columns = ", ".join(f"{name} {kind}" for name, kind in made.foundation.lifecycle.items())
    made.tables.append(made.lifecycle, literal_rows(spark, sessions, columns))
    return made


@pytest.fixture(scope="module")
def noted(ws: Workspace) -> dict[str, date]:
    """Up to which days it is written down where sessions lie."""
    nothing = Brought(ws.tables.read(ws.lifecycle).limit(0), 0, ())
    return KeyDays(ws, {}).brought_up_to(DAYS[-1], {keyed_sessions(ws): nothing})


def days_of(ws: Workspace, noted: dict[str, date], *sessions: str) -> set[date]:
    """The days of January on which these sessions may lie."""
    keys = literal_rows(ws.spark, [(id,) for id in sessions], "session_id string")
    found = KeyDays(ws, noted).days_of(
        keyed_sessions(ws), keys, ["session_id"], at_most=len(sessions)
    )
    return {day for day in DAYS if any(it.first <= day <= it.last for it in found)}


def test_no_day_is_left_out_between_those_written_down_and_those_looked_through(
    ws: Workspace, noted: dict[str, date]
):
    assert days_of(ws, noted, *(f"s{day.day}" for day in DAYS)) == {*DAYS}


def test_of_old_days_only_those_of_the_key_are_looked_through(
    ws: Workspace, noted: dict[str, date]
):
    recent = {*DAYS[-RECENT_DAYS - 1 :]}
    assert days_of(ws, noted, "s3") == {DAYS[2], *recent}
    assert days_of(ws, noted, "of nobody") == recent
