"""A run is whole or it stops and says why: state that is lost, edited or means something else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from website import ONLY_PAGE_VIEWS, Site, at, event
from windrow import RefusedError, State
from windrow.engine.steps import Step
from windrow.tables import Layout
from windrow.tables.frames import frame_of


def three_days(spark: SparkSession, folder: Path) -> Site:
    """A site with a page view on each of three days."""
    site = Site(spark, folder, **ONLY_PAGE_VIEWS)
    site.arrive(view(1), view(2), view(3))
    return site


def view(day: int) -> dict[str, Any]:
    return event(f"e{day}", f"s{day}", f"2024-01-{day:02d} 10:00", page=f"p{day}")


def pages(site: Site) -> list[str]:
    return [row[0] for row in site.rows("page_views", "page_view_id")]


def test_a_start_date_past_what_was_consumed_drops_no_event(spark: SparkSession, tmp_path: Path):
    site = three_days(spark, tmp_path)
    site.first_run("2024-01-02 00:00")
    told: list[str] = []
    result = site.run(
        "2024-01-04 00:00",
        {"web": {"start_date": "2024-01-03"}},
        listener=lambda step: told.append(step.detail),
    )
    assert pages(site) == ["p1", "p2", "p3"]
    assert result.plan.limits.lower == at("2024-01-01 04:00")
    assert "Processing data between 2024-01-01 04:00:00 and 2024-01-04 00:00:00" in told


def test_tables_that_vanished_stop_a_run_until_they_are_rebuilt(
    spark: SparkSession, tmp_path: Path
):
    site = three_days(spark, tmp_path)
    site.first_run("2024-01-03 00:00")
    ws = site.workspace
    ws.tables.drop(ws.table(ws.model("page_views")))
    with pytest.raises(RefusedError, match=r"page_views.*--full-refresh --select page_views") as it:
        site.run("2024-01-04 00:00")
    assert it.value.exit_code == 4
    site.run("2024-01-04 00:00", select="page_views", full_refresh=True)
    assert pages(site) == ["p1", "p2", "p3"]

    ws.tables.drop(ws.lifecycle)
    with pytest.raises(RefusedError, match="lifecycle_manifest is not there"):
        site.project().plan("web", now=at("2024-01-05 00:00"))


def test_a_position_ahead_of_the_clock_or_the_events_stops_a_run(
    spark: SparkSession, tmp_path: Path
):
    site = three_days(spark, tmp_path)
    site.first_run("2024-01-03 00:00")
    with pytest.raises(RefusedError, match="the clock says 2024-01-01"):
        site.run("2024-01-01 00:00")
    ws = site.workspace
    edited = [(name, f"{at('2024-01-20 00:00'):%Y-%m-%d %H:%M:%S}Z") for name, _ in manifest(site)]
    columns = ws.tables.columns(ws.manifest)
    ws.tables.merge(ws.manifest, frame_of(spark, edited, columns), key=["model"])
    with pytest.raises(RefusedError, match="there is no event as new as that"):
        site.run("2024-02-01 00:00")


def manifest(site: Site) -> list[tuple[Any, ...]]:
    return site.rows("manifest", "model", "last_success")


def test_a_column_that_someone_dropped_stops_a_run(spark: SparkSession, tmp_path: Path):
    site = three_days(spark, tmp_path)
    site.first_run("2024-01-02 00:00")
    ws = site.workspace
    table = ws.tables.identifier(ws.table(ws.model("page_views")))
    spark.sql(f"alter table {table} set tblproperties ('delta.columnMapping.mode' = 'name')")
    spark.sql(f"alter table {table} drop column page_title")
    with pytest.raises(RefusedError, match="no column 'page_title' any more"):
        site.run("2024-01-03 00:00")
    assert pages(site) == ["p1"]


def test_options_that_change_what_rows_mean_are_refused_unless_accepted(
    spark: SparkSession, tmp_path: Path
):
    site = three_days(spark, tmp_path)
    site.first_run("2024-01-02 00:00")
    other = {"web": {"user_sql": "network_userid", "days_late_allowed": 5}}
    with pytest.raises(RefusedError) as refused:
        site.run("2024-01-03 00:00", other)
    assert 'web.user_sql was the default, is "network_userid"' in str(refused.value)
    told: list[Step] = []
    site.run("2024-01-03 00:00", other, accept_changed_options=True, listener=told.append)
    (line,) = [step.detail for step in told if step.name == "options"]
    assert "web.days_late_allowed was the default, is 5" in line
    # It is what tables are made by from now on.
    assert site.run("2024-01-03 00:00", other).outcome == "nothing_to_do"


def test_removed_models_are_planned_as_they_are_run_and_come_to_an_end(
    spark: SparkSession, tmp_path: Path
):
    site = three_days(spark, tmp_path)
    site.first_run("2024-01-04 00:00")
    removing = {"web": {"models_to_remove": ["snowplow_web_page_views"]}}
    planned = site.project(removing).plan("web", now=at("2024-01-04 00:00"))
    told: list[Step] = []
    results = site.project(removing).run_until_caught_up(
        "web", now=at("2024-01-04 00:00"), listener=told.append
    )
    assert len(results) <= 2
    (line,) = [step.detail for step in told if step.name == "refresh"]
    assert line == "taken out of the manifest: snowplow_web_page_views"
    assert results[0].plan.limits == planned.limits
    assert planned.limits.state is State.NEW_MODEL
    assert pages(site) == ["p1", "p2", "p3"]


def test_a_full_refresh_applies_a_new_layout_and_one_that_is_killed_takes_it_back(
    spark: SparkSession, tmp_path: Path
):
    site = three_days(spark, tmp_path)
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
    assert pages(site) == ["p1", "p2"]


def test_refreshing_one_models_manifest_leaves_the_others_alone(
    spark: SparkSession, tmp_path: Path
):
    site = Site(spark, tmp_path, format="delta", disabled_models=["sessions", "users"])
    site.arrive(view(1), view(2))
    site.run("2024-01-03 00:00")
    before = dict(manifest(site))
    lives = site.rows("lifecycle", "session_id")
    vars = {"web": {"backfill_limit_days": 1}}
    site.run("2024-01-03 00:00", vars, select="page_views", refresh_manifests=True)
    after = dict(manifest(site))
    assert after["snowplow_web_user_mapping"] == before["snowplow_web_user_mapping"]
    assert after["snowplow_web_page_views"] == "2024-01-01 10:00:00"
    assert site.rows("lifecycle", "session_id") == lives
    assert pages(site) == ["p1", "p2"]
