"""Users that are carried on from their stored rows are what all their sessions add up to."""

from __future__ import annotations

import random
from datetime import timedelta
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from website import at, rows
from windrow.models.parts.users import Changed, Summary, Visits
from windrow.tables.frames import frame_of

COLUMNS = {
    **{"session": "string", "user": "string", "start_tstamp": "timestamp"},
    **{"end_tstamp": "timestamp", "came_from": "string", "left_at": "string", "views": "bigint"},
}
SUMMARY = Summary(
    user="user",
    session="session",
    of_first={"first_from": "came_from"},
    of_last={"last_left_at": "left_at"},
    totals={"all_views": "views"},
    days="active_days",
)
Session = dict[str, Any]


def session(draw: random.Random, user: str, number: int) -> Session:
    """On one of few moments, so that sessions often begin or end together."""
    start = at("2024-01-01") + timedelta(hours=12 * draw.randrange(8))
    return {
        "session": f"{user}-{number}",
        "user": user,
        "start_tstamp": f"{start:%Y-%m-%d %H:%M:%S}",
        "end_tstamp": f"{start + timedelta(hours=draw.randrange(1, 20)):%Y-%m-%d %H:%M:%S}",
        "came_from": draw.choice(["search", "mail", None]),
        "left_at": draw.choice(["home", "cart"]),
        "views": draw.choice([None, 0, 1, 5]),
    }


def changed(draw: random.Random, was: Session, users: list[str]) -> Session | None:
    """What a run can make of a session: longer, shorter, moved, another's, gone, or as it was."""
    user, number = was["session"].split("-")
    again = session(draw, user, int(number))
    return draw.choice(
        [
            was,
            was,
            {**was, "end_tstamp": again["end_tstamp"], "left_at": again["left_at"]},
            {**was, "start_tstamp": again["start_tstamp"], "came_from": again["came_from"]},
            {**was, "views": again["views"]},
            {**was, "user": draw.choice(users)},
            again,
            None,
        ]
    )


@pytest.mark.parametrize("seed", range(3))
def test_whatever_changes_the_row_is_what_all_sessions_add_up_to(spark: SparkSession, seed: int):
    draw = random.Random(seed)
    users = [f"u{number:03d}" for number in range(300)]
    before = [session(draw, user, n) for user in users for n in range(draw.randrange(4))]
    of_run = [it for it in before if draw.random() < 0.5]
    kept = [it for it in before if it not in of_run]
    after = [new for it in of_run if (new := changed(draw, it, users)) is not None]
    after += [session(draw, draw.choice(users), number) for number in range(100, 200)]
    touched = sorted({it["user"] for it in (*of_run, *after)})

    def frame(sessions: list[Session]) -> DataFrame:
        return frame_of(spark, [[it[name] for name in COLUMNS] for it in sessions], COLUMNS)

    asked: list[str] = []

    def sessions_of(some: DataFrame) -> DataFrame:
        asked.extend(row["user"] for row in some.collect())
        return frame([*kept, *after]).join(some, "user", how="left_semi")

    given = Changed(
        known=SUMMARY.of(frame(before)).where("user in ('{}')".format("','".join(touched))),
        before=frame(of_run),
        after=frame(after),
        beside=frame([it for it in kept if it["user"] in touched]),
    )
    who = frame_of(spark, [[user] for user in touched], {"user": "string"})
    carried = SUMMARY.of_users(Visits(who, given, sessions_of))
    anew = SUMMARY.of(frame([it for it in (*kept, *after) if it["user"] in touched]))
    assert rows(carried.select(sorted(anew.columns))) == rows(anew.select(sorted(anew.columns)))
    # Most are carried on; those that cannot be are there, too.
    assert 0 < len(asked) < len(touched) / 2


def test_a_longer_visit_and_a_new_one_are_carried_on(spark: SparkSession):
    old = {"session": "a-1", "user": "a", "start_tstamp": "2021-01-01 10:00:00"}
    old |= {"end_tstamp": "2021-01-01 11:00:00", "came_from": "search", "left_at": "home"}
    going_on = {**old, "session": "a-2", "start_tstamp": "2024-01-01 10:00:00"}
    going_on |= {"end_tstamp": "2024-01-01 10:10:00", "came_from": "mail", "views": 1}
    longer = {**going_on, "end_tstamp": "2024-01-01 10:20:00", "left_at": "cart", "views": 3}
    new = {**longer, "session": "b-1", "user": "b"}

    def frame(*sessions: Session) -> DataFrame:
        return frame_of(spark, [[it.get(name) for name in COLUMNS] for it in sessions], COLUMNS)

    def nobody(some: DataFrame) -> DataFrame:
        raise AssertionError(f"made of all sessions: {some.collect()}")

    given = Changed(
        known=SUMMARY.of(frame({**old, "views": 7}, going_on)),
        before=frame(going_on),
        after=frame(longer, new),
        beside=frame(),
    )
    who = frame_of(spark, [["a"], ["b"]], {"user": "string"})
    found = SUMMARY.of_users(Visits(who, given, nobody))
    shown = ("user", "sessions", "all_views", "active_days", "first_from", "last_left_at")
    assert rows(found.select(*shown)) == [
        ("a", 2, 10, 2, "search", "cart"),
        ("b", 1, 3, 1, "mail", "cart"),
    ]
