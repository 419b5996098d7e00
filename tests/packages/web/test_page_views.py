"""page_views: which events count, and what is known of devices, engagement and scrolling."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from website import Event, at, event, events_this_run
from windrow.atomic.entity_columns import YAUAA
from windrow.config import ReferenceLists
from windrow.models.hooks import Hooks
from windrow.packages.web.page_views import COLUMNS, page_views
from windrow.packages.web.settings import WebSettings
from windrow.reference.frames import ReferenceFrames, reference_frames
from windrow.tables.frames import frame_of

NOW = at("2024-01-31 00:00")
SIZE = {"doc_width": 1000, "doc_height": 2000, "br_viewwidth": 1000, "br_viewheight": 800}


@pytest.fixture(scope="module")
def reference(spark: SparkSession) -> ReferenceFrames:
    return reference_frames(spark, ReferenceLists())


@pytest.fixture(scope="module")
def events(spark: SparkSession) -> DataFrame:
    return events_this_run(spark, EVENTS)


def views(
    spark: SparkSession,
    reference: ReferenceFrames,
    events: DataFrame,
    nearby: DataFrame | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Page view id -> its row."""
    settings = WebSettings(enable_yauaa=True, **options)
    stored = frame_of(spark, [], COLUMNS) if nearby is None else nearby
    rows = page_views(events, stored, settings, Hooks(), reference, NOW).collect()
    return {row["page_view_id"]: row for row in rows}


def view(page: str, time: str = "10:00:00", session: str = "s", **columns: Any) -> Event:
    return event(f"v-{page}", session, f"2024-01-02 {time}", page=page, **(SIZE | columns))


def ping(
    page: str, time: str, session: str = "s", furthest: int | None = None, **columns: Any
) -> Event:
    own = SIZE | {"pp_xoffset_max": 0, "pp_yoffset_max": furthest} | columns
    when = f"2024-01-02 {time}"
    return event(f"p-{page}-{session}-{time}", session, when, "page_ping", page=page, **own)


def device(device_class: str | None) -> dict[str, Any]:
    return {YAUAA.name: [{"device_class": device_class}]}


EVENTS = [
    # Where visits come from.
    view("referred", refr_medium="search", refr_source="Google"),
    # Devices.
    view("desktop", **device("Desktop")),
    view("phone", **device("Phone"), dvce_screenwidth=414, dvce_screenheight=896),
    view("tablet", **device("Tablet"), dvce_screenwidth=1024),
    view("television", **device("TV")),
    view("unknown class", **device(None)),
    view("no device"),
    # Scrolling.
    view("first screen"),
    view("rounded down"),
    ping("rounded down", "10:00:10", furthest=350),
    view("rounded up", br_viewheight=None),
    ping("rounded up", "10:00:10", furthest=30, br_viewheight=100),
    view("to the end"),
    ping("to the end", "10:00:10", furthest=1990),
    view("unknown viewport", br_viewwidth=None, br_viewheight=None),
    ping("unknown viewport", "10:00:10", furthest=500, br_viewwidth=None, br_viewheight=None),
    view("unknown document", doc_width=None, doc_height=None),
    view("empty document", doc_width=0),
    view("negative offset"),
    ping("negative offset", "10:00:10", furthest=-50),
    # User agents.
    view("googlebot", useragent="Mozilla/5.0 (compatible; Googlebot/2.1)"),
    view("ahrefsbot", useragent="Mozilla/5.0 (compatible; AhrefsBot/7.0)"),
    view("no agent", useragent=None),
    # Engagement.
    view("engaged"),
    *(ping("engaged", time) for time in ("10:00:05.2", "10:00:15.1", "10:00:25", "10:05:03.9")),
    ping("engaged", "10:05:08"),
    view("untimed"),
    ping("untimed", "10:00:10", dvce_created_tstamp=None),
    # The ping in another session is a stray one.
    view("strayed"),
    ping("strayed", "10:00:10"),
    ping("strayed", "10:01:10", session="other", furthest=1200),
    # Two events of one page view at the same time.
    view("tied") | {"event_id": "v-tied-2", "page_title": "second"},
    view("tied") | {"event_id": "v-tied-1", "page_title": "first"},
]
BOTS = {"googlebot", "ahrefsbot", "no agent"}


