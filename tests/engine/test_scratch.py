"""keep_this_run: what a run leaves in the scratch schema."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from website import ONLY_PAGE_VIEWS, Site, event, rows
from windrow.tables import TableName

pytestmark = pytest.mark.ci


def test_limits_sessions_and_events_of_the_last_run_are_kept(spark: SparkSession, tmp_path: Path):
    site = Site(spark, tmp_path, format="delta", keep_this_run=True, **ONLY_PAGE_VIEWS)
    site.arrive(event("e1", "s1", "2024-01-01 10:00", page="p1"))
    site.run("2024-01-02 00:00")
    site.arrive(event("e2", "s2", "2024-01-02 10:00", page="p2"))
    site.run("2024-01-03 00:00")

    def kept(name: str, *columns: str) -> list[tuple[object, ...]]:
        table = TableName(site.workspace.schemas.scratch, f"snowplow_web_{name}")
        return rows(site.workspace.tables.read(table).select(*columns))

    limits = ("2024-01-01 04:00:00", "2024-01-03 00:00:00")
    assert kept("base_new_event_limits", "*") == [limits]
    assert kept("base_sessions_this_run", "session_id") == [("s1",), ("s2",)]
    assert kept("base_events_this_run", "event_id") == [("e1",), ("e2",)]
    assert kept("page_views_this_run", "page_view_id") == [("p1",), ("p2",)]
