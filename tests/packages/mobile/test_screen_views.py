"""screen_views: which events are in it, and how a session's views are numbered."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

from phone_app import app_event, app_events_this_run
from website import Event, at, rows
from windrow.atomic.entity_columns import SCREEN_VIEW
from windrow.packages.mobile.screen_views import COLUMNS, screen_views
from windrow.packages.mobile.settings import MobileSettings
from windrow.tables.frames import frame_of

INDEXES = (
    "session_id",
    "screen_view_id",
    "screen_view_in_session_index",
    "screen_views_in_session",
)


def views(
    spark: SparkSession, *events: Event, nearby: DataFrame | None = None, **options: object
) -> DataFrame:
    settings = MobileSettings(**options)
    stored = frame_of(spark, [], COLUMNS) if nearby is None else nearby
    found = app_events_this_run(spark, events, settings)
    return screen_views(found, stored, settings, at("2024-01-02 00:00"))


def test_an_id_counts_once_where_it_is_earliest(spark: SparkSession) -> None:
    events = [
        app_event("e1", "s1", "2024-01-01 10:00", screen="a"),
        app_event("e2", "s1", "2024-01-01 10:01", screen="b"),
        app_event("e3", "s1", "2024-01-01 10:02", screen="b"),
        app_event("e4", "s2", "2024-01-01 09:59", screen="a"),
        app_event("e5", "s1", "2024-01-01 10:03", screen="c"),
        app_event("e6", "s1", "2024-01-01 10:04", screen=None),
        app_event("e7", "s1", "2024-01-01 10:05", "application_background"),
        {**app_event("e8", "s1", "2024-01-01 10:06"), SCREEN_VIEW.name: None},
    ]
    found = views(spark, *events)
    assert dict(found.dtypes) == dict(COLUMNS)
    assert rows(found.select(*INDEXES)) == [
        ("s1", "b", 1, 2),
        ("s1", "c", 2, 2),
        ("s2", "a", 1, 1),
    ]


def test_an_id_stays_with_the_earlier_session_of_another_run(spark: SparkSession) -> None:
    before = views(spark, app_event("e1", "s1", "2024-01-01 10:00", screen="a")).localCheckpoint()
    later = [
        app_event("e2", "s2", "2024-01-01 11:00", screen="a"),
        app_event("e3", "s2", "2024-01-01 11:01", screen="b"),
    ]
    assert rows(views(spark, *later, nearby=before).select(*INDEXES)) == [("s2", "b", 1, 1)]
    reference = views(spark, *later, nearby=before, compat=True)
    assert rows(reference.select(*INDEXES)) == [("s2", "a", 1, 2), ("s2", "b", 2, 2)]
