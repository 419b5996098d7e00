"""Options that leave events, users or sessions out, through a whole run."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from website import Site, event

pytestmark = pytest.mark.ci

AHREFS = "Mozilla/5.0 (compatible; AhrefsBot/7.0)"


def test_apps_bots_stray_pings_and_stitching_as_configured(spark: SparkSession, tmp_path: Path):
    site = Site(
        spark,
        tmp_path,
        app_id=["shop", "blog"],
        session_stitching=False,
        limit_page_views_to_session=False,
    )
    site.arrive(
        event("e1", "s1", "2024-01-02 10:00", page="p1", user_id="anna"),
        event("e2", "s2", "2024-01-02 11:00", "page_ping", page="p1"),
        event("e3", "s3", "2024-01-02 10:00", page="p3", app_id="Shop"),
        event("e4", "s4", "2024-01-02 10:00", page="p4", app_id=None),
        event("e5", "s5", "2024-01-02 10:00", page="p5", app_id="blog", useragent=None),
        event("e6", "s6", "2024-01-02 10:00", page="p6", useragent=AHREFS, cookie="robot"),
    )
    result = site.run("2024-01-03 00:00")

    assert result.counts is not None
    assert (result.counts["window_events"], result.counts["window_other_app"]) == (6, 2)
    assert site.rows("page_views", "page_view_id", "engaged_time_in_s", "end_tstamp") == [
        ("p1", 5, "2024-01-02 11:00:00"),
        ("p5", 0, "2024-01-02 10:00:00"),
    ]
    assert site.rows("sessions", "domain_sessionid", "user_id", "stitched_user_id") == [
        ("s1", "anna", None),
        ("s2", None, None),
        ("s5", None, None),
    ]
    assert site.rows("users", "domain_userid", "sessions") == [("cookie", 3)]
    # A bot's session is known, so that its new events are not looked at as new sessions.
    assert [row[0] for row in site.rows("lifecycle", "session_id")] == ["s1", "s2", "s5", "s6"]


def test_what_is_loaded_later_than_the_look_back_comes_with_its_sessions_next_event(
    spark: SparkSession, tmp_path: Path
):
    site = Site(
        spark,
        tmp_path,
        lookback_window_hours=6,
        disabled_models=["user_mapping", "sessions", "users"],
    )
    site.arrive(
        event("e1", "known", "2024-01-02 08:00", page="p1"),
        event("e2", "other", "2024-01-02 20:00", page="p2"),
    )
    site.run("2024-01-02 21:00")
    site.arrive(
        event("e3", "known", "2024-01-02 13:59", page="missed"),
        event("e4", "new", "2024-01-02 14:00", page="just in time"),
    )
    site.run("2024-01-02 22:00")
    assert site.rows("page_views", "page_view_id") == [("just in time",), ("p1",), ("p2",)]

    site.arrive(event("e5", "known", "2024-01-03 10:00", page="p5"))
    site.run("2024-01-03 11:00")
    assert site.rows("page_views", "page_view_id", "page_view_in_session_index") == [
        ("just in time", 1),
        ("missed", 2),
        ("p1", 1),
        ("p2", 1),
        ("p5", 3),
    ]
