"""A run is whole or it stops and says why: state that is lost, edited or means something else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from website import ONLY_PAGE_VIEWS, Site, at, event
from windrow import RefusedError
from windrow.engine.steps import Step
from windrow.tables.frames import frame_of


@pytest.fixture
def site(spark: SparkSession, tmp_path: Path) -> Site:
    """A page view on each of three days, of which a run took in two."""
    made = Site(spark, tmp_path, **ONLY_PAGE_VIEWS)
    made.arrive(view(1), view(2), view(3))
    made.first_run("2024-01-03 00:00")
    return made


def view(day: int) -> dict[str, Any]:
    return event(f"e{day}", f"s{day}", f"2024-01-{day:02d} 10:00", page=f"p{day}")


def pages(site: Site) -> list[str]:
    return [row[0] for row in site.rows("page_views", "page_view_id")]


def test_a_start_date_past_what_was_consumed_drops_no_event(site: Site):
    told: list[str] = []
    result = site.run(
        "2024-01-04 00:00",
        {"web": {"start_date": "2024-01-03"}},
        listener=lambda step: told.append(step.detail),
    )
    assert pages(site) == ["p1", "p2", "p3"]
    assert result.plan.limits.lower == at("2024-01-02 04:00")
    assert "Processing data between 2024-01-02 04:00:00 and 2024-01-04 00:00:00" in told


@pytest.mark.parametrize("rebuilt", [False, pytest.param(True, marks=pytest.mark.ci)])
def test_tables_that_vanished_stop_a_run_until_they_are_rebuilt(site: Site, rebuilt: bool):
    ws = site.workspace
    ws.tables.drop(ws.table(ws.model("page_views")))
    with pytest.raises(RefusedError, match=r"page_views.*--full-refresh --select page_views") as it:
        site.run("2024-01-04 00:00")
    assert it.value.exit_code == 4
    if rebuilt:
        site.run("2024-01-04 00:00", select="page_views", full_refresh=True)
        assert pages(site) == ["p1", "p2", "p3"]

    ws.tables.drop(ws.lifecycle)
    with pytest.raises(RefusedError, match="lifecycle_manifest is not there"):
        site.project().plan("web", now=at("2024-01-05 00:00"))


def test_a_position_ahead_of_the_clock_or_the_events_stops_a_run(site: Site):
    with pytest.raises(RefusedError, match="the clock says 2024-01-01"):
        site.run("2024-01-01 00:00")
    ws = site.workspace
    edited = [(name, f"{at('2024-01-20 00:00'):%Y-%m-%d %H:%M:%S}Z") for name, _ in manifest(site)]
    columns = ws.tables.columns(ws.manifest)
    ws.tables.merge(ws.manifest, frame_of(site.spark, edited, columns), key=["model"])
    with pytest.raises(RefusedError, match="there is no event as new as that"):
        site.run("2024-02-01 00:00")


def manifest(site: Site) -> list[tuple[Any, ...]]:
    return site.rows("manifest", "model", "last_success")


def test_a_column_that_someone_dropped_stops_a_run(site: Site):
    ws, spark = site.workspace, site.spark
    table = ws.tables.identifier(ws.table(ws.model("page_views")))
    spark.sql(f"alter table {table} set tblproperties ('delta.columnMapping.mode' = 'name')")
    spark.sql(f"alter table {table} drop column page_title")
    with pytest.raises(RefusedError, match="no column 'page_title' any more"):
        site.run("2024-01-04 00:00")
    assert pages(site) == ["p1", "p2"]


OTHER_MEANING = {"web": {"user_sql": "network_userid", "days_late_allowed": 5}}


def test_options_that_change_what_rows_mean_are_refused_unless_accepted(site: Site):
    with pytest.raises(RefusedError) as refused:
        site.run("2024-01-04 00:00", OTHER_MEANING)
    assert 'web.user_sql was the default, is "network_userid"' in str(refused.value)
    assert pages(site) == ["p1", "p2"]


@pytest.mark.ci
def test_options_that_are_accepted_are_what_tables_are_made_by_from_then_on(site: Site):
    told: list[Step] = []
    again = {"accept_changed_options": True, "listener": told.append}
    site.run("2024-01-04 00:00", OTHER_MEANING, **again)
    (line,) = [step.detail for step in told if step.name == "options"]
    assert "web.days_late_allowed was the default, is 5" in line
    assert site.run("2024-01-04 00:00", OTHER_MEANING).outcome == "nothing_to_do"
