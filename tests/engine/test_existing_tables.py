"""Going on from tables that the SQL package made: only their names, columns and keys are known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from website import Site, event
from windrow import State
from windrow.models.foundation import Foundation
from windrow.packages.web import WEB
from windrow.packages.web.settings import WebSettings
from windrow.state.manifest import MANIFEST
from windrow.tables import Columns
from windrow.tables.frames import frame_of

pytestmark = pytest.mark.ci

MODELS = (
    *("page_views", "page_views_this_run", "pv_engaged_time", "pv_scroll_depth"),
    *("sessions", "sessions_this_run", "user_mapping"),
    *("users", "users_this_run", "users_aggs", "users_lasts", "users_sessions_this_run"),
)
OLD, NEWEST = "2023-12-01", "2024-01-02"
SESSIONS = [
    {"domain_sessionid": "s0", "start_tstamp": f"{OLD} 10:00", "page_views": 4},
    {"domain_sessionid": "s1", "start_tstamp": f"{NEWEST} 10:00", "page_views": 9},
]
PAGE_VIEWS = [
    {"page_view_id": "p0", "domain_sessionid": "s0", "start_tstamp": f"{OLD} 10:00"},
    {"page_view_id": "p1", "domain_sessionid": "s1", "start_tstamp": f"{NEWEST} 10:00"},
    {"page_view_id": "ghost", "domain_sessionid": "s1", "start_tstamp": f"{NEWEST} 10:00"},
]
LIVES = [
    {"session_id": row["domain_sessionid"], "start_tstamp": row["start_tstamp"]} for row in SESSIONS
]


def written_by_another(
    site: Site, table: str, columns: Columns, rows: list[dict[str, Any]]
) -> None:
    """A Delta table as any other writer makes it, laid out by day if it has one."""
    dated = [
        {
            "domain_userid": "cookie",
            "end_tstamp": row.get("start_tstamp"),
            "start_tstamp_date": str(row.get("start_tstamp"))[:10],
        }
        | row
        for row in rows
    ]
    frame = frame_of(site.spark, [[row.get(name) for name in columns] for row in dated], columns)
    days = [name for name in columns if name == "start_tstamp_date"]
    frame.write.format("delta").partitionBy(*days).save(str(site.folder / "warehouse" / table))


def inherited(spark: SparkSession, folder: Path, models: tuple[str, ...] = MODELS) -> Site:
    """A project whose tables the SQL package left behind, with two events more than it saw."""
    site = Site(spark, folder, format="delta", start_date="2023-12-01")
    positions = [
        {"model": f"snowplow_web_{name}", "last_success": f"{NEWEST} 10:00"} for name in models
    ]
    manifest = "snowplow_manifest/snowplow_web_"
    written_by_another(site, f"{manifest}incremental_manifest", MANIFEST, positions)
    written_by_another(
        site, f"{manifest}base_sessions_lifecycle_manifest", Foundation().lifecycle, LIVES
    )
    written_by_another(site, f"{manifest}base_quarantined_sessions", Foundation().quarantine, [])
    rows = {
        "page_views": PAGE_VIEWS,
        "sessions": SESSIONS,
        "users": [{"start_tstamp": f"{OLD} 10:00", "sessions": 2}],
        "user_mapping": [{"user_id": "anna", "end_tstamp": f"{OLD} 10:00"}],
    }
    settings = WebSettings()
    for member in WEB.enabled_models(settings):
        columns = dict(member.columns_for(settings) or {})
        columns.pop("screen_resolution", None)
        columns["note"] = "string"
        stored = [{"note": "by hand", **row} for row in rows[member.name]]
        written_by_another(site, f"derived/{member.full_name}", columns, stored)
    site.arrive(
        event(
            *("e1", "s1", f"{NEWEST} 10:00"),
            page="p1",
            dvce_screenwidth=414,
            dvce_screenheight=896,
        ),
        event("e2", "s1", f"{NEWEST} 10:30", page="p2"),
        event("e3", "s2", f"{NEWEST} 11:00", page="p3"),
    )
    return site


def test_a_run_goes_on_from_an_existing_manifest(spark: SparkSession, tmp_path: Path):
    site = inherited(spark, tmp_path)
    result = site.run("2024-01-03 00:00")

    assert result.plan.limits.state is State.STANDARD
    assert f"{result.plan.limits.lower:%Y-%m-%d %H:%M}" == f"{NEWEST} 04:00"
    # A missing column was added, one of the project's own was left alone.
    assert site.rows("page_views", "page_view_id", "screen_resolution", "note") == [
        ("p0", None, "by hand"),
        ("p1", "414x896", "by hand"),
        ("p2", None, None),
        ("p3", None, None),
    ]
    # Rows of sessions with new events are made anew; what such a session no longer has, goes.
    assert site.rows("page_views", "page_view_id", "page_view_in_session_index") == [
        ("p0", None),
        ("p1", 1),
        ("p2", 2),
        ("p3", 1),
    ]
    assert site.rows("sessions", "domain_sessionid", "page_views", "stitched_user_id") == [
        ("s0", 4, None),
        ("s1", 2, "anna"),
        ("s2", 1, "anna"),
    ]
    # The user is made of all stored sessions, also of those that only the SQL package saw.
    assert site.rows("users", "start_tstamp", "sessions", "page_views") == [
        (f"{OLD} 10:00:00", 3, 7)
    ]
    assert {row[1] for row in site.rows("manifest", "model", "last_success")} == {
        f"{NEWEST} 11:00:00"
    }


def test_a_model_without_a_manifest_row_means_a_replay(spark: SparkSession, tmp_path: Path):
    site = inherited(spark, tmp_path, models=MODELS[1:])
    plan = site.project().plan("web")
    assert plan.limits.state is State.STANDARD
    assert plan.catch_up is not None
    assert plan.catch_up.limits.state is State.NEW_MODEL


def test_a_column_of_another_type_is_refused_before_rows_are_written(
    spark: SparkSession, tmp_path: Path
):
    site = inherited(spark, tmp_path)
    path = str(tmp_path / "warehouse/derived/snowplow_web_users")
    frame = spark.read.format("delta").load(path)
    retyped = frame.withColumn("sessions", frame["sessions"].cast("int"))
    retyped.write.format("delta").mode("overwrite").option("overwriteSchema", "true").save(path)
    result = site.run("2024-01-03 00:00")

    failed = {model.name: model.error for model in result.models if model.outcome == "failed"}
    assert list(failed) == ["snowplow_web_users"]
    assert "column 'sessions' is stored as int but the model now makes bigint" in str(failed)
    assert site.rows("users", "sessions") == [(2,)]
