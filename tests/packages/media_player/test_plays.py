"""base: what the events of a page view tell of a play."""

from __future__ import annotations

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from media import durations, interactions, media_event, plays, settings
from plan_texts import optimized_plan
from website import Event, events_this_run, rows
from windrow.packages.media_player.base import base
from windrow.packages.media_player.media_durations import media_durations
from windrow.packages.media_player.play_parts import COLUMNS as PART_COLUMNS
from windrow.packages.media_player.play_parts import play_parts
from windrow.packages.media_player.reference_base import reference_base
from windrow.tables.frames import frame_of


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
    every = plays(spark, events, compat=True, valid_play_sec=25).localCheckpoint()
    found = every.where("media_id IS NULL OR page_view_id IS NULL")
    assert rows(found.select("page_view_id", "media_id")) == [("page", None), (None, "film")]
    # There too a valid play is longer than the threshold.
    longer = every.where("page_view_id IN ('quarter', 'seeks')")
    assert rows(longer.select("page_view_id", "is_valid_play")) == [
        ("quarter", False),
        ("seeks", True),
    ]


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
    whole = [("s1", "Old", 35, 1, 0.1, "10,50", 200.0, "2024-01-10 12:02:00")]
    assert rows(found) == whole
    # Of two runs the second has the part of the first session at hand.
    nothing = frame_of(spark, [], PART_COLUMNS)
    every = interactions(split).localCheckpoint()
    first, second = (every.where(F.col("domain_sessionid") == it) for it in ("s1", "s2"))
    stored = play_parts(first, nothing, nothing).localCheckpoint()
    together = play_parts(second, stored, nothing).localCheckpoint()
    assert rows(base(together, durations(together), settings()).select(*COLUMNS)) == whole


def test_in_the_reference_it_loses_all_but_its_first_part(spark: SparkSession, split):
    found = rows(plays(spark, split, compat=True).select("play_id", *COLUMNS))
    # The label changes with the second event already.
    assert found == [(found[0][0], "s1", "Old", 0, 0, 0.5, None, 200.0, "2024-01-10 10:00:00")]
    # A later run with the second session alone has a row of the same key, of that part.
    of_second = plays(spark, split.where("domain_sessionid = 's2'"), compat=True)
    assert rows(of_second.select("play_id", *COLUMNS[:2])) == [(found[0][0], "s2", "New")]


def test_a_duration_is_the_greatest_ever_told_and_in_the_reference_of_the_run(
    spark: SparkSession,
):
    def part(page: str, duration: float, media: str = "film") -> list[object]:
        known = {
            **{"play_id": page, "page_view_id": page, "media_id": media, "progress": []},
            **{"start_tstamp": day("10:00"), "duration": duration, "domain_sessionid": page},
        }
        return [known.get(name) for name in PART_COLUMNS]

    def parts(*found: list[object]) -> DataFrame:
        return frame_of(spark, found, PART_COLUMNS)

    def told(new: DataFrame, before: DataFrame, known: DataFrame) -> DataFrame:
        run = new.select(F.col("domain_sessionid").alias("session_id"))
        after = before.join(new.select("play_id"), "play_id", "left_anti").union(new)
        return media_durations(new, run, 9, before, after, known)

    stored = parts(part("p1", 200.0), part("p2", 150.0), part("p3", 70.0, "song"))
    known = durations(stored).localCheckpoint()
    assert rows(known) == [("film", 200.0), ("song", 70.0)]
    # A shorter one changes nothing; a longer one does; new media are known from then on.
    new = parts(part("p4", 100.0), part("p5", 80.0, "song"), part("p6", 30.0, "talk"))
    now = told(new, stored, known)
    assert rows(now) == [("film", 200.0), ("song", 80.0), ("talk", 30.0)]
    assert rows(base(new, now, settings()).select("page_view_id", "duration")) == [
        *(("p4", 200.0), ("p5", 80.0), ("p6", 30.0))
    ]
    # Where who told the greatest takes it back, what the others told counts.
    assert rows(told(parts(part("p1", 90.0)), stored, known)) == [("film", 150.0)]
    # The reference's model sees nothing that is stored: it goes by the events of the run.
    assert not reference_base.stored_parents


def test_stored_plays_learn_how_long_their_media_last(spark: SparkSession):
    durations = {"media_id": "string", "duration": "double"}
    known = {"play_id": "string", "start_tstamp_date": "date", "play_time_sec": "bigint"}
    plays = [("film", 200.0, "p1", "2024-01-09", 100), ("song", 70.0, "p2", "2024-01-09", 70)]
    stored = frame_of(spark, plays, {**durations, **known})
    before = frame_of(spark, [("film", 200.0), ("song", 70.0)], durations)
    longer = frame_of(spark, [("film", 300.0), ("song", 70.0), ("talk", 10.0)], durations)
    same = frame_of(spark, [("film", 200.0), ("talk", 10.0)], durations)
    columns = ("play_id", "duration", "is_complete_play")

    for known_before in (before, None):
        amended = base.amend(longer, settings(), 9, stored, known_before)
        assert rows(amended.select(*columns)) == [("p1", 300.0, False)]
    assert "p1" not in optimized_plan(base.amend(same, settings(), 9, stored, before))
    # The reference has no such step.
    assert reference_base.amend is None


def test_of_two_events_at_one_time_the_lesser_id_describes_the_play(spark: SparkSession):
    events = events_this_run(
        spark,
        [
            media_event("2", "s", day("10:00"), label="second"),
            media_event("1", "s", day("10:00"), label="first"),
        ],
    )
    assert rows(plays(spark, events).select("media_label")) == [("first",)]
