"""What a run that has not been made would find: files of the events, days of the tables."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from website import at
from windrow.atomic.source import open_source
from windrow.config import EventsSource
from windrow.engine.volumes import event_files, touched_days
from windrow.state.limits import Limits, State
from windrow.state.runs import Outcome, RunRecord
from windrow.tables import TableName, open_tables
from windrow.tables.days import DayRange

LIMITS = Limits(
    State.STANDARD, at("2024-01-09 18:00"), at("2024-01-11 00:00"), None, at("2024-01-11 00:00")
)
WINDOW = DayRange(date(2024, 1, 9), date(2024, 1, 11))
LIKE = RunRecord(
    run_id="r",
    package="web",
    outcome=Outcome.SUCCEEDED,
    started_at=at("2024-01-10 00:00"),
    finished_at=at("2024-01-10 00:01"),
    lower_limit=at("2024-01-08 18:00"),
    written_days={
        "users": (
            DayRange(date(2023, 12, 24), date(2023, 12, 24)),
            DayRange(date(2024, 1, 7), date(2024, 1, 9)),
        )
    },
)


def test_a_run_touches_its_window_and_as_old_days_as_the_last_one_did():
    assert touched_days(LIMITS, LIKE, "users") == [
        DayRange(date(2023, 12, 24), date(2023, 12, 24)),
        DayRange(date(2024, 1, 7), date(2024, 1, 7)),
        WINDOW,
    ]
    assert touched_days(LIMITS, LIKE, "sessions") == [WINDOW]
    assert touched_days(LIMITS, None, "users") == [WINDOW]
    assert touched_days(LIMITS, replace(LIKE, lower_limit=None), "users") == [WINDOW]


@pytest.mark.parametrize("format", ["delta", "iceberg"])
def test_files_of_events_are_those_that_statistics_leave(
    spark: SparkSession, tmp_path: Path, format: str
):
    tables, name = open_tables(spark, format=format, warehouse=str(tmp_path)), TableName("a", "e")
    tables.create(name, {"event_id": "string", "collector_tstamp": "timestamp"})
    for day in (1, 2, 3):
        when = f"timestamp'2024-01-0{day} 10:00:00Z'"
        tables.append(name, spark.sql(f"select 'e' as event_id, {when} as collector_tstamp"))
    places = [EventsSource(path=str(tmp_path / "a" / "e"), format=format)]
    if format == "iceberg":
        places.append(EventsSource(table=tables.identifier(name).replace("`", "")))
    for place in places:
        source = open_source(spark, place, time_column="collector_tstamp")
        found = event_files(spark, place, source, at("2024-01-02 00:00"), at("2024-01-03 12:00"))
        every = event_files(spark, place, source, at("2023-01-02 00:00"), at("2025-01-03 12:00"))
        assert found is not None
        assert every is not None
        assert (found.files, every.files) == (2, 3)
        assert 0 < found.bytes < every.bytes
