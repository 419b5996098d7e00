"""kill -9 of the whole process, in the middle: the next command sets right what it left."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

from crashes.kills import Moment, changes_of
from crashes.processes import for_processes, killed, killed_later
from crashes.scenes import LEDGER, SCENES, Stage, outcomes, two_runs
from website import ONLY_PAGE_VIEWS, Site, contents, event

pytestmark = pytest.mark.kills


def a_site(spark: SparkSession, folder: Path, format: str) -> Site:
    return for_processes(Site(spark, folder, format=format, max_session_days=1, **ONLY_PAGE_VIEWS))


@pytest.mark.parametrize("format", ["delta", pytest.param("iceberg", marks=pytest.mark.slow)])
def test_a_first_run_that_is_killed_after_its_rows_were_written_leaves_none(
    spark: SparkSession, tmp_path: Path, format: str
):
    events = [
        event(f"e{day}", f"s{day}", f"2024-01-0{day} 10:00", page=f"p{day}") for day in (1, 3)
    ]
    twin, site = (a_site(spark, tmp_path / name, format) for name in ("twin", "site"))
    twin.arrive(*events)
    changes = changes_of(lambda: twin.run("2024-01-04 00:00"))
    last = [change.table.endswith("page_views") for change in changes].count(True)

    site.arrive(*events)
    moment = Moment(last, is_after=True, table="page_views")
    killed(site, moment, "run", "--now", "2024-01-04T00:00:00")
    assert site.rows("page_views", "page_view_id") == [("p1",), ("p3",)]

    site.run("2024-01-04 00:00", vars={"web": {"start_date": "2024-01-03"}})
    assert site.rows("page_views", "page_view_id") == [("p3",)]
    assert outcomes(site) == ["undone", "succeeded"]


@pytest.mark.parametrize("format", ["delta"])
def test_a_killed_rollback_is_finished_by_the_next_run(
    spark: SparkSession, tmp_path: Path, format: str
):
    site = a_site(spark, tmp_path, format)
    two_runs(site)
    after_two = contents(site)
    second = site.workspace.tables.read(LEDGER).orderBy("started_at").collect()[-1]["run_id"]

    killed(site, Moment(3, is_after=True), "rollback", second, "--yes")
    assert contents(site) != after_two
    site.run("2024-01-03 00:00")
    assert contents(site) == after_two
    assert outcomes(site) == ["succeeded", "succeeded", "rolled_back", "succeeded"]


@pytest.mark.slow
@pytest.mark.parametrize("format", ["iceberg"])
def test_a_killed_upkeep_changes_no_row_and_blocks_nobody(
    spark: SparkSession, tmp_path: Path, format: str
):
    site = a_site(spark, tmp_path, format)
    two_runs(site)
    after_two = contents(site)

    moment = Moment(1, is_after=True, table="page_views")
    killed(site, moment, "maintain", "--delete", "--retention-days", "0")
    assert contents(site) == after_two
    site.run("2024-01-03 00:00")
    assert contents(site) == after_two
    assert "stopped" in outcomes(site)


@pytest.mark.slow
def test_a_run_that_is_killed_at_whatever_second_is_mended_by_the_next(
    spark: SparkSession, tmp_path: Path, format: str
):
    stage = Stage(spark, tmp_path, format, SCENES["standard run"])
    moments, were_killed = Random(15), []
    for seconds in [moments.uniform(0, 20) for _ in range(8)]:
        stage.put_back()
        site = for_processes(stage.site)
        were_killed.append(killed_later(site, seconds, "run", "--now", "2024-01-03T00:00:00"))
        stage.scene.command(site)
        assert stage.problems(is_decided=False) == [], f"killed after {seconds:.1f} s"
    assert were_killed.count(True) > 1
