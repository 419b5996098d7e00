"""What an operator does beside plain runs: subsets, past windows, new models, ways back."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from crashes.scenes import keys_stored_twice
from own_models import write_own_models
from random_runs import few_examples
from traffic import END, loaded
from website import ONLY_PAGE_VIEWS, Site, at, contents, event
from windrow import LockedError, RefusedError, State, UsageError
from windrow.engine.options import RunOptions
from windrow.engine.run import run
from windrow.engine.steps import Step
from windrow.state.holder import Holder
from windrow.state.leases import Intent, Leases

pytestmark = pytest.mark.ci

VISITED_PAGES = """
from pyspark.sql import functions as F
from windrow import model

@model(key="page_url")
def visited_pages(page_views):
    return page_views.groupBy("page_url").agg(F.max("start_tstamp").alias("last_seen"))

@model(key="page_view_id", date="start_tstamp", replaces="domain_sessionid")
def long_views(page_views):
    return page_views.select("page_view_id", "start_tstamp", "domain_sessionid")
"""

PAGES_OF_SESSIONS = """
from pyspark.sql import functions as F
from windrow import model

@model(key={key}, date="start_tstamp")
def pages_of_sessions(page_views):
    return page_views.select(
        "page_view_id",
        "domain_sessionid",
        "start_tstamp",
        F.lit({number}).alias("number"),
    )
