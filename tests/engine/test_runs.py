"""What runs do to the tables: windows, late events, gaps, failures, protection."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from website import ONLY_PAGE_VIEWS, Site, at, event
from windrow import LockedError, RefusedError, SourceError, State
from windrow.engine.options import RunOptions
from windrow.engine.refresh import check_refresh
from windrow.engine.run import run
from windrow.engine.steps import Step
from windrow.state.holder import Holder
from windrow.state.leases import Intent, Leases

RAISING_MODEL = """
from windrow import model

@model(key="page_view_id", date="start_tstamp")
def broken(page_views):
    raise ValueError("no such luck")

@model(key="page_view_id", date="start_tstamp")
def after_broken(broken):
    return broken
"""


@pytest.fixture
def site(spark: SparkSession, tmp_path: Path) -> Site:
    return Site(spark, tmp_path)


@pytest.fixture
def pages(spark: SparkSession, tmp_path: Path) -> Site:
    return Site(spark, tmp_path, **ONLY_PAGE_VIEWS)


def test_a_late_loaded_event_moves_its_session_without_leaving_a_second_row(site: Site):
    site.arrive(
        event("e1", "s1", "2024-01-02 00:10", page="p1"),
        event("e2", "s1", "2024-01-02 00:20", page="p2"),
    )
    site.run("2024-01-02 01:00")
    # The new first event lies on the day before: the rows' dates move back over midnight.
    site.arrive(event("e0", "s1", "2024-01-01 23:50", page="p0", cookie="early"))
    site.run("2024-01-02 02:00")

    assert site.rows("sessions", "domain_sessionid", "start_tstamp", "page_views") == [
        ("s1", "2024-01-01 23:50:00", 3)
    ]
    assert site.rows("page_views", "page_view_id", "page_view_in_session_index") == [
        ("p0", 1),
        ("p1", 2),
        ("p2", 3),
    ]
    # The session now belongs to the cookie of its earliest event; the other user has nothing left.
    assert site.rows("users", "domain_userid", "sessions") == [("early", 1)]
    assert (
        site.rows("lifecycle", "session_id", "domain_userid", "start_tstamp_date")[0][1] == "early"
    )


def test_a_login_stitches_the_sessions_before_it(site: Site):
    site.arrive(event("e1", "s1", "2024-01-02 10:00", page="p1"))
    site.first_run("2024-01-03 00:00")
    assert site.rows("sessions", "domain_sessionid", "stitched_user_id") == [("s1", "cookie")]

    site.arrive(event("e2", "s2", "2024-01-04 10:00", page="p2", user_id="anna"))
    site.run("2024-01-05 00:00")
    assert site.rows("sessions", "domain_sessionid", "stitched_user_id", "user_id") == [
        ("s1", "anna", None),
        ("s2", "anna", "anna"),
    ]


def test_a_gap_longer_than_the_backfill_limit_is_skipped(spark: SparkSession, tmp_path: Path):
    site = Site(spark, tmp_path, backfill_limit_days=2, **ONLY_PAGE_VIEWS)
    site.arrive(
        event("e1", "s1", "2024-01-01 10:00", page="p1"),
        event("e2", "s2", "2024-02-01 10:00", page="p2"),
    )
    results = site.project().run_until_caught_up("web", now=at("2024-03-01 00:00"))
    # The second run reaches to the last event there is, so a third would find nothing.
    assert len(results) == 2
    assert results[1].is_caught_up
    assert results[1].plan.gap is not None
    assert results[1].plan.gap[1] == at("2024-02-01 10:00")
    assert site.rows("page_views", "page_view_id") == [("p1",), ("p2",)]


def test_a_failing_model_holds_back_only_what_reads_it(site: Site):
    site.arrive(event("e1", "s1", "2024-01-02 10:00", page="p1"))
    (site.folder / "models").mkdir()
    (site.folder / "models" / "broken.py").write_text(RAISING_MODEL)
    result = site.run("2024-01-03 00:00")

    outcomes = {model.name: model.outcome for model in result.models}
    assert result.has_failed
    assert outcomes["broken"] == "failed"
    assert outcomes["after_broken"] == "skipped"
    assert outcomes["snowplow_web_users"] == "succeeded"
    assert len(site.rows("manifest", "model")) == 12
    plan = site.project().plan("web")
    # The others go on by themselves; what failed is new, and caught up beside them.
    assert plan.limits.state is State.STANDARD
    assert plan.catch_up is not None
    assert plan.catch_up.limits.state is State.NEW_MODEL


def test_a_second_run_is_refused_and_told_who_runs(pages: Site):
    pages.arrive(event("e1", "s1", "2024-01-02 10:00", page="p1"))
    pages.first_run("2024-01-03 00:00")
    ws = pages.workspace
    other = Leases(pages.spark, ws.tables, ws.schemas.manifest, holder=Holder("elsewhere", 7))
    lease = other.take("web", "20240103T000000-aaaa", Intent(), 5, after=other.last("web"))
    assert ws.leases.is_held(lease)
    with pytest.raises(LockedError, match="process 7 on elsewhere"):
        pages.run("2024-01-04 00:00")


class PulledPlugError(BaseException):
    """Stands for the process being killed: nothing of windrow may run after it."""


@pytest.mark.parametrize(
    ("format", "last_step"),
    [
        ("iceberg", "sessions"),
        *(
            pytest.param(format, step, marks=pytest.mark.slow)
            for format in ("delta", "iceberg")
            for step in ("events", "page_views", "users")
        ),
        pytest.param("delta", "sessions", marks=pytest.mark.slow),
    ],
)
def test_a_killed_run_is_undone_and_done_again(
    spark: SparkSession, tmp_path: Path, format: str, last_step: str
):
    site = Site(spark, tmp_path, format=format)
    site.arrive(event("e1", "s1", "2024-01-02 10:00", page="p1"))
    site.run("2024-01-03 00:00")
    before = site.rows("users", "domain_userid", "sessions")
    site.arrive(event("e2", "s2", "2024-01-04 10:00", page="p2", user_id="anna"))

    killed_after(site, last_step, "2024-01-05 00:00")
    result = site.run("2024-01-05 00:00")

    assert len(result.undone) == 1
    assert before == [("cookie", 1)]
    assert site.rows("users", "domain_userid", "sessions", "page_views") == [("cookie", 2, 2)]
    assert site.rows("sessions", "domain_sessionid", "stitched_user_id") == [
        ("s1", "anna"),
        ("s2", "anna"),
    ]


def killed_after(site: Site, step: str, now: str) -> None:
    """A run whose process dies right after a step: no clean-up of its own, no process left."""
    ws = site.workspace
    gone = Holder(Holder.this_process().host, 2**22 + 1)
    dead = Leases(site.spark, ws.tables, ws.schemas.manifest, holder=gone)

    class Unplugged:
        """The leases of a machine without power: they answer until the plug is pulled."""

        is_dead = False

        def __getattr__(self, name: str) -> object:
            if Unplugged.is_dead and name == "is_ours":
                raise PulledPlugError
            return getattr(dead, name)

    def listener(told: Step) -> None:
        if told.name == step and told.status == "done":
            Unplugged.is_dead = True
            raise PulledPlugError

    with pytest.raises(PulledPlugError):
        run(replace(ws, leases=Unplugged()), now=at(now), listener=listener)  # type: ignore[arg-type]


def test_full_refresh_starts_over_in_dev_and_is_refused_elsewhere(
    spark: SparkSession, tmp_path: Path
):
    site = Site(spark, tmp_path, target="prod", **ONLY_PAGE_VIEWS)
    site.arrive(event("e1", "s1", "2024-01-02 10:00", page="p1"))
    site.first_run("2024-01-03 00:00")
    with pytest.raises(RefusedError, match="allow_refresh"):
        site.run("2024-01-04 00:00", full_refresh=True)
    allowed = site.run("2024-01-04 00:00", {"web": {"allow_refresh": True}}, full_refresh=True)
    assert allowed.plan.limits.state is State.FIRST_RUN
    assert site.rows("page_views", "page_view_id") == [("p1",)]


def test_single_tables_may_be_rebuilt_anywhere_unless_the_hook_says_no(
    spark: SparkSession, tmp_path: Path
):
    ws = Site(spark, tmp_path, target="prod").workspace
    some, tables = ws.models[:1], RunOptions(full_refresh=True)
    check_refresh(ws, some, tables)
    for models, options in (
        (ws.models, tables),
        (some, RunOptions(refresh_manifests=True)),
        (some, RunOptions(full_refresh=True, refresh_manifests=True)),
    ):
        with pytest.raises(RefusedError, match="allow_refresh"):
            check_refresh(ws, models, options)
    (tmp_path / "hooks.py").write_text("def allow_refresh(target, default): return False")
    with pytest.raises(RefusedError, match=r"hook allow_refresh in hooks\.py says no"):
        check_refresh(Site(spark, tmp_path, target="prod").workspace, some, tables)


def test_looking_writes_nothing(pages: Site):
    pages.arrive(event("e1", "s1", "2024-01-02 10:00", page="p1"))
    pages.project().plan("web")
    pages.project().status("web")
    assert not (pages.folder / "warehouse").exists()
    pages.run("2024-01-03 00:00")
    before = {path: path.stat().st_mtime_ns for path in (pages.folder / "warehouse").rglob("*")}
    pages.project().plan("web")
    pages.project().status("web")
    after = {path: path.stat().st_mtime_ns for path in (pages.folder / "warehouse").rglob("*")}
    assert after == before


def test_a_missing_column_is_named_with_the_option_that_wants_it(site: Site):
    site.arrive(event("e1", "s1", "2024-01-02 10:00", page="p1"))
    column = "contexts_nl_basjes_yauaa_context_1"
    frame = site.spark.read.parquet(str(site.folder / "events")).drop(column, "page_title")
    frame.write.parquet(str(site.folder / "narrow"))
    with pytest.raises(SourceError) as error:
        site.run(
            "2024-01-03 00:00",
            {"web": {"enable_yauaa": True, "events": {"path": str(site.folder / "narrow")}}},
        )
    assert f"'{column}' is missing (enable_yauaa asks for it)" in str(error.value)
    assert "'page_title' is missing" in str(error.value)
    assert not (site.folder / "warehouse").exists()


def test_an_endless_session_is_capped_and_quarantined(pages: Site):
    pages.arrive(
        *(
            event(f"e{day}", "s1", f"2024-01-{day:02d} 10:00", page=f"p{day}")
            for day in range(2, 9)
        ),
        event("x", "s2", "2024-01-02 11:00", page="px", delay=timedelta(days=4)),
        event("y", None, "2024-01-02 11:00", page="py"),
    )
    result = pages.run("2024-01-10 00:00")
    assert pages.rows("quarantine", "session_id") == [("s1",)]
    assert pages.rows("page_views", "page_view_id") == [("p2",), ("p3",), ("p4",), ("p5",)]
    assert result.counts is not None
    assert result.counts["window_too_late"] == 1
    assert result.counts["window_without_session"] == 1

    pages.arrive(event("z", "s1", "2024-01-10 10:00", page="pz"))
    later = pages.run("2024-01-11 00:00")
    # The last event from before lies in the look-back.
    assert (later.counts or {})["window_quarantined"] == 2
    assert len(pages.rows("page_views", "page_view_id")) == 4