def test_page_views(spark: SparkSession, reference: ReferenceFrames, events: DataFrame):
    found = views(spark, reference, events)

    assert BOTS & set(found) == {"no agent"}
    assert found["referred"]["default_channel_group"] == "Unassigned"
    devices = ("desktop", "phone", "tablet", "television", "unknown class", "no device")
    assert [found[page]["device_category"] for page in devices] == [
        *("Desktop", "Mobile", "Tablet", "Other", "Other", "Other")
    ]
    assert found["phone"]["screen_resolution"] == "414x896"
    assert found["tablet"]["screen_resolution"] is None

    scrolled = ("vertical_pixels_scrolled", "vertical_percentage_scrolled")
    across = "horizontal_percentage_scrolled"
    assert {
        page: tuple(found[page][name] for name in (*scrolled, across))
        for page in (
            *("first screen", "rounded down", "rounded up", "to the end"),
            *("unknown viewport", "unknown document", "empty document", "negative offset"),
        )
    } == {
        "first screen": (0, 40, 100),
        # 1150 of 2000 is 57.49999999999999 % in binary; 130 of 2000 is 6.5 %.
        "rounded down": (350, 57, 100),
        "rounded up": (30, 7, 100),
        "to the end": (1990, 100, 100),
        "unknown viewport": (500, None, None),
        "unknown document": (None, None, None),
        "empty document": (None, None, None),
        "negative offset": (0, 40, 100),
    }

    time = ("engaged_time_in_s", "absolute_time_in_s")
    assert {
        page: tuple(found[page][name] for name in time)
        for page in ("engaged", "untimed", "strayed", "desktop")
    } == {"engaged": (35, 308), "untimed": (0, 10), "strayed": (5, 10), "desktop": (0, 0)}
    assert found["tied"]["page_title"] == "first"


def test_page_views_of_the_reference(
    spark: SparkSession, reference: ReferenceFrames, events: DataFrame
):
    found = views(spark, reference, events, compat=True)
    assert BOTS & set(found) == {"ahrefsbot"}
    unknown = found["unknown viewport"]
    assert unknown["vertical_percentage_scrolled"] == 100
    assert unknown["horizontal_percentage_scrolled"] == 100
    assert found["untimed"]["engaged_time_in_s"] == -5
    # And in what follows it is no other than ours.
    assert found["engaged"]["engaged_time_in_s"] == 35
    assert found["referred"]["default_channel_group"] == "Unassigned"
    assert found["tied"]["page_title"] == "first"


def test_an_id_stays_with_the_session_of_another_run_that_had_it_first(
    spark: SparkSession, reference: ReferenceFrames
):
    again = events_this_run(
        spark, [view("p", "11:00:00", session="later"), view("q", "11:01:00", session="later")]
    )
    known = {"page_view_id": "p", "start_tstamp": "2024-01-02 10:00:00"}
    before = frame_of(spark, [[known.get(name) for name in COLUMNS]], COLUMNS)

    def indexes(*, compat: bool) -> dict[str, int]:
        found = views(spark, reference, again, before, compat=compat)
        return {page: row["page_view_in_session_index"] for page, row in found.items()}

    assert indexes(compat=False) == {"q": 1}
    assert indexes(compat=True) == {"p": 1, "q": 2}


@pytest.mark.parametrize("compat", [False, True])
def test_pings_of_any_session_bots_and_referrers_count_if_asked(
    spark: SparkSession, reference: ReferenceFrames, events: DataFrame, compat: bool
):
    asked = {"limit_page_views_to_session": False, "use_refr_if_mkt_null": True}
    found = views(spark, reference, events, ua_bot_filter=False, compat=compat, **asked)
    assert found["referred"]["default_channel_group"] == "Organic Search"
    assert set(found) >= BOTS
    strayed = found["strayed"]
    assert (strayed["engaged_time_in_s"], strayed["absolute_time_in_s"]) == (15, 70)
    assert strayed["vertical_pixels_scrolled"] == 1200
