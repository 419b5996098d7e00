"""What runs do to the tables: late events, logins, endless sessions, models that fail."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from pulled_plug import killed_after
from website import ONLY_PAGE_VIEWS, Site, at, event
from windrow import LockedError, RunResult, SourceError, State
from windrow.engine.plan import Plan
from windrow.state import runs
from windrow.state.holder import Holder
from windrow.state.leases import Intent, Leases
from windrow.tables.frames import frame_of

RAISING_MODEL = """
from windrow import model

@model(key="page_view_id", date="start_tstamp")
def broken(page_views):
    raise ValueError("no such luck")

@model(key="page_view_id", date="start_tstamp")
def after_broken(broken):
    return broken
"""


@dataclass(frozen=True)
class Life:
    """A site after two runs; a model of its own fails in the first and is gone in the second."""

    site: Site
    first: RunResult
    plan_after_failure: Plan
    second: RunResult


@pytest.fixture(scope="module")
def life(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Life:
    site = Site(spark, tmp_path_factory.mktemp("life"))
    own = site.folder / "models" / "broken.py"
    own.parent.mkdir()
    own.write_text(RAISING_MODEL)
    site.arrive(
        # One session goes on for a week.
        *(
            event(f"e{day}", "endless", f"2024-01-{day:02d} 10:00", page=f"endless {day}")
            for day in range(2, 9)
        ),
        event("x", "slow", "2024-01-02 11:00", page="px", delay=timedelta(days=4)),
        event("y", None, "2024-01-02 11:00", page="py"),
        event("a1", "shy", "2024-01-07 10:00", page="a1", cookie="anna's"),
        # Of a session that is taken in, but not with this one.
        event("a0", "shy", "2024-01-07 10:05", page="a0", delay=timedelta(days=4)),
        event("b1", "barred", "2024-01-08 10:00", page="b1"),
        event("n1", "night", "2024-01-09 00:10", page="n1"),
        event("n2", "night", "2024-01-09 00:20", page="n2"),
        # The page was opened before the tracker was heard: a minimum visit earlier, at 23:59:57.
        event("o1", "owl", "2024-01-09 00:00:02", "page_ping", page="o1"),
    )
    first = site.run("2024-01-09 01:00")
    plan = site.project().plan("web", now=at("2024-01-09 02:00"))
    own.unlink()
    ws = site.workspace
    ws.tables.append(ws.quarantine, frame_of(spark, [["barred"]], {"session_id": "string"}))
    site.arrive(
        event("b2", "barred", "2024-01-09 10:00", page="b2"),
        # Loaded late, and on the day before: the rows' dates move back over midnight.
        event("n0", "night", "2024-01-08 23:50", page="n0", cookie="early"),
        event("o2", "owl", "2024-01-09 00:05", page="o2"),
        event("e9", "endless", "2024-01-09 10:00", page="endless 9"),
        event("a2", "known", "2024-01-09 11:00", page="a2", cookie="anna's", user_id="anna"),
    )
    return Life(site, first, plan, site.run("2024-01-10 00:00"))


def sessions(site: Site, *columns: str) -> dict[str, tuple[object, ...]]:
    return {row[0]: row[1:] for row in site.rows("sessions", "domain_sessionid", *columns)}


def test_a_late_loaded_event_moves_its_session_without_leaving_a_second_row(life: Life):
    found = life.site.rows("sessions", "domain_sessionid", "start_tstamp", "page_views")
    assert [row for row in found if row[0] == "night"] == [("night", "2024-01-08 23:50:00", 3)]
    views = life.site.rows("page_views", "page_view_id", "page_view_in_session_index")
    assert [row for row in views if row[0][0] == "n"] == [("n0", 1), ("n1", 2), ("n2", 3)]
    # The session now belongs to the cookie of its earliest event.
    assert ("early", 1) in life.site.rows("users", "domain_userid", "sessions")
    lives = life.site.rows("lifecycle", "session_id", "domain_userid", "start_tstamp_date")
    assert [row[1] for row in lives if row[0] == "night"] == ["early"]


def test_a_session_that_began_the_day_before_its_first_event_is_found_again(life: Life):
    found = life.site.rows("sessions", "domain_sessionid", "start_tstamp", "total_events")
    assert [row for row in found if row[0] == "owl"] == [("owl", "2024-01-08 23:59:57", 2)]


def test_a_login_stitches_the_sessions_before_it(life: Life):
    found = sessions(life.site, "stitched_user_id", "user_id")
    assert found["shy"] == ("anna", None)
    assert found["known"] == ("anna", "anna")
    assert found["night"] == ("early", None)


def test_an_endless_session_is_capped_and_quarantined(life: Life):
    assert ("endless",) in life.site.rows("quarantine", "session_id")
    views = [row[0] for row in life.site.rows("page_views", "page_view_id")]
    assert [view for view in views if view.startswith("endless")] == [
        f"endless {day}" for day in (2, 3, 4, 5)
    ]
    assert life.first.counts is not None
    assert life.second.counts is not None
    told = ("window_quarantined", "window_past_cap")
    assert [life.first.counts[name] for name in told] == [0, 3]
    assert [life.second.counts[name] for name in told] == [2, 0]


def test_a_session_that_somebody_put_into_quarantine_takes_in_nothing_more(life: Life):
    assert life.site.rows("quarantine", "session_id") == [("barred",), ("endless",)]
    views = life.site.rows("page_views", "page_view_id", "domain_sessionid")
    assert [view for view, session in views if session == "barred"] == ["b1"]
    assert sessions(life.site, "page_views")["barred"] == (1,)


def test_events_that_are_late_or_in_no_session_are_counted(life: Life):
    assert life.first.counts is not None
    assert life.first.counts["window_too_late"] == 2
    assert life.first.counts["window_without_session"] == 1
    # And three of a session that had reached its cap: what is not left out is in the tables.
    assert life.first.counts["window_left_out"] == 6
    assert life.first.counts["window_events"] == 6 + life.first.counts["events"]
    assert set(sessions(life.site)) == {*("endless", "shy", "night", "owl", "known", "barred")}
    # Nor does the late event of a session that was on time for the rest.
    views = life.site.rows("page_views", "page_view_id", "domain_sessionid")
    assert [view for view, session in views if session == "shy"] == ["a1"]


def test_a_failing_model_holds_back_only_what_reads_it(life: Life):
    outcomes = {model.name: model.outcome for model in life.first.models}
    assert life.first.has_failed
    assert outcomes["broken"] == "failed"
    assert outcomes["after_broken"] == "skipped"
    assert outcomes["snowplow_web_users"] == "succeeded"
    # The others go on by themselves; what failed is new, and caught up beside them.
    assert life.plan_after_failure.limits.state is State.STANDARD
    assert life.plan_after_failure.catch_up is not None
    assert life.plan_after_failure.catch_up.limits.state is State.NEW_MODEL
    assert len(life.site.rows("manifest", "model")) == 12
    assert life.second.outcome == "succeeded"


def test_looking_writes_nothing(life: Life, spark: SparkSession, tmp_path: Path):
    new = Site(spark, tmp_path, **ONLY_PAGE_VIEWS)
    new.arrive(event("e1", "s1", "2024-01-02 10:00", page="p1"))
    for site in (new, life.site):
        before = _written(site)
        site.project().plan("web")
        site.project().status("web")
        assert _written(site) == before
    assert not _written(new)


def _written(site: Site) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in (site.folder / "warehouse").rglob("*")}


def test_a_second_run_is_refused_and_told_who_runs(life: Life, tmp_path: Path):
    site = life.site.copied(tmp_path)
    ws = site.workspace
    other = Leases(site.spark, ws.tables, ws.schemas.manifest, holder=Holder("elsewhere", 7))
    lease = other.take("web", "20240110T000000-aaaa", Intent(), 5, after=other.last("web"))
    assert ws.leases.is_held(lease)
    with pytest.raises(LockedError, match="process 7 on elsewhere"):
        site.run("2024-01-11 00:00")


def test_a_killed_run_is_undone_and_done_again(life: Life, tmp_path: Path):
    site = life.site.copied(tmp_path)
    site.arrive(event("n3", "day", "2024-01-10 10:00", page="n3", cookie="early", user_id="eve"))
    killed_after(site, "sessions", "2024-01-11 00:00")
    result = site.run("2024-01-11 00:00")

    assert len(result.undone) == 1
    assert ("early", 2) in site.rows("users", "domain_userid", "sessions")
    found = sessions(site, "stitched_user_id")
    assert (found["night"], found["day"]) == (("eve",), ("eve",))


def test_a_missing_column_is_named_with_the_option_that_wants_it(
    spark: SparkSession, tmp_path: Path
):
    site = Site(spark, tmp_path)
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


@pytest.mark.ci
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


@pytest.mark.ci
def test_a_run_makes_one_file_of_the_ledgers_when_it_is_time(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    site = Site(spark, tmp_path, **ONLY_PAGE_VIEWS)
    site.arrive(event("e1", "s1", "2024-01-01 10:00", page="p1"))
    site.first_run("2024-01-02 00:00")
    monkeypatch.setattr(runs, "COMPACTED_EVERY", 2)
    site.arrive(event("e2", "s2", "2024-01-02 10:00", page="p2"))
    site.run("2024-01-03 00:00")
    ws = site.workspace
    files = ws.tables.files_on(ws.runs.table, None, ())
    assert files is not None
    assert (files.files, len(ws.runs.last("web", 9))) == (1, 2)
