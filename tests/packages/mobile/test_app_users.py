"""user_mapping and users: the latest id of a device, and the sum of its sessions."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from phone_app import NOBODY, app_event, app_events_this_run
from website import at, rows
from windrow.models.parts.users import Visits
from windrow.packages.mobile.sessions import COLUMNS as SESSION_COLUMNS
from windrow.packages.mobile.settings import MobileSettings
from windrow.packages.mobile.user_mapping import COLUMNS as MAPPING
from windrow.packages.mobile.user_mapping import user_mapping
from windrow.packages.mobile.users import COLUMNS, users
from windrow.tables.frames import frame_of


def mapped(spark: SparkSession, **options: Any) -> list[tuple[Any, ...]]:
    settings = MobileSettings(**options)
    events = [
        app_event("e1", "s1", "2024-01-01 10:00", device="d1", user_id="anna"),
        app_event("e2", "s1", "2024-01-01 11:00", device="d1", user_id="ben"),
        app_event("e3", "s1", "2024-01-01 12:00", device="d1"),
        app_event("e4", "s2", "2024-01-01 10:00", device="d2", user_id="carl"),
        app_event("e5", "s3", "2024-01-01 10:00", device=NOBODY, user_id="dora"),
        app_event("e6", "s4", "2024-01-01 10:00", device=None, user_id="emil"),
    ]
    known = frame_of(spark, [("d2", "old", "2024-01-01 10:00:01")], MAPPING)
    return rows(user_mapping(app_events_this_run(spark, events, settings), settings, known))


def test_the_latest_id_of_a_device_counts_and_is_not_taken_back(spark: SparkSession) -> None:
    latest = ("d1", "ben", "2024-01-01 11:00:00")
    assert mapped(spark) == [latest]
    carl, dora = ("d2", "carl", "2024-01-01 10:00:00"), (NOBODY, "dora", "2024-01-01 10:00:00")
    assert mapped(spark, merge_anonymous_devices=True) == [dora, latest]
    assert mapped(spark, compat=True) == [dora, latest, carl]


def summed(spark: SparkSession, *sessions: dict[str, Any], **options: Any) -> DataFrame:
    stored = [[session.get(name) for name in SESSION_COLUMNS] for session in sessions]
    frame = frame_of(spark, stored, SESSION_COLUMNS)
    visits = Visits(frame, None, lambda _: frame)
    return users(visits, MobileSettings(**options), at("2024-01-09 00:00")).localCheckpoint()


@pytest.mark.parametrize("compat", [False, True])
def test_a_user_is_the_sum_of_the_sessions(spark: SparkSession, compat: bool) -> None:
    first = {
        **{"session_id": "a", "device_user_id": "d1", "network_userid": "n", "carrier": "Orange"},
        **{"start_tstamp": "2024-01-01 10:00:00", "end_tstamp": "2024-01-01 10:05:00"},
        **{"session_duration_s": 300, "screen_views": 3, "screen_names_viewed": 2},
        **{"os_version": "16", "first_screen_view_name": "home", "last_screen_view_name": "x"},
    }
    # Starts with the other one: the greater id is the first session.
    twin = {**first, "session_id": "b", "carrier": None, "screen_views": None, "app_errors": 2}
    last = {
        **{"session_id": "c", "device_user_id": "d1", "user_id": "anna", "os_version": "17"},
        **{"start_tstamp": "2024-01-03 10:00:00", "end_tstamp": "2024-01-03 10:00:01"},
        **{"session_duration_s": 1, "screen_names_viewed": 2, "last_screen_view_name": "cart"},
    }
    hidden = {**last, "session_id": "d", "device_user_id": NOBODY}
    found = summed(spark, first, twin, last, hidden, compat=compat)
    assert dict(found.dtypes) == dict(COLUMNS)
    # Whoever hides the device is nobody; in the reference all of them are one.
    devices = [row[0] for row in rows(found.select("device_user_id"))]
    assert devices == ([NOBODY, "d1"] if compat else ["d1"])
    one = found.where("device_user_id = 'd1'")
    totals = ("sessions", "sessions_duration_s", "active_days", "screen_views")
    assert rows(one.select("device_user_id", "user_id", *totals)) == [("d1", None, 3, 601, 2, 3)]
    assert rows(one.select("screen_names_viewed", "app_errors", "fatal_app_errors")) == [
        (6, 2, None)
    ]
    ends = ("first_screen_view_name", "last_screen_view_name", "first_os_version")
    assert rows(one.select(*ends, "last_os_version", "first_carrier", "last_carrier")) == [
        ("home", "cart", "16", "17", None, None)
    ]
