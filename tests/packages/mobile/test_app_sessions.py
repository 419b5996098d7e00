"""sessions: first and last event, installs, errors, the entities and the stitched id."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from phone_app import NOBODY, app_event, app_events_this_run
from website import Event, at, rows
from windrow.atomic.entity_columns import (
    APPLICATION,
    APPLICATION_ERROR,
    GEOLOCATION,
    MOBILE_CONTEXT,
)
from windrow.models.hooks import Hooks
from windrow.packages.mobile.screen_views import COLUMNS as SCREEN_VIEW_COLUMNS
from windrow.packages.mobile.screen_views import screen_views
from windrow.packages.mobile.sessions import COLUMNS, sessions
from windrow.packages.mobile.settings import MobileSettings
from windrow.packages.mobile.user_mapping import COLUMNS as MAPPING
from windrow.tables.frames import frame_of

NOW = at("2024-01-02 00:00")


def made(
    spark: SparkSession, *events: Event, known: dict[str, str] | None = None, **options: Any
) -> DataFrame:
    settings = MobileSettings(**options)
    found = app_events_this_run(spark, events, settings)
    shown = screen_views(found, frame_of(spark, [], SCREEN_VIEW_COLUMNS), settings, NOW)
    mapping = frame_of(spark, [(d, u, None) for d, u in (known or {}).items()], MAPPING)
    return sessions(found, shown, settings, Hooks(), NOW, mapping).localCheckpoint()


def entity(column: Any, **values: Any) -> Any:
    return {column.name: [{**dict.fromkeys(column.fields), **values}]}


def failure(*, is_fatal: bool | None) -> dict[str, Any]:
    return {
        APPLICATION_ERROR.name: {**dict.fromkeys(APPLICATION_ERROR.fields), "is_fatal": is_fatal}
    }


@pytest.fixture(scope="module", params=[False, True], ids=["ours", "compat"])
def described(spark: SparkSession, request: pytest.FixtureRequest) -> DataFrame:
    """One session with all that can be switched on, and three that have little."""
    phone = entity(MOBILE_CONTEXT, os_type="ios", carrier="Orange")
    other = entity(MOBILE_CONTEXT, os_type="android", carrier="Vodafone")
    return made(
        spark,
        app_event(
            *("e1", "s1", "2024-01-01 10:00:00.900", "application_install"),
            **(phone | entity(APPLICATION, build="1", version="1.0")),
            **entity(GEOLOCATION, latitude=85115246.025),
        ),
        app_event("e2", "s1", "2024-01-01 10:00:01", screen="a", user_id="anna", **other),
        app_event("e3", "s1", "2024-01-01 10:00:02", screen="b", screen_name="a"),
        app_event("e4", "s1", "2024-01-01 10:00:03", "application_error", **failure(is_fatal=True)),
        app_event(
            *("e5", "s1", "2024-01-01 10:00:03.100", "application_error"),
            **(failure(is_fatal=None) | entity(APPLICATION, build="2", version="1.1")),
        ),
        app_event("f1", "s2", "2024-01-01 11:00", "application_error", **failure(is_fatal=False)),
        app_event("g1", "s3", "2024-01-01 12:00", screen="c", **{MOBILE_CONTEXT.name: []}),
        {**app_event("h1", "s4", "2024-01-01 13:00"), "event_name": None},
        enable_mobile_context=True,
        enable_application_context=True,
        enable_geolocation_context=True,
        enable_app_errors_module=True,
        compat=request.param,
    )


def test_types_are_those_declared(described: DataFrame) -> None:
    assert dict(described.dtypes) == dict(COLUMNS)


def test_dimensions_are_the_first_events_even_where_it_knows_nothing(described: DataFrame) -> None:
    names = ("session_id", "os_type", "carrier", "user_id", "device_latitude", "session_index")
    assert rows(described.select(*names)) == [
        ("s1", "ios", "Orange", None, 85115246.025, 3),
        ("s2", None, None, None, None, 3),
        ("s3", None, None, None, None, 3),
        ("s4", None, None, None, None, 3),
    ]


def test_first_and_last_are_told_apart(described: DataFrame) -> None:
    ends = ("session_last_event_id", "first_event_name", "last_event_name")
    versions = ("first_build", "last_build", "first_version", "last_version")
    one = described.where("session_id = 's1'")
    assert rows(one.select(*ends, *versions)) == [
        ("e5", "application_install", "application_error", "1", "2", "1.0", "1.1")
    ]
    assert rows(one.select("session_duration_s", "session_first_event_id")) == [(3, "FIRST")]


def test_counts_are_null_where_there_is_nothing_to_count(described: DataFrame) -> None:
    counts = ("screen_views", "screen_names_viewed", "app_errors", "fatal_app_errors")
    assert rows(described.select("session_id", "has_install", *counts)) == [
        ("s1", True, 2, 1, 2, 1),
        ("s2", False, None, None, 1, 0),
        ("s3", False, 1, 1, None, None),
        ("s4", None, None, None, None, None),
    ]


def test_what_is_switched_off_is_null_and_not_read(spark: SparkSession) -> None:
    failed = app_event(
        "e1", "s1", "2024-01-01 10:00", "application_error", **failure(is_fatal=True)
    )
    phone = entity(MOBILE_CONTEXT, os_type="ios")
    found = made(spark, {**failed, **phone})
    assert rows(found.select("app_errors", "fatal_app_errors", "os_type")) == [(None, None, None)]
    assert not {APPLICATION_ERROR.name, MOBILE_CONTEXT.name} & {
        *(sessions.event_columns_for(MobileSettings()) or ()),
    }


def test_a_hidden_device_is_stitched_to_nobody(spark: SparkSession) -> None:
    events = [
        app_event("e1", "s1", "2024-01-01 10:00", device="d1"),
        app_event("e2", "s2", "2024-01-01 10:00", device="d2"),
        app_event("e3", "s3", "2024-01-01 10:00", device=NOBODY),
    ]
    names = ("session_id", "stitched_user_id", "device_user_id")
    assert rows(made(spark, *events, known={"d1": "anna"}).select(*names)) == [
        ("s1", "anna", "d1"),
        ("s2", "d2", "d2"),
        ("s3", None, NOBODY),
    ]
    reference = made(spark, events[2], known={NOBODY: "ben"}, compat=True)
    assert rows(reference.select(*names)) == [("s3", "ben", NOBODY)]
    off = made(spark, events[0], known={"d1": "anna"}, session_stitching=False)
    assert rows(off.select(*names)) == [("s1", None, "d1")]
