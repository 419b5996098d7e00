"""The queries on the ledger that pages have find in one what they say."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from windrow.state.runs import ModelFate, ModelOutcome, Outcome, RunRecord, Runs
from windrow.tables import open_tables

DOCS = Path(__file__).resolve().parents[2] / "docs"
NOW = datetime.now(UTC).replace(microsecond=0)


def record(number: int, hours_ago: float, *, minutes: float = 1, **known: Any) -> RunRecord:
    finished = NOW - timedelta(hours=hours_ago)
    return RunRecord(
        run_id=f"r{number}",
        package=known.pop("package", "web"),
        outcome=known.pop("outcome", Outcome.SUCCEEDED),
        started_at=finished - timedelta(minutes=minutes),
        finished_at=finished,
        **known,
    )


FAILED = (
    ModelOutcome("sessions", ModelFate.FAILED, error="ValueError: no"),
    ModelOutcome("users", ModelFate.SKIPPED),
)
WINDOW = {"upper_limit": datetime(2024, 1, 2, tzinfo=UTC)}
RECORDS = [
    record(1, 50, reached=NOW - timedelta(hours=51), models=FAILED, outcome=Outcome.FAILED),
    record(2, 40, counts={"window_events": 9, "window_too_late": 2}, **WINDOW),
    record(3, 30, counts={"window_events": 1}, **WINDOW),
    record(4, 5, outcome=Outcome.UNDONE, left_behind=("page_views",)),
    record(5, 2, reached=NOW - timedelta(hours=8), minutes=9, counts={"window_events": 3}),
    record(6, 1, models=FAILED, outcome=Outcome.FAILED, counts={"window_events": 3}),
    record(7, 1, package="mobile", reached=NOW - timedelta(hours=2)),
    record(8, 60, state="late", lower_limit=WINDOW["upper_limit"], counts={"late_events": 34}),
    record(9, 24 * 40, state="late", counts={"late_events": 5}),
]


@pytest.fixture(scope="module")
def queries(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """Page -> its queries, over a ledger of our own."""
    tables = open_tables(spark, format="delta", warehouse=str(tmp_path_factory.mktemp("ledger")))
    runs = Runs(spark, tables, "manifest")
    runs.prepare()
    for it in RECORDS:
        runs.add(it)
    found = {}
    for page in DOCS.rglob("*.md"):
        texts = re.findall(r"```sql\n(.*?)```", page.read_text(), flags=re.DOTALL)
        found[page.name] = [
            text.replace("windrow_runs", tables.identifier(runs.table))
            for text in texts
            if "windrow_runs" in text
        ]
    return {name: texts for name, texts in found.items() if texts}


def test_no_page_has_a_query_that_nobody_tries(queries: dict[str, list[str]]):
    assert {name: len(texts) for name, texts in queries.items()} == {
        "production.md": 5,
        "late-data.md": 1,
    }


def test_late_events_are_counted_by_day(spark: SparkSession, queries: dict[str, list[str]]):
    ((day, events, earliest),) = spark.sql(queries["late-data.md"][0]).collect()
    assert (day, events) == ((NOW - timedelta(hours=60, minutes=1)).date(), 34)
    assert earliest == WINDOW["upper_limit"].replace(tzinfo=None)


def test_each_query_of_the_page_finds_what_it_is_for(
    spark: SparkSession, queries: dict[str, list[str]]
):
    texts = queries["production.md"]
    stale, failed, ended, left_out, slow = (spark.sql(text).collect() for text in texts)
    assert [(row["package"], row["newest_event"]) for row in stale] == [
        ("web", (NOW - timedelta(hours=8)).replace(tzinfo=None))
    ]
    assert [(row["run_id"], row["name"], row["error"]) for row in failed] == [
        ("r6", "sessions", "ValueError: no")
    ]
    assert [(row["run_id"], row["outcome"], row["left_behind"]) for row in ended] == [
        ("r4", "undone", ["page_views"])
    ]
    of_window = [row for row in left_out if str(row["day"]) == "2024-01-02"]
    assert [(row["events"], row["too_late"], row["bad_lines"]) for row in of_window] == [(10, 2, 0)]
    assert [(row["run_id"], row["seconds"], row["usual"]) for row in slow] == [("r5", 540, 60.0)]
