"""Hooks and options that change what rows say, each seen in the tables of a whole run."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from website import Site, at, event
from windrow.atomic.entity_columns import IAB, UA_PARSER, YAUAA

pytestmark = pytest.mark.ci

HOOKS = """
from pyspark.sql import functions as F

def get_iab_context_fields(default):
    return default | {"category": F.lower(default["category"])}

def get_ua_context_fields(default):
    return default | {"useragent_family": F.upper(default["useragent_family"])}

def get_yauaa_context_fields(default):
    return default | {"agent_class": F.lit("ours")}

def get_conversion_columns(conversion, default):
    total = f"cv_{conversion}_total"
    return default | {total: default[total] * 2}

def quarantine_sessions(default):
    return default | F.col("session_id").startswith("kiosk")

def stitch_user_identifiers(default):
    return F.concat(F.lit("id:"), default)

def update_incremental_manifest_table(default):
    return {name: at for name, at in default.items() if not name.endswith("_users")}
"""

SIGN_UP = {"name": "signup", "condition": "event_name = 'sign_up'", "value": "2.5"}


@pytest.fixture(scope="module")
def hooked(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Site:
    folder = tmp_path_factory.mktemp("hooked")
    enrichments = {"enable_iab": True, "enable_ua": True, "enable_yauaa": True}
    site = Site(spark, folder, conversion_events=[SIGN_UP], **enrichments)
    (folder / "hooks.py").write_text(HOOKS)
    entities = {
        IAB.name: [{"category": "BROWSER"}],
        UA_PARSER.name: [{"useragent_family": "Chrome"}],
        YAUAA.name: [{"agent_class": "Browser"}],
    }
    site.arrive(
        event("e1", "s1", "2024-01-02 10:00", page="p1", user_id="anna", **entities),
        event("e2", "s1", "2024-01-02 10:01", "sign_up"),
        event("e3", "kiosk-1", "2024-01-02 11:00", page="p3", cookie="hall"),
    )
    assert not site.run("2024-01-03 00:00").has_failed
    return site


def test_hooks_make_the_enrichments_columns(hooked: Site):
    columns = ("page_view_id", "category", "useragent_family", "agent_class")
    assert hooked.rows("page_views", *columns) == [
        ("p1", "browser", "CHROME", "ours"),
        ("p3", None, None, "ours"),
    ]
    assert hooked.rows("sessions", "domain_sessionid", *columns[1:]) == [
        ("kiosk-1", None, None, "ours"),
        ("s1", "browser", "CHROME", "ours"),
    ]


def test_hooks_value_conversions_and_name_users(hooked: Site):
    columns = ("cv_signup_volume", "cv_signup_total", "stitched_user_id")
    assert hooked.rows("sessions", "domain_sessionid", *columns) == [
        ("kiosk-1", 0, 0.0, "id:hall"),
        ("s1", 1, 5.0, "id:anna"),
    ]


def test_hooks_quarantine_sessions_and_hold_models_back(hooked: Site):
    assert hooked.rows("quarantine", "session_id") == [("kiosk-1",)]
    moved = {model for model, *_ in hooked.rows("manifest", "model")}
    assert "snowplow_web_sessions" in moved
    assert "snowplow_web_users" not in moved


def test_options_say_whose_a_session_is_and_when_it_was(spark: SparkSession, tmp_path: Path):
    site = Site(
        spark,
        tmp_path,
        session_timestamp="load_tstamp",
        session_identifiers=["network_userid"],
        user_sql="upper(domain_userid)",
        heartbeat=30,
        min_visit_length=15,
        ua_bot_pattern="AcmeProbe",
        max_session_days=1,
        models_to_run="page_views",
    )
    loaded = {"load_tstamp": at("2024-01-05 10:00"), "cookie": "ann", "network_userid": "n1"}
    later = {"load_tstamp": at("2024-01-06 10:01"), "cookie": "ann", "network_userid": "n1"}
    site.arrive(
        event("e1", "s1", "2024-01-04 10:00", page="p1", **loaded),
        event("e2", "s1", "2024-01-04 10:00:40", "page_ping", page="p1", **loaded),
        event("e3", "s2", "2024-01-04 10:01:20", "page_ping", page="p1", **loaded),
        event("e4", "s1", "2024-01-04 11:00", page="probe", useragent="AcmeProbe/1", **loaded),
        event("e5", "s1", "2024-01-04 12:00", page="p5", useragent="AhrefsBot", **loaded),
        event("e6", "s1", "2024-01-04 13:00", page="past the cap", **later),
    )
    before = site.run("2024-01-05 00:00")
    assert before.counts is not None
    assert (before.counts["events"], before.moved) == (0, {})
    assert not site.run("2024-01-07 00:00").has_failed
    columns = ("page_view_id", "domain_sessionid", "domain_userid", "engaged_time_in_s")
    assert site.rows("page_views", *columns) == [("p1", "n1", "ANN", 45), ("p5", "n1", "ANN", 0)]
    assert site.rows("quarantine", "session_id") == [("n1",)]
    ran = {model for model, *_ in site.rows("manifest", "model")}
    assert "snowplow_web_page_views" in ran
    assert "snowplow_web_sessions" not in ran
