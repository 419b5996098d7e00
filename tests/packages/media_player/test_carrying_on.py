"""media_totals carried on from run to run, against totals that are made of all plays."""

from __future__ import annotations

import random
from datetime import timedelta
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from website import at, rows
from windrow.packages.media_player.base import COLUMNS as BASE
from windrow.packages.media_player.media_totals import media_totals, totals
from windrow.tables.frames import frame_of

DURATIONS = {"media_id": "string", "duration": "double"}
MEDIA = 300


def play(draw: random.Random, media: int, play_id: str, session: str) -> dict[str, Any]:
    # A few minutes to choose from, so that first and last plays tie and come back.
    start = at("2024-01-10") + timedelta(minutes=draw.randrange(6))
    is_played = draw.random() < 0.7
    percents = sorted(draw.choices((10, 25, 33, 50, 75, 100), k=draw.randrange(4)))
    return {
        **{"play_id": play_id, "page_view_id": play_id, "media_id": f"m{media}"},
        **{"domain_sessionid": session, "start_tstamp": f"{start:%Y-%m-%d %H:%M:%S}"},
        **{"media_label": draw.choice(["Old", "New", None]), "media_type": "video"},
        **{"duration": 100.0, "is_played": is_played},
        **{"play_time_sec": draw.choice((0, 10, 25, 40))},
        **{"retention_rate": draw.choice((0, 0.1, 0.25, 0.33))},
        **{"avg_playback_rate": draw.choice((None, 1.0, 1.1, 4 / 3))},
        **{"percent_progress_reached": ",".join(map(str, percents)) or None},
    }


@pytest.fixture(scope="module")
def change(spark: SparkSession) -> tuple[DataFrame, DataFrame, DataFrame]:
    """Plays of many media as they were, those that a run brings, and as they are then.

    A third of the media have one session, so that the run replaces all that was known of them.
    """
    draw = random.Random("media")
    before, brought, kept = [], [], []
    for media in range(MEDIA):
        sessions = [f"s{media}-{n}" for n in range(draw.choice((1, 2, 4)))]
        stored = [
            play(draw, media, f"p{media}-{n}", draw.choice(sessions))
            for n in range(draw.randrange(6))
        ]
        for it in stored:
            if it["domain_sessionid"] != sessions[0]:
                kept.append(it)
            elif (fate := draw.random()) < 0.3:
                # The play is as it was.
                brought.append(it)
            elif fate < 0.7:
                brought.append(play(draw, media, it["play_id"], sessions[0]))
        new = range(draw.choice((0, 0, 1, 2)))
        brought += [play(draw, media, f"new{media}-{n}", sessions[0]) for n in new]
        before += stored

    def frame(plays: list[dict[str, Any]]) -> DataFrame:
        found = [[it.get(name) for name in BASE] for it in plays]
        return frame_of(spark, found, BASE).localCheckpoint()

    return frame(before), frame(brought), frame([*kept, *brought])


def test_totals_that_are_carried_on_equal_those_of_all_plays(change):
    before, brought, after = change
    known = totals(before).localCheckpoint()
    run = brought.sparkSession.range(MEDIA).select(
        F.format_string("s%d-0", "id").alias("session_id")
    )
    durations = brought.select("media_id", F.lit(100.0).alias("duration")).distinct()
    found = media_totals(brought, durations, run, 9999, before, after, known, known)
    carried = {row[0]: row[1:] for row in rows(found)}
    expected = {row[0]: row[1:] for row in rows(totals(after))}
    was = {row[0]: row[1:] for row in rows(known)}

    assert {it: carried.get(it, was.get(it)) for it in expected} == expected
    # What the run did not touch is not written, and what has lost every play has nothing left.
    assert 100 < len(carried) < len({*was, *expected})
    gone = [carried[media] for media in {*was} - {*expected}]
    assert gone
    names = found.columns[1:]
    assert {(it[names.index("impressions")], it[names.index("latest")]) for it in gone} == {
        (0, None)
    }


def test_where_who_knows_what_was_all_plays_are_read(change, spark: SparkSession):
    before, brought, after = change
    durations = frame_of(spark, [], DURATIONS)
    nothing = brought.limit(0).select(F.lit("s").alias("session_id"))
    known = totals(before).localCheckpoint()
    found = media_totals(brought, durations, nothing, 9, before.limit(0), after, known, None)
    every = {row[0]: row[1:] for row in rows(found)}
    expected = {row[0]: row[1:] for row in rows(totals(after))}
    assert {it: every[it] for it in expected} == expected
    assert {*every} == {*expected} | {row[0] for row in rows(known)}
