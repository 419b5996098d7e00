"""Models taken out of the manifest are replayed from the start date, and nothing else moves."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from website import Site, event
from windrow import State

pytestmark = pytest.mark.ci

REMOVED = ["snowplow_web_page_views", "snowplow_web_no_such_model"]


def test_a_removed_model_is_replayed_and_the_others_stay(spark: SparkSession, tmp_path: Path):
    site = Site(spark, tmp_path, disabled_models=["users"], replay="exclusive")
    site.arrive(
        *(event(f"e{day}", f"s{day}", f"2024-01-{day:02d} 10:00", page=f"p{day}") for day in (2, 6))
    )
    site.run("2024-01-07 00:00")
    before = site.rows("page_views", "page_view_id", "page_views_in_session")
    sessions = site.rows("sessions", "domain_sessionid", "model_tstamp")
    positions = site.rows("manifest", "model", "last_success")
    ws = site.workspace
    ws.tables.drop(ws.table(ws.model("page_views")))

    # The first replay ends at its back-fill limit, so that the model still lags after it.
    first = site.run(
        "2024-01-08 00:00", {"web": {"models_to_remove": REMOVED, "backfill_limit_days": 3}}
    )
    assert first.plan.limits.state is State.NEW_MODEL
    assert site.rows("page_views", "page_view_id") == [("p2",)]
    second = site.run("2024-01-08 01:00")
    assert second.plan.limits.state is State.OUT_OF_SYNC

    assert site.rows("page_views", "page_view_id", "page_views_in_session") == before
    assert site.rows("sessions", "domain_sessionid", "model_tstamp") == sessions
    assert site.rows("manifest", "model", "last_success") == positions
    assert site.project().plan("web").limits.state is State.STANDARD
