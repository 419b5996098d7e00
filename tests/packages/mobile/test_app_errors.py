"""app_errors: what is in it, and its columns with and without `compat`."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

from phone_app import app_event, app_events_this_run
from website import at, rows
from windrow.atomic.entity_columns import APPLICATION_ERROR, SCREEN
from windrow.packages.mobile.app_errors import app_errors, columns
from windrow.packages.mobile.settings import MobileSettings

FAILURE = {
    **dict.fromkeys(APPLICATION_ERROR.fields),
    "message": "no network",
    "is_fatal": True,
    "line_number": 7,
    "thread_id": 2**40,
    "file_name": "Main.kt",
}
ON_SCREEN = {**dict.fromkeys(SCREEN.fields), "id": "sc", "name": "home"}


def errors(spark: SparkSession, **options: object) -> DataFrame:
    settings = MobileSettings(enable_app_errors_module=True, **options)
    columns_of_error = {APPLICATION_ERROR.name: FAILURE, SCREEN.name: [ON_SCREEN]}
    events = [
        app_event("e1", "s1", "2024-01-01 10:00", screen="a"),
        app_event("e2", "s1", "2024-01-01 10:01", "application_error", **columns_of_error),
    ]
    found = app_events_this_run(spark, events, settings)
    return app_errors(found, settings, at("2024-01-02 00:00"))


def test_an_error_is_spelled_out_with_its_place_in_the_session(spark: SparkSession) -> None:
    found = errors(spark, enable_screen_context=True)
    assert dict(found.dtypes) == dict(columns(MobileSettings()))
    names = ("event_id", "session_id", "event_index_in_session", "screen_id", "screen_name")
    assert rows(found.select(*names)) == [("e2", "s1", 2, "sc", "home")]
    fields = ("message", "is_fatal", "line_number", "thread_id", "file_name")
    assert rows(found.select(*fields)) == [("no network", True, 7, 2**40, "Main.kt")]


def test_the_reference_has_fewer_columns_and_no_room_for_long_thread_ids(
    spark: SparkSession,
) -> None:
    found = errors(spark, compat=True)
    assert len(found.columns) == 64
    assert found.columns[-2:] == ["thread_name", "derived_tstamp_date"]
    assert dict(found.dtypes)["thread_id"] == "int"
    assert rows(found.select("event_id", "thread_id", "screen_name")) == [("e2", None, None)]


def test_no_check_asks_for_a_screen() -> None:
    asked = {name for check in app_errors.all_checks for name in check.columns}
    assert not {name for name in asked if name.startswith("screen_")}
