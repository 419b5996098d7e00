"""A run with nothing new writes nothing, and never takes late events for nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from costs import counted
from website import ONLY_PAGE_VIEWS, Site, at, event
from windrow.engine.news import EventTimes

OWN_REBUILT = """
from windrow import model, stored

@model(kind="rebuilt", key="page_view_id")
def all_views(page_views=stored("page_views")):
    return page_views.select("page_view_id")
"""


def test_a_digest_tells_late_events_and_leaves_out_what_no_look_back_reaches():
    hour = 3_600_000_000
    begin = int(at("2024-01-01 00:00").timestamp()) * 1_000_000
    seen = EventTimes({begin: (3, 70), begin + hour: (2, 11)})
    assert seen.count == 5
    since = at("2024-01-01 01:30")
    assert seen.digest(since) == EventTimes({begin + hour: (2, 11)}).digest(since)
    assert seen.digest(since) == EventTimes({begin + hour: (2, 11), None: (0, 0)}).digest(since)
    for late in ({begin + hour: (3, 40)}, {begin + hour: (2, 12)}, {begin + 2 * hour: (1, 5)}):
        assert seen.digest(since) != EventTimes({**seen.hours, **late}).digest(since)
    # Times that cannot be read belong to no hour, and count all the same.
    assert seen.digest(since) != EventTimes({**seen.hours, None: (1, 0)}).digest(since)


@pytest.fixture
def site(spark: SparkSession, tmp_path: Path) -> Site:
    made = Site(spark, tmp_path, format="delta", **ONLY_PAGE_VIEWS)
    made.arrive(
        event("e1", "s1", "2024-01-02 10:00", page="p1"),
        event("e2", "s2", "2024-01-02 12:00", page="p2"),
    )
    made.first_run("2024-01-03 00:00")
    return made


def versions(site: Site) -> dict[str, Any]:
    ws = site.workspace
    tables = [*ws.protected, ws.table(ws.model("page_views")), ws.runs.table, ws.leases.table]
    return {str(table): ws.tables.version(table) for table in tables}


@pytest.mark.ci
def test_nothing_new_writes_nothing_and_a_late_event_is_news(site: Site):
    before = versions(site)
    with counted(site.spark) as cost:
        result = site.run("2024-01-03 02:00")
    assert result.outcome == "nothing_to_do"
    assert "no event is new since run" in (result.plan.nothing_because or "")
    assert cost.executions <= 4, cost
    assert versions(site) == before
    assert site.project().plan("web", now=at("2024-01-03 03:00")).nothing_because

    # Loaded late, but within the look-back: an hour has one more event.
    site.arrive(event("late", "s2", "2024-01-02 11:00", page="p0"))
    assert site.run("2024-01-03 04:00").outcome == "succeeded"
    assert site.rows("page_views", "page_view_id") == [("p0",), ("p1",), ("p2",)]
    assert site.run("2024-01-03 04:00").outcome == "nothing_to_do"


@pytest.mark.ci
def test_events_that_change_no_table_are_looked_at_once(site: Site):
    site.arrive(event("without", None, "2024-01-03 03:00"))
    assert site.run("2024-01-03 05:00").outcome == "succeeded"
    assert site.run("2024-01-03 06:00").outcome == "nothing_to_do"


@pytest.mark.ci
def test_whoever_changed_something_is_not_told_that_nothing_is_new(site: Site):
    (run,) = site.workspace.runs.last("web", 1)
    site.project().rollback("web", run.run_id)
    assert site.run("2024-01-03 00:00").outcome == "succeeded"
    assert site.rows("page_views", "page_view_id") == [("p1",), ("p2",)]

    heartbeat = {"web": {"heartbeat": 20}}
    assert site.run("2024-01-03 00:00", heartbeat).outcome == "succeeded"
    assert site.run("2024-01-03 00:00", heartbeat).outcome == "nothing_to_do"

    (site.folder / "models").mkdir()
    (site.folder / "models" / "own.py").write_text(OWN_REBUILT)
    for _ in range(2):
        # What it reads beside events may have changed, so it is made each time.
        assert site.run("2024-01-03 00:00", heartbeat).outcome == "succeeded"
    assert site.rows("all_views", "page_view_id") == [("p1",), ("p2",)]