"""


def days_of(site: Site, *days: int, **options: object) -> list[State]:
    """Runs at the end of each day; the state of each."""
    return [site.run(f"2024-01-{day:02d} 00:00", **options).plan.limits.state for day in days]


def positions(site: Site) -> dict[str, str]:
    return dict(site.rows("manifest", "model", "last_success"))


@pytest.fixture(scope="module")
def week(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Site:
    """A week of events, processed in one run."""
    site = loaded(spark, tmp_path_factory.mktemp("week"), seed=1)
    site.run(END)
    return site


@pytest.mark.slow
def test_subsets_and_full_runs_do_not_disturb_each_other(
    spark: SparkSession, tmp_path: Path, week: Site
):
    site = loaded(spark, tmp_path, seed=1)
    for hour in ("01-02 00:00", "01-03 06:00"):
        site.run(f"2024-{hour}", select="+page_views")
    assert set(positions(site)) == {
        f"snowplow_web_{name}"
        for name in ("page_views", "page_views_this_run", "pv_engaged_time", "pv_scroll_depth")
    }
    result = site.run("2024-01-04 00:00")
    # Page views went on by themselves; the others began from the start beside them.
    assert result.plan.limits.state is State.STANDARD
    assert [member.name for member in result.plan.models] == ["page_views"]
    assert result.catch_up is not None
    assert result.catch_up.plan.limits.state is State.NEW_MODEL
    assert len(set(positions(site).values())) == 1

    # Users made from sessions that are not there yet must not claim to have seen them.
    behind = positions(site)["snowplow_web_users"]
    site.run("2024-01-06 00:00", select="users")
    assert positions(site)["snowplow_web_users"] == behind
    site.run(END)
    assert contents(site) == contents(week)


def test_a_session_changes_its_user_while_users_do_not_run(spark: SparkSession, tmp_path: Path):
    site = Site(spark, tmp_path)
    site.arrive(event("e1", "s1", "2024-01-02 10:00", page="p1", cookie="cookie"))
    site.run("2024-01-02 11:00")
    site.arrive(event("e0", "s1", "2024-01-02 09:00", page="p0", cookie="early"))
    site.run("2024-01-02 12:00", select="page_views user_mapping sessions")
    site.run("2024-01-02 12:00")
    assert site.rows("users", "domain_userid") == [("early",)]


@pytest.mark.slow
def test_a_past_window_is_processed_again_beside_live_progress(
    spark: SparkSession, tmp_path: Path, week: Site
):
    site = loaded(spark, tmp_path, seed=1)
    site.run(END)
    before = positions(site)
    # Loaded days after it was collected: no look-back of a live run finds it.
    late = event("late", "s-late", "2024-01-03 12:00", page="p-late", cookie="c1")
    site.arrive(late)
    site.run("2024-01-08 01:00")
    assert not site.table("sessions").where("domain_sessionid = 's-late'").count()

    project = site.project({"web": {"backfill_limit_days": 2}})
    plan = project.plan_rerun("web", first=at("2024-01-02"), last=at("2024-01-05"))
    assert [member.name for member in plan.models] == [
        "page_views",
        "user_mapping",
        "sessions",
        "users",
    ]
    assert {member.name for member in plan.beyond} == {"sessions", "users"}
    assert len(plan.steps) == 2
    first, second = project.rerun("web", plan)
    assert (first.is_caught_up, second.is_caught_up) == (False, True)
    assert positions(site) == before

    week.arrive(late)
    try:
        again = week.project()
        again.run("web", now=at(END), full_refresh=True)
        assert contents(site) == contents(week)
    finally:
        week.run(END)
    assert site.run("2024-01-08 02:00").plan.limits.state is State.STANDARD


@pytest.mark.slow
def test_an_interrupted_rerun_goes_on_where_it_stopped(spark: SparkSession, tmp_path: Path):
    site = Site(spark, tmp_path, backfill_limit_days=1)
    site.arrive(*(event(f"e{d}", f"s{d}", f"2024-01-0{d} 10:00", page=f"p{d}") for d in (1, 2, 3)))
    site.project().run_until_caught_up("web", now=at("2024-01-04 00:00"))
    project = site.project()
    window = {"first": at("2024-01-01"), "last": at("2024-01-03")}
    plan = project.plan_rerun("web", **window)
    assert len(plan.steps) == 2
    before = contents(site)
    begun: list[str] = []

    def interrupt(step: Step) -> None:
        if step.name == "rerun":
            begun.append(step.detail)
        if len(begun) == 2 and step.name == "page_views" and step.status == "done":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        project.rerun("web", plan, listener=interrupt)
    assert [text.partition(":")[0] for text in begun] == ["Step 1 of 2", "Step 2 of 2"]
    assert contents(site) == before

    resumed = project.plan_rerun("web", **window)
    assert (resumed.done, len(resumed.steps)) == (1, 1)
    assert len(project.plan_rerun("web", **window, restart=True).steps) == 2
    project.rerun("web", resumed)
    # It is done: asking for it again begins anew.
    assert project.plan_rerun("web", **window).done == 0

    with pytest.raises(UsageError, match="processed only until 2024-01-03"):
        project.plan_rerun("web", first=at("2024-02-01"))
    for file in (tmp_path / "events").glob("*.parquet"):
        file.unlink()
    site.arrive(event("e3", "s3", "2024-01-03 10:00", page="p3"))
    with pytest.raises(RefusedError, match="would delete the rows of events that are gone"):
        project.plan_rerun("web", first=at("2024-01-01"))


@pytest.mark.slow
def test_a_new_model_is_back_filled_while_the_others_go_on(spark: SparkSession, tmp_path: Path):
    site = Site(spark, tmp_path, backfill_limit_days=2)
    site.arrive(
        *(event(f"e{d}", f"s{d}", f"2024-01-0{d} 10:00", page=f"p{d}") for d in range(1, 8))
    )
    site.project().run_until_caught_up("web", now=at("2024-01-06 00:00"))
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "own.py").write_text(VISITED_PAGES)

    plan = site.project().plan("web", now=at("2024-01-07 00:00"))
    assert plan.limits.state is State.STANDARD
    assert plan.catch_up is not None
    assert plan.catch_up.limits.state is State.NEW_MODEL
    first = site.run("2024-01-07 00:00")
    assert first.catch_up is not None
    assert first.catch_up.plan.limits.upper == at("2024-01-03 00:00")
    assert not first.is_caught_up
    # Live data did not wait for the new models.
    assert ("p6",) in site.rows("page_views", "page_view_id")
    assert site.rows("long_views", "page_view_id") == [("p1",), ("p2",)]

    results = site.project().run_until_caught_up("web", now=at("2024-01-08 00:00"))
    assert results[-1].is_caught_up
    assert site.rows("long_views", "page_view_id") == [(f"p{d}",) for d in range(1, 8)]
    assert site.rows("visited_pages", "last_seen") == [("2024-01-07 10:00:00",)]
    assert site.run("2024-01-08 00:00").catch_up is None

    exclusive = site.project({"web": {"replay": "exclusive", "models_to_remove": ["long_views"]}})
    waiting = exclusive.run("web", now=at("2024-01-08 00:00"))
    assert (waiting.plan.limits.state, waiting.catch_up) == (State.NEW_MODEL, None)


def test_rolling_back_and_unlocking(spark: SparkSession, tmp_path: Path):
    # On Delta there are the rollbacks that are killed, in crashes.
    site = Site(spark, tmp_path, format="iceberg", **ONLY_PAGE_VIEWS)
    site.arrive(
        event("e1", "s1", "2024-01-01 10:00", page="p1", user_id="anna"),
        event("e2", "s2", "2024-01-02 10:00", page="p2"),
        event("e3", "s3", "2024-01-03 10:00", page="p3", user_id="bert"),
    )
    site.run("2024-01-02 00:00")
    after_first = (contents(site), positions(site))
    second = site.run("2024-01-03 00:00")
    site.run("2024-01-04 00:00")
    after_third = contents(site)

    project = site.project()
    planned = project.plan_rollback("web", str(second.run_id))
    assert len(planned.runs) == 2
    assert contents(site) == after_third
    done = project.rollback("web", str(second.run_id))
    assert done.tables[-1].table == site.workspace.manifest
    assert (contents(site), positions(site)) == after_first
    assert site.workspace.runs.last("web", 1)[0].outcome == "rolled_back"

    site.run("2024-01-04 00:00")
    assert contents(site) == after_third
    with pytest.raises(UsageError, match="no run 'nonsense'"):
        project.plan_rollback("web", "nonsense")

    # A run on another host that does not answer: its lease lapses, or someone ends it.
    ws = site.workspace
    elsewhere = Leases(spark, ws.tables, ws.schemas.manifest, holder=Holder("far-away", 1))
    with ws.tables.commits_of("dead-run"):
        elsewhere.take("web", "dead-run", Intent(), 10, after=elsewhere.last("web"))
        ws.tables.append(ws.quarantine, spark.range(1).selectExpr("'junk' as session_id"))
    with pytest.raises(LockedError, match="far-away"):
        site.run("2024-01-05 00:00")
    with pytest.raises(LockedError, match="--force"):
        project.unlock("web")
    assert project.unlock("web", force=True) == "dead-run"
    assert contents(site) == after_third
    assert project.unlock("web") is None


@pytest.mark.slow
@few_examples(4)
@given(seed=st.integers(2, 10_000), plan=st.randoms(use_true_random=False))
def test_any_interleaving_ends_in_the_tables_of_one_run(
    spark: SparkSession,
    tmp_path_factory: pytest.TempPathFactory,
    seed: int,
    plan: random.Random,
):
    folder = tmp_path_factory.mktemp("interleaved")
    whole = loaded(spark, folder / "whole", seed)
    write_own_models(folder / "whole")
    assert not whole.run(END).has_failed

    site = loaded(spark, folder / "site", seed)
    hours = sorted(plan.sample(range(6, 24 * 7), 5))
    added_at = plan.randrange(5)
    for number, hour in enumerate(hours):
        now = at("2024-01-01") + timedelta(hours=hour)
        if number == added_at:
            write_own_models(folder / "site")
        kinds = ["run", "subset", "rerun", "crash", "rollback", "removed", "vanished", "options"]
        match plan.choice(kinds):
            case "run":
                site.project().run("web", now=now)
            case "subset":
                chosen = plan.choice(["+page_views", "+sessions", "user_mapping", "users"])
                site.project().run("web", now=now, select=chosen)
            case "rerun" if positions_of_all(site):
                first = at("2024-01-01") + timedelta(hours=plan.randrange(hour))
                again = site.project().plan_rerun("web", first=min(first, reached(site)))
                site.project().rerun("web", again)
            case "crash":
                crash(site, now, plan)
            case "rollback":
                last = site.run(f"{now:%Y-%m-%d %H:%M}")
                if last.run_id:
                    site.project().rollback("web", last.run_id)
            case "removed":
                chosen = plan.choice(["page_views", "sessions", "users"])
                removing = {"web": {"models_to_remove": [f"snowplow_web_{chosen}"]}}
                site.project(removing).run("web", now=now)
            case "vanished" if positions_of_all(site):
                lose_a_table(site, now, plan)
            case "options" if positions_of_all(site):
                with pytest.raises(RefusedError, match="decides what rows mean"):
                    site.project({"web": {"user_sql": "network_userid"}}).run("web", now=now)
    site.project().run_until_caught_up("web", now=at(END))
    assert contents(site) == contents(whole)
    assert keys_stored_twice(site) == []


def lose_a_table(site: Site, now: datetime, plan: random.Random) -> None:
    """Someone drops a table: the run stops, and the model is rebuilt."""
    ws, chosen = site.workspace, plan.choice(["page_views", "user_mapping", "sessions"])
    ws.tables.drop(ws.table(ws.model(chosen)))
    with pytest.raises(RefusedError, match=f"--full-refresh --select {chosen}"):
        site.project().run("web", now=now)
    site.project().run("web", now=now, select=chosen, full_refresh=True)


def positions_of_all(site: Site) -> bool:
    ws = site.workspace
    if not ws.tables.exists(ws.manifest):
        return False
    known = positions(site)
    return all(name in known for member in ws.models for name in member.tracked_names)


def reached(site: Site):
    return at(min(positions(site).values()))


def crash(site: Site, now, plan: random.Random) -> None:
    """A run that ends in the middle of one of its models."""
    stop_at = plan.choice(["events", "page_views", "sessions", "users"])

    def kill(step) -> None:
        if step.name == stop_at and step.status == "done":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(site.workspace, now=now, listener=kill)


def test_a_full_refresh_that_is_interrupted_leaves_all_as_it_was(
    spark: SparkSession, tmp_path: Path
):
    site = Site(spark, tmp_path, **ONLY_PAGE_VIEWS)
    site.arrive(event("e1", "s1", "2024-01-01 10:00", page="p1", user_id="anna"))
    site.run("2024-01-02 00:00")
    before = (contents(site), positions(site))

    def kill(step) -> None:
        if step.name == "page_views" and step.status == "done":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(
            site.workspace,
            RunOptions(full_refresh=True),
            now=at("2024-01-02 00:00"),
            listener=kill,
        )
    assert (contents(site), positions(site)) == before


def test_a_model_with_another_key_and_types_needs_a_full_refresh(
    spark: SparkSession, tmp_path: Path
):
    site = Site(spark, tmp_path, **ONLY_PAGE_VIEWS)
    site.arrive(
        event("e1", "s1", "2024-01-01 10:00", page="p1"),
        event("e2", "s2", "2024-01-02 10:00", page="p2"),
    )
    (tmp_path / "models").mkdir()
    own = tmp_path / "models" / "own.py"
    own.write_text(PAGES_OF_SESSIONS.format(key='"page_view_id"', number="1"))
    site.run("2024-01-02 00:00")
    own.write_text(
        PAGES_OF_SESSIONS.format(key='("page_view_id", "domain_sessionid")', number="'one'")
    )

    failed = site.run("2024-01-03 00:00")
    assert {it.name: it.outcome for it in failed.models} == {
        "snowplow_web_page_views": "succeeded",
        "pages_of_sessions": "failed",
    }
    with pytest.raises(RefusedError, match=r"told apart by page_view_id.*--full-refresh"):
        site.project().plan_rerun("web", first=at("2024-01-01"))
    assert site.rows("pages_of_sessions", "page_view_id", "number") == [("p1", 1)]

    again = site.run("2024-01-03 00:00", select="pages_of_sessions", full_refresh=True)
    assert again.outcome == "succeeded"
    assert site.rows("pages_of_sessions", "page_view_id", "number") == [
        ("p1", "one"),
        ("p2", "one"),
    ]
    assert site.project().plan_rerun("web", first=at("2024-01-01")).steps
    assert site.rows("page_views", "page_view_id") == [("p1",), ("p2",)]


def test_positions_moved_by_hand_are_seen_and_run_from(spark: SparkSession, tmp_path: Path):
    site = Site(spark, tmp_path, **ONLY_PAGE_VIEWS)
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "pages.py").write_text(VISITED_PAGES)
    for day in (1, 2, 3):
        site.arrive(event(f"e{day}", f"s{day}", f"2024-01-0{day} 10:00", page=f"p{day}"))
    days_of(site, 4)
    status = site.project().status("web", now=at("2024-01-04 00:00"))
    assert (status.edited, status.left_behind) == ((), ())

    ws = site.workspace
    moved_to = at("2024-01-01 10:00")
    names = ws.model("page_views").tracked_names
    tables, manifest = ws.tables, ws.manifest
    tables.update(manifest, {"last_success": f"TIMESTAMP '{moved_to:%F %T}Z'"}, f"model IN {names}")
    status = site.project().status("web", now=at("2024-01-04 00:00"))
    assert {(it.name, it.then, it.now) for it in status.edited} == {
        (name, at("2024-01-03 10:00"), moved_to) for name in names
    }
    assert sorted(status.left_behind) == ["long_views", "visited_pages"]

    # It stays possible: the next run begins there, and what it leaves is windrow's own again.
    site.run("2024-01-04 00:00")
    status = site.project().status("web", now=at("2024-01-04 00:00"))
    assert status.edited == ()
    assert set(positions(site).values()) == {"2024-01-03 10:00:00"}
