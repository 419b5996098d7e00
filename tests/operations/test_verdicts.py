"""What explain makes of facts: one plain sentence. No Spark."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pytest

from website import at
from windrow.operations.explain.values import (
    Explanation,
    Fate,
    Kind,
    QuarantineNote,
    SessionFacts,
    Stretch,
    TableRows,
)
from windrow.operations.explain.verdict import verdict_on
from windrow.packages.web.settings import WebSettings
from windrow.state.covering import not_taken_back
from windrow.state.runs import Outcome, RunRecord

REACHED = at("2024-01-10 12:00")
SETTINGS = WebSettings(start_date=date(2024, 1, 1))
LOOKED_AT = Stretch(at("2024-01-10 00:00"), at("2024-01-11 00:00"), "the days since the look-back")


def run(run_id: str, began: str, outcome: Outcome = Outcome.SUCCEEDED, **more: Any) -> RunRecord:
    ended = at(began) + timedelta(minutes=5)
    return RunRecord(
        run_id=run_id,
        package="web",
        outcome=outcome,
        started_at=at(began),
        finished_at=ended,
        **more,
    )


def told(kind: Kind = Kind.EVENT, rows: int = 0, **facts: Any) -> Explanation:
    """One event, collected and taken in as usual, but for these facts."""
    usual = {
        **{"events": 1, "taken": 1, "begins_row": True},
        **dict.fromkeys(("first_collected", "last_collected"), at("2024-01-10 10:00")),
        **dict.fromkeys(("start", "end"), at("2024-01-10 10:00")),
    }
    session = SessionFacts("s", **{**usual, **facts})
    return Explanation(
        *(kind, "x", "web", "dev", REACHED, REACHED),
        row_per="one row per session with a page view or ping",
        looked_at=LOOKED_AT,
        sessions=(session,),
        runs=(run("r2", "2024-01-11 00:00"), run("r1", "2024-01-10 00:00")),
        tables=(TableRows("derived.page_views", "event_id", "x", rows),),
    )


UNKNOWN: dict[str, Any] = {"start": None, "end": None}
SESSION = Kind.SESSION
NOTE = QuarantineNote("by_hand", at("2024-01-08 00:00"), "r0")


@pytest.mark.parametrize(
    ("found", "fate", "sentence"),
    [
        (
            told(rows=1),
            Fate.IN_TABLES,
            "Event x is in the tables: page_views; last processed by run r2, 2024-01-11 00:05:00.",
        ),
        (
            told(taken=0, left_out={"bot": 1, "too_late": 1}),
            Fate.LEFT_OUT,
            "Event x is left out by web: its user agent is a bot's (ua_bot_filter) and it was sent "
            "more than 3 days after it was made (days_late_allowed).",
        ),
        (
            told(SESSION, events=6, taken=0, left_out={"bot": 6}),
            Fate.LEFT_OUT,
            "Session x is left out by web: each of its 6 events is, because its user agent is a "
            "bot's (ua_bot_filter).",
        ),
        (
            told(SESSION, events=3, taken=0, left_out={"bot": 1, "absurd_time": 2}),
            Fate.LEFT_OUT,
            "Session x is left out by web: of its 3 events, 1 whose user agent is a bot's "
            "(ua_bot_filter) and 2 at an unknown or absurd time.",
        ),
        (
            told(SESSION, rows=2, events=9, taken=8, left_out={"past_cap": 1}, is_quarantined=True),
            Fate.IN_TABLES,
            "Session x is in the tables: page_views; last processed by run r2, 2024-01-11 00:05:00."
            " Of 9 events that were found, these are left out: 1 more than 3 days after the "
            "session began (max_session_days). It is quarantined: later events of it are left out.",
        ),
        (
            told(
                SESSION, events=2, taken=0, left_out={"copy_elsewhere": 2}, first_copies_in=("y",)
            ),
            Fate.LEFT_OUT,
            "Session x is left out by web: each of its 2 events is, because it is a copy of the "
            "same event in session y, which came first.",
        ),
        (
            told(
                *(SESSION, 1),
                **{"events": 9, "taken": 6, "left_out": {"copy_elsewhere": 2, "bot": 1}},
                first_copies_in=("y", "z"),
            ),
            Fate.IN_TABLES,
            "Session x is in the tables: page_views; last processed by run r2, 2024-01-11 00:05:00."
            " Of 9 events that were found, these are left out: 2 whose first copy is in another "
            "session and 1 whose user agent is a bot's (ua_bot_filter).",
        ),
        (
            told(SESSION, **UNKNOWN, is_quarantined=True, quarantine=NOTE),
            Fate.LEFT_OUT,
            "Session x is left out by web: it is quarantined since 2024-01-08 00:00:00, by run r0, "
            "as someone put it in by hand, and takes in no more events.",
        ),
        (
            told(SESSION, **UNKNOWN, is_quarantined=True),
            Fate.LEFT_OUT,
            "Session x is left out by web: it is quarantined, and takes in no more events.",
        ),
        (
            replace(
                told(last_collected=at("2024-01-10 11:00"), is_quarantined=True),
                tables=(TableRows("derived.sessions", "domain_sessionid", "s", 1),),
            ),
            Fate.LEFT_OUT,
            "Event x is left out by web: its session is quarantined, and takes in no more events.",
        ),
        (
            told(**UNKNOWN, last_collected=at("2023-12-31 10:00")),
            Fate.LEFT_OUT,
            "Event x is left out by web: collected 2023-12-31 10:00:00, before start_date, "
            "2024-01-01.",
        ),
        (
            told(**UNKNOWN, last_collected=at("2024-01-10 13:00")),
            Fate.WAITING,
            "Event x waits: collected 2024-01-10 13:00:00, and models have come to "
            "2024-01-10 12:00:00. The next runs take it in.",
        ),
        (
            told(**UNKNOWN, last_loaded=at("2024-01-12 00:00")),
            Fate.WAITING,
            "Event x waits: collected 2024-01-10 10:00:00, loaded 2024-01-12 00:00:00, after the "
            "last run, and within its look-back. The next run takes it in.",
        ),
        (
            told(
                first_collected=at("2024-01-09 10:00"),
                last_collected=at("2024-01-09 10:00"),
                last_loaded=at("2024-01-12 00:00"),
            ),
            Fate.MISSED,
            "Event x was missed by web: collected 2024-01-09 10:00:00, loaded 2024-01-12 00:00:00, "
            "when runs had consumed that time (lookback_window_hours is 6). `windrow rerun "
            "--from 2024-01-09 --to 2024-01-10` takes it in.",
        ),
        (
            replace(
                told(**UNKNOWN, last_collected=at("2024-01-05 10:00"), arriving=1), new_by="load"
            ),
            Fate.WAITING,
            "Event x waits: collected 2024-01-05 10:00:00, after the last run. The next run takes "
            "it in (events.new_by is load).",
        ),
        (
            # By load times, what came shortly before the last run looks new too.
            replace(told(SESSION, rows=1, arriving=1), new_by="load"),
            Fate.IN_TABLES,
            "Session x is in the tables: page_views; last processed by run r2, 2024-01-11 "
            "00:05:00.",
        ),
        (
            replace(told(SESSION, rows=1, arriving=1), new_by="commit"),
            Fate.IN_TABLES,
            "Session x is in the tables: page_views; last processed by run r2, 2024-01-11 "
            "00:05:00. Loaded since the last run: 1 event, which the next one takes in.",
        ),
        (
            told(SESSION, begins_row=False),
            Fate.LEFT_OUT,
            "Session x was taken in by web, but none of its events makes a row: the sessions table "
            "has one row per session with a page view or ping.",
        ),
        (
            told(SESSION),
            Fate.WITHOUT_ROW,
            "Session x was taken in by web, but no table that was looked at has a row of it. "
            "`windrow status` tells whether models lag or failed.",
        ),
        (
            replace(told(), sessions=()),
            Fate.NOT_FOUND,
            "Not found: no event has this id in the days that were looked at, 2024-01-10 to "
            "2024-01-11 (the days since the look-back); give --from and --to to look at other "
            "days.",
        ),
        (
            replace(told(), furthest=None),
            Fate.NO_RUN,
            "No run of web has happened yet: `windrow run` makes the tables.",
        ),
    ],
)
def test_facts_become_a_sentence(found: Explanation, fate: Fate, sentence: str) -> None:
    verdict = verdict_on(found, SETTINGS)
    assert (verdict.fate, verdict.sentence) == (fate, sentence)


def test_runs_that_were_rolled_back_or_begun_anew_do_not_count() -> None:
    newest_first = [
        run("again", "2024-01-06 00:00"),
        run("back", "2024-01-05 00:00", Outcome.ROLLED_BACK, goes_back_before="bad"),
        run("worse", "2024-01-04 00:00"),
        run("bad", "2024-01-03 00:00"),
        run("first", "2024-01-02 00:00", state="first_run"),
        run("former life", "2024-01-01 00:00"),
    ]
    kept = not_taken_back(newest_first, {"bad": at("2024-01-03 00:00")})
    assert [it.run_id for it in kept] == ["again", "first"]
