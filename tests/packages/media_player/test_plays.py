"""base: what the events of a page view tell of a play."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from media import media_event, plays
from website import Event, events_this_run, rows


def day(time: str) -> str:
    return f"2024-01-10 {time}"


def progress(event_id: str, time: str, percent: int, **more: object) -> Event:
    return media_event(event_id, "s", day(time), "percentprogress", percent=percent, **more)


@pytest.fixture(scope="module")
def events(spark: SparkSession):
    """Plays, each on a page view of its own name."""
    return events_this_run(
        spark,
        [
            # Played, sought after 25 percent, replayed from there.
            media_event("a1", "s", day("10:00"), page="seeks", duration=None, rate=2.0),
            progress("a2", "10:01", 10, page="seeks", rate=2.0),
            progress("a3", "10:02", 25, page="seeks", rate=1.0),
            media_event("a4", "s", day("10:02:30"), "seek", page="seeks", rate=4.0),
            progress("a5", "10:03", 25, page="seeks", rate=1.0),
            progress("a6", "10:04", 60, page="seeks", rate=1.0),
            # Only shown.
            media_event("b1", "s", day("11:00"), "ready", page="shown", rate=1.5),
            media_event("b2", "s", day("11:01"), "ready", page="shown", rate=0.5),
            # To the end.
            media_event("c1", "s", day("12:00"), page="whole", element="song"),
            *(
                progress(f"c{percent}", "12:01", percent, page="whole", element="song", muted=True)
                for percent in (10, 25, 50, 75)
            ),
            media_event("c9", "s", day("12:02"), "ended", page="whole", element="song"),
            # Exactly 25 seconds of 100, and of unknown media and page views nothing.
            media_event("d1", "s", day("13:00"), page="quarter", element="short"),
            progress("d2", "13:01", 10, page="quarter", element="short"),
            progress("d3", "13:01", 25, page="quarter", element="short"),
            media_event("e1", "s", day("14:00"), youtube=None),
            media_event("e2", "s", day("14:00"), page=None),
        ],
    )


def test_a_play_has_time_rate_progress_and_retention(spark: SparkSession, events):
    found = plays(spark, events, valid_play_sec=25).select(
        *("page_view_id", "play_time_sec", "play_time_sec_muted", "is_played", "is_valid_play"),
        *("is_complete_play", "avg_playback_rate", "retention_rate", "seeks"),
        *("percent_progress_reached", "duration"),
    )
    assert rows(found) == [
        ("quarter", 25, 0, True, False, False, 1.0, 0.25, 0, "10,25", 100.0),
        # 10 seconds at double speed and 30 at normal speed.
        ("seeks", 40, 0, True, True, False, 1.25, 0.25, 1, "10,25,25,60", 100.0),
        ("shown", 0, 0, False, False, False, 1.5, 0.0, 0, None, 100.0),
        ("whole", 100, 75, True, True, True, 1.0, 1.0, 0, "10,25,50,75,100", 100.0),
    ]


def test_in_the_reference_unknown_media_share_a_play(spark: SparkSession, events):
    found = plays(spark, events, compat=True).where("media_id IS NULL OR page_view_id IS NULL")
    assert rows(found.select("page_view_id", "media_id")) == [("page", None), (None, "film")]


@pytest.fixture(scope="module")
def split(spark: SparkSession):
    """A page view that goes on in another session, with another label, and seeks there."""
    return events_this_run(
        spark,
        [
            media_event("1", "s1", day("10:00"), label="Old"),
            media_event("2", "s1", day("10:01"), "percentprogress", percent=10),
            media_event("3", "s2", day("12:00"), "play", label="New", duration=200),
            media_event("4", "s2", day("12:01"), "seek"),
            media_event("5", "s2", day("12:02"), "percentprogress", percent=50, rate=None),
        ],
    )


COLUMNS = (
    *("domain_sessionid", "media_label", "play_time_sec", "seeks", "retention_rate"),
    *("percent_progress_reached", "duration", "end_tstamp"),
)


def test_a_play_that_goes_on_in_another_session_is_whole(spark: SparkSession, split):
    found = plays(spark, split).select(*COLUMNS)
    assert rows(found) == [("s1", "Old", 35, 1, 0.1, "10,50", 200.0, "2024-01-10 12:02:00")]


def test_in_the_reference_it_loses_all_but_its_first_part(spark: SparkSession, split):
    found = plays(spark, split, compat=True).select(*COLUMNS)
    # The label changes with the second event already.
    assert rows(found) == [("s1", "Old", 0, 0, 0.5, None, 200.0, "2024-01-10 10:00:00")]


def test_of_two_events_at_one_time_the_lesser_id_describes_the_play(spark: SparkSession):
    events = events_this_run(
        spark,
        [
            media_event("2", "s", day("10:00"), label="second"),
            media_event("1", "s", day("10:00"), label="first"),
        ],
    )
    assert rows(plays(spark, events).select("media_label")) == [("first",)]
