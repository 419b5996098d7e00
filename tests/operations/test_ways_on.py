"""There is always a way on: after a foreign change, a table that was made anew, a dead holder."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from crashes.kills import Moment, plug_pulled
from website import ONLY_PAGE_VIEWS, Site, at, event
from windrow import RefusedError, TableError, UsageError

pytestmark = pytest.mark.ci

A_DAY_A_RUN = {"web": {"backfill_limit_days": 1}}


def half_done(spark: SparkSession, folder: Path) -> Site:
    """A site whose second run was killed, after which something else added a page view."""
    site = Site(spark, folder, format="delta", **ONLY_PAGE_VIEWS)
    site.arrive(event("e1", "s1", "2024-01-01 10:00", page="p1"))
    site.first_run("2024-01-02 00:00")
    site.arrive(event("e2", "s2", "2024-01-02 10:00", page="p2"))
    with plug_pulled(Moment(1, is_after=True, table="page_views")):
        site.run("2024-01-03 00:00")
    ws = site.workspace
    table = ws.table(ws.model("page_views"))
    stored = ws.tables.read(table).where("page_view_id = 'p1'")
    ws.tables.append(table, stored.replace({"p1": "foreign"}, subset=["page_view_id"]))
    return site


def pages(site: Site) -> list[str]:
    return [row[0] for row in site.rows("page_views", "page_view_id")]


def test_a_run_that_cannot_be_undone_leaves_two_ways_on(spark: SparkSession, tmp_path: Path):
    site = half_done(spark, tmp_path / "one")
    with pytest.raises(TableError, match="windrow unlock --abandon snowplow_web_page_views"):
        site.run("2024-01-03 00:00")
    with pytest.raises(UsageError, match=r"no table 'page_viws'\. Did you mean 'page_views'"):
        site.project().unlock("web", abandon=["page_viws"])
    told: list[str] = []
    project = site.project()
    ended = project.unlock(
        "web", abandon=["page_views"], listener=lambda step: told.append(step.detail)
    )
    assert ended is not None
    assert "--full-refresh --select snowplow_web_page_views" in told[-1]
    assert pages(site) == ["foreign", "p1", "p2"]
    # The next run makes the rows of its sessions anew, and s1 has no such page view.
    site.run("2024-01-03 00:00")
    assert pages(site) == ["p1", "p2"]

    site = half_done(spark, tmp_path / "two")
    site.run("2024-01-03 00:00", select="page_views", full_refresh=True)
    assert pages(site) == ["p1", "p2"]


def half_refreshed(spark: SparkSession, folder: Path) -> Site:
    """A site of three days whose full refresh was killed when it had made the first one again."""
    site = Site(spark, folder, **ONLY_PAGE_VIEWS)
    site.arrive(*(event(f"e{d}", f"s{d}", f"2024-01-0{d} 10:00", page=f"p{d}") for d in (1, 2, 3)))
    site.first_run("2024-01-04 00:00")
    with plug_pulled(Moment(2, is_after=True, table="page_views")):
        site.run("2024-01-04 00:00", A_DAY_A_RUN, full_refresh=True)
    assert pages(site) == ["p1"]
    return site


def begin_refresh(site: Site) -> None:
    """Give the refresh again; it is killed once it has taken back what the first one did."""
    with plug_pulled(Moment(1, is_after=True, table="windrow_runs")) as watch:
        site.run("2024-01-04 00:00", A_DAY_A_RUN, full_refresh=True)
    assert watch.is_dead


def test_a_refresh_that_is_killed_twice_leaves_the_rows_of_before(
    spark: SparkSession, tmp_path: Path
):
    site = half_refreshed(spark, tmp_path)
    begin_refresh(site)
    site.run("2024-01-04 00:00", A_DAY_A_RUN)
    assert pages(site) == ["p1", "p2", "p3"]


def test_what_a_killed_refresh_left_behind_stops_runs_until_it_is_rebuilt(
    spark: SparkSession, tmp_path: Path
):
    site = half_refreshed(spark, tmp_path)
    ws = site.workspace
    table = ws.table(ws.model("page_views"))
    stored = ws.tables.read(table)
    ws.tables.append(table, stored.replace({"p1": "foreign"}, subset=["page_view_id"]))
    begin_refresh(site)
    project, clock = site.project(A_DAY_A_RUN), at("2024-01-04 00:00")
    with pytest.raises(RefusedError, match="--full-refresh --select page_views"):
        project.plan_rerun("web", first=at("2024-01-03 00:00"), now=clock)
    with pytest.raises(RefusedError, match="--full-refresh --select page_views"):
        site.run("2024-01-04 00:00", A_DAY_A_RUN)
    site.run("2024-01-04 00:00", A_DAY_A_RUN, select="page_views", full_refresh=True)
    site.run("2024-01-05 00:00", A_DAY_A_RUN)
    assert pages(site) == ["p1", "p2"]


def test_a_rollback_past_a_table_that_was_made_anew_is_refused_before_anything_changes(
    spark: SparkSession, tmp_path: Path
):
    site = Site(spark, tmp_path, format="iceberg", **ONLY_PAGE_VIEWS)
    site.arrive(*(event(f"e{d}", f"s{d}", f"2024-01-0{d} 10:00", page=f"p{d}") for d in (1, 2)))
    site.run("2024-01-02 00:00")
    second = site.run("2024-01-03 00:00")
    ws = site.workspace
    ws.tables.drop(ws.table(ws.model("page_views")))
    site.run("2024-01-03 00:00", select="page_views", full_refresh=True)
    lives = site.rows("lifecycle", "session_id")
    with pytest.raises(RefusedError, match="dropped and made anew"):
        site.project().rollback("web", str(second.run_id))
    assert site.rows("lifecycle", "session_id") == lives
    assert site.run("2024-01-03 00:00").outcome == "nothing_to_do"
