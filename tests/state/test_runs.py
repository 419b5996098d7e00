"""The run ledger: every so many runs its files are brought together, and old versions go."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from pyspark.sql import SparkSession

from windrow.state.leases import Intent, Leases
from windrow.state.runs import Outcome, RunRecord, Runs
from windrow.tables import TableName, Tables

NOW = datetime.now(UTC).replace(microsecond=0)


def run(number: int | None, *, finished_at: datetime = NOW) -> RunRecord:
    return RunRecord(
        run_id=f"run-{number}",
        package="web",
        outcome=Outcome.SUCCEEDED,
        started_at=NOW - timedelta(days=30 - (number or 0)),
        finished_at=finished_at,
        number=number,
    )


@pytest.fixture
def runs(spark: SparkSession, tables: Tables) -> Runs:
    """The ledger after three runs."""
    made = Runs(spark, tables, "m")
    made.prepare()
    for number in (23, 24, 25):
        made.add(run(number))
    return made


@pytest.fixture
def leases(spark: SparkSession, tables: Tables) -> Leases:
    """Leases that were taken twice."""
    made = Leases(spark, tables, "m")
    made.prepare()
    first = made.take("web", "run-24", Intent(), 10, after=None)
    made.take("web", "run-25", Intent(), 10, after=first)
    return made


def versions(tables: Tables, *found: TableName) -> list[int]:
    return [len(tables.history(table)) for table in found]


def test_every_25th_run_makes_one_file_of_the_ledgers(tables: Tables, runs: Runs, leases: Leases):
    def files() -> int:
        found = tables.files_on(runs.table, None, ())
        assert found is not None
        return found.files

    for number in (None, 23, 24):
        runs.look_after(run(number), leases.table)
    before = tables.version(runs.table)
    assert files() == 3
    runs.look_after(run(25), leases.table)
    assert files() == 1
    assert [it.number for it in runs.last("web", 9)] == [25, 24, 23]
    # What the ledger was less than a week ago can still be read.
    assert tables.read(runs.table, version=before).count() == 3


@pytest.mark.parametrize("format", ["iceberg", pytest.param("delta", marks=pytest.mark.ci)])
def test_on_iceberg_versions_of_ledger_and_leases_go_after_a_week(
    tables: Tables, runs: Runs, leases: Leases
):
    last, first = leases.last("web"), versions(tables, runs.table, leases.table)
    runs.look_after(run(25, finished_at=NOW + timedelta(days=6)), leases.table)
    assert versions(tables, leases.table) == first[1:]
    runs.look_after(run(50, finished_at=NOW + timedelta(days=8)), leases.table)
    # Delta does not read old versions to make a new one.
    left = [1, 1] if tables.format == "iceberg" else [first[0] + 1, first[1]]
    assert versions(tables, runs.table, leases.table) == left
    assert [it.number for it in runs.last("web", 9)] == [25, 24, 23]
    assert leases.last("web") == last
