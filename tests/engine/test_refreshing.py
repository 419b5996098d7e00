"""Who may start over, and what of it: tables, manifests, layouts."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from website import ONLY_PAGE_VIEWS, Site, at, event
from windrow import RefusedError, State
from windrow.engine.options import RunOptions
from windrow.engine.refresh import check_refresh
from windrow.engine.steps import Step
from windrow.tables import Layout


def two_days(spark: SparkSession, folder: Path, **options: object) -> Site:
    site = Site(spark, folder, **{**ONLY_PAGE_VIEWS, **options})
    site.arrive(
        event("e1", "s1", "2024-01-01 10:00", page="p1"),
        event("e2", "s2", "2024-01-02 10:00", page="p2"),
    )
    return site


@pytest.mark.ci
def test_everything_starts_over_where_it_is_allowed(spark: SparkSession, tmp_path: Path):
    site = two_days(spark, tmp_path, target="prod")
    site.first_run("2024-01-03 00:00")
    with pytest.raises(RefusedError, match="allow_refresh"):
        site.run("2024-01-04 00:00", full_refresh=True)
    allowed = site.run("2024-01-04 00:00", {"web": {"allow_refresh": True}}, full_refresh=True)
    assert allowed.plan.limits.state is State.FIRST_RUN
    assert site.rows("page_views", "page_view_id") == [("p1",), ("p2",)]


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


@pytest.mark.ci
def test_a_full_refresh_applies_a_new_layout_and_one_that_is_killed_takes_it_back(
    spark: SparkSession, tmp_path: Path
):
    site = two_days(spark, tmp_path)
    site.first_run("2024-01-03 00:00")
    ws = site.workspace
    table, by_day = ws.table(ws.model("page_views")), Layout(("start_tstamp_date",))
    by_session = {"web": {"cluster_by": {"page_views": ["domain_sessionid"]}}}

    def kill(step: Step) -> None:
        if step.name == "page_views" and step.status == "done":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        site.run("2024-01-03 00:00", by_session, full_refresh=True, listener=kill)
    assert ws.tables.layout(table) == by_day
    site.run("2024-01-03 00:00", by_session, full_refresh=True)
    assert ws.tables.layout(table) == Layout((), ("domain_sessionid",))
    assert site.rows("page_views", "page_view_id") == [("p1",), ("p2",)]


@pytest.mark.ci
def test_refreshing_one_models_manifest_leaves_the_others_alone(
    spark: SparkSession, tmp_path: Path
):
    site = two_days(spark, tmp_path, disabled_models=["sessions", "users"])
    site.run("2024-01-03 00:00")
    before = dict(site.rows("manifest", "model", "last_success"))
    lives = site.rows("lifecycle", "session_id")
    vars = {"web": {"backfill_limit_days": 1}}
    site.run("2024-01-03 00:00", vars, select="page_views", refresh_manifests=True)
    after = dict(site.rows("manifest", "model", "last_success"))
    assert after["snowplow_web_user_mapping"] == before["snowplow_web_user_mapping"]
    assert after["snowplow_web_page_views"] == "2024-01-01 10:00:00"
    assert site.rows("lifecycle", "session_id") == lives
    assert site.rows("page_views", "page_view_id") == [("p1",), ("p2",)]


@pytest.mark.ci
def test_removed_models_are_planned_as_they_are_run_and_come_to_an_end(
    spark: SparkSession, tmp_path: Path
):
    site = two_days(spark, tmp_path)
    site.first_run("2024-01-03 00:00")
    removing = {"web": {"models_to_remove": ["snowplow_web_page_views"]}}
    planned = site.project(removing).plan("web", now=at("2024-01-03 00:00"))
    told: list[Step] = []
    results = site.project(removing).run_until_caught_up(
        "web", now=at("2024-01-03 00:00"), listener=told.append
    )
    assert len(results) <= 2
    (line,) = [step.detail for step in told if step.name == "refresh"]
    assert line == "taken out of the manifest: snowplow_web_page_views"
    assert results[0].plan.limits == planned.limits
    assert planned.limits.state is State.NEW_MODEL
    assert site.rows("page_views", "page_view_id") == [("p1",), ("p2",)]
