"""Upkeep: tables get the layout that is configured and few files, and keep their rows."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from website import Site, at, event, rows
from windrow import ConfigError, LockedError, RefusedError, State, UsageError
from windrow.state.holder import Holder
from windrow.state.leases import Intent, Kind, Leases
from windrow.tables import Layout

pytestmark = pytest.mark.ci

LIFECYCLE = "snowplow_web_base_sessions_lifecycle_manifest"
LAID_OUT = {
    "web": {"cluster_by": {"page_views": ["start_tstamp_date", "page_view_id"], LIFECYCLE: []}}
}


def site_of_three_days(spark: SparkSession, folder: Path, format: str) -> Site:
    site = Site(spark, folder, format=format)
    site.arrive(
        *(
            event(f"e{day}{n}", f"s{day}{n}", f"2024-01-0{day} 10:00", page=f"p{day}{n}")
            for day in (1, 2, 3)
            for n in (1, 2)
        )
    )
    return site


def rows_of(site: Site) -> list[list[tuple[object, ...]]]:
    return [rows(site.table(name).drop("model_tstamp")) for name in ("page_views", "lifecycle")]


@pytest.mark.parametrize(
    ("format", "select"),
    [
        ("iceberg", "page_views"),
        ("delta", "page_views"),
        pytest.param("delta", None, marks=pytest.mark.slow),
    ],
)
def test_upkeep_changes_files_and_no_rows(
    spark: SparkSession, tmp_path: Path, format: str, select: str | None
):
    site = site_of_three_days(spark, tmp_path, format)
    first = site.run("2024-01-02 00:00", select=select)
    after_first = rows_of(site)
    second = site.run("2024-01-03 00:00", select=select)
    ws, project, before = site.workspace, site.project(LAID_OUT), rows_of(site)
    page_views = ws.table(ws.model("page_views"))
    wanted = (
        Layout((), ("start_tstamp_date", "page_view_id"))
        if format == "delta"
        else Layout(("start_tstamp_date",), ("page_view_id",))
    )

    files = sorted(tmp_path.rglob("*"))
    planned = project.maintain("web", dry_run=True)
    assert sorted(tmp_path.rglob("*")) == files
    assert {t.table: t.new_layout for t in planned.tables if t.new_layout} == {
        page_views: wanted,
        ws.lifecycle: Layout(),
    }
    assert {t.table for t in planned.tables} >= {
        ws.manifest,
        ws.quarantine,
        ws.runs.table,
        ws.leases.table,
    }

    done = project.maintain("web")
    assert ws.tables.layout(page_views) == wanted
    assert ws.tables.layout(ws.lifecycle) == Layout()
    lifecycle = next(t for t in done.tables if t.table == ws.lifecycle)
    assert lifecycle.compaction is not None
    assert lifecycle.compaction.files_after == 1
    assert rows_of(site) == before
    assert ws.runs.last("web", 1)[0].outcome == "maintained"

    # Nothing was deleted, so a run from before can still be rolled back, and runs go on.
    assert project.rollback("web", str(second.run_id)).runs == (second.run_id,)
    assert rows_of(site) == after_first
    third = project.run("web", now=at("2024-01-04 00:00"), select=select)
    assert third.plan.limits.state is State.STANDARD
    after = rows_of(site)
    assert [len(table) for table in after] == [6, 6]
    deleted = project.maintain("web", select="page_views", retention_days=0, delete=True)
    assert [t.table for t in deleted.tables] == [page_views]
    assert deleted.tables[0].expiry is not None
    assert deleted.tables[0].expiry.count > 0
    assert rows_of(site) == after
    with pytest.raises(RefusedError, match="was deleted by `windrow maintain`"):
        project.plan_rollback("web", str(first.run_id))


@pytest.mark.slow
def test_upkeep_waits_for_runs_and_leaves_killed_ones_what_they_need(
    spark: SparkSession, tmp_path: Path
):
    site = site_of_three_days(spark, tmp_path, "iceberg")
    project = site.project()
    assert project.maintain("web").tables == ()
    site.run("2024-01-02 00:00", select="page_views")
    before = rows_of(site)
    ws = site.workspace
    elsewhere = Leases(spark, ws.tables, ws.schemas.manifest, holder=Holder("far-away", 1))
    with ws.tables.commits_of("dead-run"):
        elsewhere.take("web", "dead-run", Intent(), 10, after=elsewhere.last("web"))
        ws.tables.append(ws.quarantine, spark.range(1).selectExpr("'junk' as session_id"))
    with pytest.raises(LockedError, match="far-away"):
        project.maintain("web")

    # Its lease lapses: it counts as killed, and nothing that its undoing needs may go.
    long_dead = datetime.now(UTC) - timedelta(hours=1)
    taken = elsewhere.last("web")
    lapsed = replace(taken, lease_until=long_dead, started_at=long_dead)
    elsewhere._store(lapsed, instead_of=taken)
    planned = project.maintain("web", dry_run=True, retention_days=0)
    assert planned.kept_since < long_dead - timedelta(hours=23)
    done = project.maintain("web", select="page_views", retention_days=0)
    assert done.undone == ("dead-run",)
    assert rows_of(site) == before
    assert site.rows("quarantine", "session_id") == []

    # An upkeep that is killed itself has nothing to take back.
    intent = Intent(kind=Kind.MAINTAIN, kept_since=long_dead)
    elsewhere.take("web", "maintain-dead", intent, 10, after=elsewhere.last("web"))
    assert project.unlock("web", force=True) == "maintain-dead"
    record = ws.runs.last("web", 1)[0]
    assert (record.outcome, record.kept_since) == ("stopped", long_dead)

    with pytest.raises(UsageError, match="expected 0 or more"):
        project.maintain("web", retention_days=-1)
    with pytest.raises(ConfigError, match=r"no table 'page_viws'\. Did you mean 'page_views'"):
        site.project({"web": {"cluster_by": {"page_viws": []}}}).maintain("web")
