"""sessions: which events count, where a session begins, and whose it is."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from website import at, event, events_this_run
from windrow.atomic.entity_columns import YAUAA
from windrow.config import ReferenceLists
from windrow.models.hooks import Hooks
from windrow.packages.web.session_columns import columns
from windrow.packages.web.sessions import sessions
from windrow.packages.web.settings import WebSettings
from windrow.packages.web.user_mapping import COLUMNS as USER_MAPPING
from windrow.reference.frames import ReferenceFrames, reference_frames
from windrow.tables.frames import frame_of

NOW = at("2024-01-31 00:00")
AHREFS = "Mozilla/5.0 (compatible; AhrefsBot/7.0)"
DAY = "2024-01-02"

EVENTS = [
    event("a1", "clicked first", f"{DAY} 10:00:00", "link_click"),
    event("a2", "clicked first", f"{DAY} 10:00:10", "page_ping", page="a"),
    event("b1", "pinged first", f"{DAY} 10:00:10", "page_ping", page="b"),
    event("b2", "pinged first", f"{DAY} 10:00:20", "link_click"),
    event("c1", "clicked only", f"{DAY} 10:00:00", "link_click"),
    event("d1", "untimed", f"{DAY} 10:00:00", page="d", br_lang="en-XX"),
    event("d2", "untimed", f"{DAY} 10:00:10", "page_ping", page="d", dvce_created_tstamp=None),
    event("e1", "robot", f"{DAY} 10:00:00", page="e", useragent=AHREFS),
    event("f1", "part robot", f"{DAY} 10:00:00", page="f", useragent=AHREFS),
    event("f2", "part robot", f"{DAY} 10:00:30", page="f"),
    event("g1", "no agent", f"{DAY} 10:00:00", page="g", useragent=None, cookie="known"),
    event(
        "h1",
        "tablet",
        f"{DAY} 10:00:00",
        page="h",
        cookie=None,
        mkt_source=" Google ",
        br_lang="en-GB",
        **{YAUAA.name: [{"device_class": "Tablet"}]},
    ),
]


@pytest.fixture(scope="module")
def reference(spark: SparkSession) -> ReferenceFrames:
    return reference_frames(spark, ReferenceLists())


@pytest.fixture(scope="module")
def events(spark: SparkSession) -> DataFrame:
    return events_this_run(spark, EVENTS)


def found(
    spark: SparkSession, reference: ReferenceFrames, events: DataFrame, **options: Any
) -> dict[str, Any]:
    """Session id -> its row."""
    settings = WebSettings(enable_yauaa=True, list_event_counts=True, **options)
    mapping = frame_of(spark, [["known", "anna", f"{DAY} 12:00:00"]], USER_MAPPING)
    table = sessions(events, settings, Hooks(), reference, NOW, mapping)
    assert dict(table.dtypes) == columns(settings)
    timed = table.withColumn("start", F.date_format("start_tstamp", "HH:mm:ss"))
    return {row["domain_sessionid"]: row for row in timed.collect()}


def lives(rows: dict[str, Any], *names: str) -> dict[str, tuple[str, int]]:
    """Session -> the time it started and how many seconds it lasted."""
    return {name: (rows[name]["start"], rows[name]["absolute_time_in_s"]) for name in names}


def test_sessions(spark: SparkSession, reference: ReferenceFrames, events: DataFrame):
    rows = found(spark, reference, events)

    assert set(rows) == {
        *("clicked first", "pinged first", "untimed", "part robot", "no agent", "tablet")
    }
    assert lives(rows, "clicked first", "pinged first", "part robot") == {
        "clicked first": ("10:00:00", 10),
        "pinged first": ("10:00:05", 15),
        "part robot": ("10:00:30", 0),
    }
    assert rows["pinged first"]["event_counts"] == {"link_click": 1, "page_ping": 1}
    assert rows["part robot"]["total_events"] == 1
    # A page that pings alone tell of counts too.
    assert rows["pinged first"]["page_views"] == 1
    assert rows["untimed"]["engaged_time_in_s"] == 0

    tablet = rows["tablet"]
    assert (tablet["device_category"], tablet["screen_resolution"]) == ("Tablet", None)
    assert tablet["default_channel_group"] == "Organic Search"
    assert tablet["br_lang_name"] == "English (United Kingdom)"
    assert rows["untimed"]["br_lang_name"] is None
    stitched = {name: row["stitched_user_id"] for name, row in rows.items()}
    assert stitched["no agent"] == "anna"
    assert stitched["untimed"] == "cookie"
    assert stitched["tablet"] is None


def test_sessions_of_the_reference(
    spark: SparkSession, reference: ReferenceFrames, events: DataFrame
):
    rows = found(spark, reference, events, compat=True, session_stitching=False)
    assert set(rows) == {
        *("clicked first", "pinged first", "untimed", "robot", "part robot", "tablet")
    }
    assert lives(rows, "clicked first", "pinged first", "robot", "part robot") == {
        "clicked first": ("09:59:55", 15),
        "pinged first": ("10:00:05", 15),
        "robot": ("10:00:00", 0),
        "part robot": ("10:00:00", 30),
    }
    assert rows["untimed"]["engaged_time_in_s"] == -5
    assert rows["pinged first"]["page_views"] == 1
    assert rows["tablet"]["br_lang_name"] == "English (United Kingdom)"
    assert rows["untimed"]["br_lang_name"] is None
    assert {row["stitched_user_id"] for row in rows.values()} == {None}


@pytest.mark.parametrize("compat", [False, True])
def test_an_empty_run_has_typed_event_counts(
    spark: SparkSession, reference: ReferenceFrames, events: DataFrame, compat: bool
):
    assert found(spark, reference, events.limit(0), compat=compat) == {}


@pytest.mark.parametrize("compat", [False, True])
def test_all_conversions_add_up_whatever_their_values_are_counted_in(
    spark: SparkSession, reference: ReferenceFrames, events: DataFrame, compat: bool
):
    conversions = [
        {"name": "page", "condition": "event_name = 'page_ping'", "value": "2.5"},
        {"name": "click", "condition": "event_name = 'link_click'", "value": "1000"},
    ]
    rows = found(
        *(spark, reference, events.where("domain_sessionid = 'pinged first'")),
        compat=compat,
        conversion_events=conversions,
        total_all_conversions=True,
    )
    one = rows["pinged first"]
    assert (one["cv_page_total"], one["cv_click_total"]) == (2.5, 1000.0)
    assert (one["cv__all_volume"], one["cv__all_total"]) == (2, 1002.5)


PURCHASES = [
    # Neither in the order of their times nor, where these are the same, of their ids.
    event("p3", "buyer", f"{DAY} 10:30:00", "purchase", se_value=1.5, se_property="7"),
    event("p2", "buyer", f"{DAY} 10:10:00", "purchase", se_property="2.25"),
    event("p1", "buyer", f"{DAY} 10:10:00", "purchase", se_value=0.0, se_property="a lot"),
    event("v1", "buyer", f"{DAY} 10:00:00", page="v"),
    event("v2", "looker", f"{DAY} 10:00:00", page="v", se_value=9.0),
    event("p4", "without a page", f"{DAY} 10:00:00", "purchase", se_value=1.0),
]
PURCHASE = {"condition": "event_name = 'purchase'", "list_events": True}


def conversions(row: Any, name: str) -> tuple[Any, ...]:
    kinds = ("volume", "events", "values", "total", "converted")
    return tuple(row[f"cv_{name}_{it}"] for it in kinds if f"cv_{name}_{it}" in row)


def test_a_session_counts_and_values_its_conversions_by_time(
    spark: SparkSession, reference: ReferenceFrames
):
    rows = found(
        *(spark, reference, events_this_run(spark, PURCHASES)),
        conversion_events=[
            {"name": "paid", "value": "se_value", "default_value": 0.5, **PURCHASE},
            # Text that is no number is no value; one that is keeps what comes after the point.
            {"name": "said", "value": "se_property", **PURCHASE},
            # Of what is not known nobody knows whether it converts.
            {"name": "dear", "condition": "se_value > 1"},
        ],
        total_all_conversions=True,
    )
    assert {*rows} == {"buyer", "looker"}
    buyer, looker = rows["buyer"], rows["looker"]
    ids = ["p1", "p2", "p3"]
    assert conversions(buyer, "paid") == (3, ids, [0.0, 0.5, 1.5], 2.0, True)
    assert conversions(buyer, "said") == (3, ids, [0.0, 2.25, 7.0], 9.25, True)
    assert conversions(buyer, "dear") == (1, True)
    assert conversions(looker, "paid") == (0, [], [], 0.0, False)
    assert conversions(looker, "dear") == (1, True)
    totals = [(it["cv__all_volume"], it["cv__all_total"]) for it in (buyer, looker)]
    assert totals == [(7, 11.25), (1, 0.0)]
    firsts = [it["cv_paid_first_conversion"] for it in (buyer, looker)]
    assert firsts == [at(f"{DAY} 10:10").replace(tzinfo=None), None]
    # A conversion is enough to be engaged.
    assert (buyer["is_engaged"], looker["is_engaged"]) == (True, True)
