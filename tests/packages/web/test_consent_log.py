"""consent_log: which events are in it, and what it takes from them."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame, SparkSession

from windrow.atomic.entity_columns import CMP_VISIBLE, CONSENT_PREFERENCES
from windrow.models.hooks import Hooks
from windrow.packages.web.consent_log import COLUMNS, consent_log
from windrow.packages.web.settings import WebSettings
from windrow.tables.frames import frame_of

EVENT = {
    **dict.fromkeys(
        ("event_id", "event_name", "domain_userid", "user_id", "geo_country"), "string"
    ),
    **dict.fromkeys(("page_view_id", "domain_sessionid", "useragent"), "string"),
    "derived_tstamp": "timestamp",
    "load_tstamp": "timestamp",
    CONSENT_PREFERENCES.name: CONSENT_PREFERENCES.type,
    CMP_VISIBLE.name: CMP_VISIBLE.type,
}
HUMAN = "Mozilla/5.0 (X11; Linux x86_64) Firefox/120.0"


def logged(spark: SparkSession, *events: dict[str, Any], **options: Any) -> DataFrame:
    rows = [[({"useragent": HUMAN} | event).get(name) for name in EVENT] for event in events]
    return consent_log(frame_of(spark, rows, EVENT), WebSettings(**options), Hooks())


def ids(log: DataFrame) -> set[str]:
    return {row["event_id"] for row in log.collect()}


def test_columns_are_those_declared(spark: SparkSession) -> None:
    assert dict(logged(spark).dtypes) == COLUMNS
    assert logged(spark).columns[-1] == "derived_tstamp_date"


def test_preferences_are_spelled_out(spark: SparkSession) -> None:
    chosen = {
        "event_type": "allow_selected",
        "basis_for_processing": "consent",
        "consent_url": "https://shop.example/terms",
        "consent_version": "2.0",
        "consent_scopes": ["necessary", "statistics"],
        "domains_applied": ["shop.example", "blog.example"],
        "gdpr_applies": True,
    }
    event = {
        "event_id": "e1",
        "event_name": "consent_preferences",
        "derived_tstamp": "2024-01-05 23:59:59.5",
        CONSENT_PREFERENCES.name: chosen,
    }
    row = logged(spark, event).collect()[0]
    assert {name: row[name] for name in chosen} == chosen | {
        "consent_scopes": "necessary, statistics",
        "domains_applied": "shop.example, blog.example",
    }
    assert (row["cmp_load_time"], str(row["derived_tstamp_date"])) == (None, "2024-01-05")


def test_banner_has_a_load_time_and_no_preferences(spark: SparkSession) -> None:
    banner = {
        "event_id": "e1",
        "event_name": "cmp_visible",
        CMP_VISIBLE.name: {"elapsed_time": 1.5},
    }
    row = logged(spark, banner).collect()[0]
    assert row["cmp_load_time"] == 1.5
    assert row["event_type"] is None
    assert row["consent_scopes"] is None
    assert row["gdpr_applies"] is False


def test_other_events_and_bots_are_left_out(spark: SparkSession) -> None:
    events = [
        {"event_id": "banner", "event_name": "cmp_visible"},
        {"event_id": "view", "event_name": "page_view"},
        {"event_id": "bot", "event_name": "cmp_visible", "useragent": "AhrefsBot/7.0"},
    ]
    assert ids(logged(spark, *events)) == {"banner"}
    assert ids(logged(spark, *events, ua_bot_filter=False)) == {"banner", "bot"}
