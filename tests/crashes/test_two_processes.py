"""Two at work on the same tables: one of them wins, the other says so, and no row is lost."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from copy import copy
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from crashes import scenes
from crashes.kills import Moment, Watch, plug_pulled, watched
from crashes.processes import for_processes, paused, resumed, until
from crashes.scenes import Stage, keys_stored_twice, outcomes, state_of
from phone_app import App, app_event
from website import ONLY_PAGE_VIEWS, Site, at, event, rows
from windrow import LockedError, Project, WindrowError
from windrow.tables import TableName

pytestmark = pytest.mark.kills

FIRST, SECOND = "2024-01-02 00:00", "2024-01-03 00:00"
LEASES = "windrow_leases"
PAGE_VIEWS = TableName("derived", "snowplow_web_page_views")
SECONDS = 300
SECONDS_IN_STEP = 20


ON_DELTA = ["delta", pytest.param("iceberg", marks=pytest.mark.slow)]
"""The default with every change, the other one by `test-all`: each takes a minute or two."""


@pytest.fixture(scope="module", params=ON_DELTA)
def prepared(
    request: pytest.FixtureRequest, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> Stage:
    scene = scenes.SCENES["standard run"]
    return Stage(spark, tmp_path_factory.mktemp("stage"), request.param, scene)


@pytest.fixture
def stage(prepared: Stage) -> Stage:
    """Before a standard run, whatever an earlier test has made of it."""
    prepared.put_back()
    return prepared


def a_site(spark: SparkSession, folder: Path, format: str, **options: Any) -> Site:
    return Site(spark, folder, format=format, max_session_days=1, **ONLY_PAGE_VIEWS, **options)


def rival_of(site: Site) -> Site:
    """The same site as another process has it: with a Spark session of its own."""
    other = copy(site)
    other.spark = site.spark.newSession()
    return other


def outcome(work: Callable[[], Any]) -> BaseException | None:
    """What the work ends in: None, or its error."""
    try:
        work()
    except WindrowError as error:
        return error
    return None


def together(*works: Callable[[], Any]) -> list[BaseException | None]:
    """Do things at once: for a while, they go from change to change of the leases in step."""
    barrier = threading.Barrier(len(works), timeout=SECONDS_IN_STEP)

    def wait(table: str) -> None:
        if table.endswith(LEASES):
            # One that makes fewer changes must not keep the other for ever.
            with suppress(threading.BrokenBarrierError):
                barrier.wait()

    watch = Watch(None, lambda: None, on_change=wait)
    with watched(watch), ThreadPoolExecutor(len(works)) as pool:
        return list(pool.map(outcome, works))


@contextmanager
def asleep(work: Callable[[], Any], moment: Moment) -> Iterator[Callable[[], BaseException | None]]:
    """Work that stands still at the moment; calling it wakes it up and gives how it ended."""
    is_there, go_on = threading.Event(), threading.Event()

    def sleep() -> None:
        is_there.set()
        assert go_on.wait(SECONDS)

    with watched(Watch(moment, sleep)), ThreadPoolExecutor(1) as pool:
        working: Future[BaseException | None] = pool.submit(outcome, work)
        until(lambda: is_there.is_set() or working.done())
        assert is_there.is_set(), f"nothing stood still {moment}: {working.result()}"

        def woken() -> BaseException | None:
            go_on.set()
            return working.result(SECONDS)

        try:
            yield woken
        finally:
            go_on.set()


# --- a run, and another command ------------------------------------------------------------------


@pytest.mark.parametrize("format", ["iceberg"])
def test_while_a_run_goes_on_every_other_command_says_who_holds_the_package(
    spark: SparkSession, tmp_path: Path, format: str
):
    site = for_processes(a_site(spark, tmp_path, format))
    scenes.one_run(site)
    first = site.workspace.tables.read(scenes.LEDGER).collect()[0]["run_id"]
    project = site.project()
    moment = Moment(1, table="page_views")
    with paused(site, moment, "run", "--now", "2024-01-03T00:00:00") as process:
        holder = rf"process {process.pid} on"
        with pytest.raises(LockedError, match=holder):
            site.run(SECOND)
        with pytest.raises(LockedError, match=holder):
            scenes.rerun(site)
        with pytest.raises(LockedError, match=holder):
            project.maintain("web")
        with pytest.raises(LockedError, match=holder):
            project.rollback("web", first)
        with pytest.raises(LockedError, match=holder):
            project.unlock("web")
        exit_code, said = resumed(process)
    assert (exit_code, outcomes(site)) == (0, ["succeeded", "succeeded"]), said
    assert site.rows("page_views", "page_view_id") == [(f"p{n}",) for n in (1, 2, 3, 4, 5)]


@pytest.mark.parametrize(
    "rival", ["run", *(pytest.param(it, marks=pytest.mark.slow) for it in ("rerun", "maintain"))]
)
def test_of_two_that_take_the_package_at_once_one_wins(stage: Stage, rival: str):
    site, other = stage.site, rival_of(stage.site)
    work = {"run": stage.scene.command, "rerun": scenes.rerun, "maintain": scenes.maintain}[rival]

    ended = together(lambda: stage.scene.command(site), lambda: work(other))
    assert [type(it) for it in ended if it is not None] == [LockedError]
    stage.scene.command(site)
    assert state_of(site) == stage.expected
    assert keys_stored_twice(site) == []


# --- two packages --------------------------------------------------------------------------------


class Both(App):
    """A project with web and mobile over the same events."""

    def packages(self, settings: dict[str, Any]) -> dict[str, Any]:
        return {"mobile": settings, "web": dict(settings)}


@pytest.mark.parametrize("format", ON_DELTA)
def test_two_packages_that_start_at_once_on_a_new_warehouse_both_run(
    spark: SparkSession, tmp_path: Path, format: str
):
    both = Both(spark, tmp_path, format=format, **ONLY_PAGE_VIEWS)
    both.arrive(
        event("w1", "s1", "2024-01-01 10:00", page="p1"),
        app_event("m1", "a1", "2024-01-01 11:00", screen="c1"),
    )

    def run(package: str) -> Callable[[], Any]:
        project = Project.load(tmp_path, spark=spark.newSession())
        return lambda: project.run(package, now=at(FIRST))

    assert together(run("web"), run("mobile")) == [None, None]
    ledger = both.workspace.tables.read(scenes.LEDGER)
    assert rows(ledger.select("package", "outcome")) == [
        ("mobile", "succeeded"),
        ("web", "succeeded"),
    ]


# --- somebody else's writes ----------------------------------------------------------------------


def add_foreign_row(site: Site) -> None:
    """A plain Spark append, by something that is not windrow."""
    ws = rival_of(site).workspace
    foreign = F.lit("foreign")
    row = ws.tables.read(PAGE_VIEWS).where("page_view_id = 'p1'").localCheckpoint()
    row = row.withColumns({"page_view_id": foreign, "domain_sessionid": foreign})
    row.writeTo(ws.tables.identifier(PAGE_VIEWS)).append()


def test_a_row_that_somebody_adds_during_a_run_stays(stage: Stage):
    site = stage.site
    other = rival_of(site)
    with asleep(lambda: other.run(SECOND), Moment(1, table="page_views")) as woken:
        add_foreign_row(site)
        ended = woken()
    if ended is not None:
        site.run(SECOND)
    assert site.rows("page_views", "page_view_id") == [
        ("foreign",),
        *((f"p{n}",) for n in (1, 2, 3, 4, 5)),
    ]


def test_a_foreign_row_after_a_kill_is_not_lost_and_the_table_can_be_rebuilt(stage: Stage):
    site = stage.site
    last = [change.table.endswith("page_views") for change in stage.changes].count(True)
    with plug_pulled(Moment(last, is_after=True, table="page_views")) as watch:
        stage.scene.command(site)
    assert watch.is_dead
    add_foreign_row(site)

    with pytest.raises(WindrowError, match="page_views"):
        site.run(SECOND)
    assert ("foreign",) in site.rows("page_views", "page_view_id")

    site.run(SECOND, full_refresh=True, select="page_views")
    site.run(SECOND)
    assert site.project().unlock("web") is None
    assert state_of(site) == stage.expected


# --- a holder that was taken for dead ------------------------------------------------------------


def test_a_paused_run_whose_lock_was_ended_wakes_up_and_gives_up(stage: Stage):
    site = for_processes(stage.site)
    moment = Moment(1, table="page_views")
    with paused(site, moment, "run", "--now", "2024-01-03T00:00:00") as process:
        site.project().unlock("web", force=True)
        stage.scene.command(site)
        exit_code, said = resumed(process)
    assert keys_stored_twice(site) == []
    assert state_of(site) == stage.expected
    assert exit_code == 3, said


@pytest.mark.slow
def test_a_paused_run_whose_lease_lapsed_wakes_up_and_gives_up(
    spark: SparkSession, tmp_path: Path, format: str
):
    site = for_processes(a_site(spark, tmp_path, format, lease_minutes=1))
    site.arrive(*scenes.DAY_ONE)
    with paused(site, Moment(1, table="page_views"), "run", "--now", "2024-01-02T00:00:00") as dead:
        until(lambda: outcome(lambda: site.run(FIRST)) is None)
        exit_code, said = resumed(dead)
    assert site.rows("page_views", "page_view_id") == [("p1",), ("p2",), ("p3",)]
    assert exit_code == 3, said
    site.run(FIRST)
    assert site.rows("page_views", "page_view_id") == [("p1",), ("p2",), ("p3",)]


@pytest.mark.slow
@pytest.mark.parametrize("scene", ["first run", "standard run"])
def test_wherever_a_run_was_paused_that_lost_its_lock_no_row_is_stored_twice(
    spark: SparkSession, tmp_path: Path, format: str, scene: str
):
    stage = Stage(spark, tmp_path, format, scenes.SCENES[scene])
    site = stage.site
    failures = {}
    for number, change in enumerate(stage.changes, 1):
        stage.put_back()
        other = rival_of(site)
        with asleep(lambda other=other: stage.scene.command(other), Moment(number)) as woken:
            site.project().unlock("web", force=True)
            stage.scene.command(site)
            ended = woken()
        problems = scenes.differences(state_of(site), stage.expected)
        if ended is not None and not isinstance(ended, LockedError):
            problems.append(f"{type(ended).__name__}: {ended}")
        if problems:
            failures[f"paused before {number}: {change}"] = problems
    assert failures == {}


def test_a_dead_holder_with_the_process_number_of_the_next_run_blocks_nobody(stage: Stage):
    """In containers every process may have the number 1."""
    site = stage.site
    numbers: list[int] = []
    with plug_pulled(Moment(1, is_after=True, table=LEASES)):
        numbers.append(os.getpid())
        site.run(SECOND)
    with patch.object(os, "getpid", lambda: numbers[0]):
        site.run(SECOND)
    assert outcomes(site) == ["succeeded", "undone", "succeeded"]
