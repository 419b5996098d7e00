"""Explanations and the quarantine as people and programs read them."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from datetime import date

from rich.console import Console, RenderableType

from website import at
from windrow.operations.explain.values import (
    Explanation,
    Fate,
    Kind,
    QuarantineNote,
    RowChange,
    SessionFacts,
    Stretch,
    TableRows,
    Verdict,
)
from windrow.operations.quarantine import Added, Quarantine, QuarantinedSession, Released
from windrow.report.explaining import explanations_document, explanations_text, verdicts_text
from windrow.report.quarantining import (
    added_document,
    added_text,
    quarantines_document,
    quarantines_text,
    released_document,
    released_text,
)
from windrow.state.runs import Outcome, RunRecord

RUN = RunRecord(
    run_id="r1",
    package="web",
    outcome=Outcome.SUCCEEDED,
    lower_limit=at("2024-03-04"),
    upper_limit=at("2024-03-06"),
    started_at=at("2024-03-06"),
    finished_at=at("2024-03-06 00:01"),
)
TOLD = Explanation(
    kind=Kind.SESSION,
    id="s [1]",
    package="web",
    target="dev",
    consumed=at("2024-03-05 23:00"),
    furthest=at("2024-03-05 23:00"),
    looked_at=Stretch(at("2024-03-04"), at("2024-03-08"), "the session's life"),
    sessions=(
        SessionFacts(
            "s [1]",
            user="u",
            events=3,
            copies=1,
            taken=2,
            left_out={"bot": 1},
            first_copies_in=("s2", "s3"),
            first_collected=at("2024-03-05 10:00"),
            last_collected=at("2024-03-05 10:05"),
            start=at("2024-03-05 10:00"),
            end=at("2024-03-05 10:05"),
            is_quarantined=True,
            quarantine=QuarantineNote("hook", at("2024-03-06"), "r1"),
        ),
    ),
    runs=(RUN,),
    tables=(
        TableRows("derived.page_views", "domain_sessionid", "s [1]", 0),
        TableRows(
            *("derived.sessions", "domain_sessionid", "s [1]", 1),
            samples=(
                {
                    "start_tstamp": at("2024-03-05 10:00"),
                    "domain_sessionid": "s [1]",
                    "start_tstamp_date": date(2024, 3, 5),
                },
            ),
            written_by="r1",
            changes=(
                RowChange("r1"),
                RowChange("r0", added=1, changed=2, columns=tuple("abcdefgh")),
            ),
        ),
        TableRows("derived.users", "domain_sessionid", "s [1]", 1, changes=None),
    ),
    reasons={"bot": "of bots"},
    verdict=Verdict(Fate.IN_TABLES, "Session s [1] is in the tables: sessions."),
)


def shown(text: RenderableType, width: int = 200) -> list[str]:
    console = Console(file=io.StringIO(), width=width)
    console.print(text)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]  # type: ignore[attr-defined]  # a StringIO


def test_an_explanation_tells_facts_and_a_verdict() -> None:
    assert verdicts_text([TOLD]).plain == "Session s [1] is in the tables: sessions."
    assert shown(explanations_text([TOLD])) == [
        "web on dev",
        "  Looked at events of 2024-03-04 00:00:00 to 2024-03-08 00:00:00: the session's life.",
        "  Session s [1]: 3 events, 1 of them a copy, collected 2024-03-05 10:00:00 to 2024-03-05 "
        "10:05:00.",
        "    Left out: 1 of bots.",
        "    The first copies are in sessions s2 and s3.",
        "    In the lifecycle manifest: 2024-03-05 10:00:00 to 2024-03-05 10:05:00.",
        "    Quarantined since 2024-03-06 00:00:00, by run r1, as the hook quarantine_sessions "
        "says so: it takes in no more events.",
        "  In the windows of 1 run, the newest first:",
        "    r1, succeeded, 2024-03-04 00:00:00 to 2024-03-06 00:00:00, ended 2024-03-06 00:01:00",
        "  derived.page_views: no row.",
        "  derived.sessions: 1 row (start_tstamp 2024-03-05 10:00:00); that day last written by "
        "run r1.",
        "    Run r1 changed nothing.",
        "    Run r0: 1 row added and 2 rows changed (a, b, c, d, e, f and 2 more).",
        "  derived.users: 1 row.",
        "    What runs changed is not known: older versions of the table are gone.",
        "  Models have come to 2024-03-05 23:00:00.",
    ]


def test_a_long_line_stays_where_it_stands() -> None:
    lines = shown(explanations_text([TOLD]), 80)
    first = lines.index("    Quarantined since 2024-03-06 00:00:00, by run r1, as the hook")
    assert lines[first + 1] == "    quarantine_sessions says so: it takes in no more events."


def test_an_explanation_has_these_keys() -> None:
    document = explanations_document(Kind.SESSION, "s [1]", [TOLD])
    assert document.keys() == {"kind", "id", "packages"}
    (web,) = document["packages"]
    assert web.keys() == {
        *("package", "target", "fate", "verdict", "reasons", "consumed", "looked_at"),
        *("sessions", "has_more_sessions", "runs", "tables"),
    }
    assert web["looked_at"].keys() == {"from", "to", "because"}
    assert web["sessions"][0].keys() == {
        *("session_id", "user_id", "events", "copies", "taken", "arriving", "left_out"),
        *(
            "first_copies_in",
            "quarantine",
            "first_collected",
            "last_collected",
            "first_loaded",
            "last_loaded",
        ),
        *("start_tstamp", "end_tstamp", "is_at_cap", "is_quarantined"),
    }
    assert web["sessions"][0]["first_copies_in"] == ["s2", "s3"]
    assert web["sessions"][0]["quarantine"] == {
        "reason": "hook",
        "since": "2024-03-06T00:00:00.000000Z",
        "run_id": "r1",
    }
    assert web["runs"][0].keys() == {
        *("run_id", "outcome", "lower_limit", "upper_limit", "started_at", "finished_at"),
    }
    assert web["tables"][1] == {
        "table": "derived.sessions",
        "column": "domain_sessionid",
        "value": "s [1]",
        "rows": 1,
        "samples": [
            {
                "start_tstamp": "2024-03-05T10:00:00.000000Z",
                "domain_sessionid": "s [1]",
                "start_tstamp_date": "2024-03-05",
            }
        ],
        "written_by": "r1",
        "changes": [
            {"run_id": "r1", "added": 0, "removed": 0, "changed": 0, "columns": ()},
            {"run_id": "r0", "added": 1, "removed": 0, "changed": 2, "columns": tuple("abcdefgh")},
        ],
    }
    assert web["tables"][2]["changes"] is None


LISTED = Quarantine(
    "web",
    "dev",
    2,
    (
        QuarantinedSession(
            "s1",
            "max_session_days",
            at("2024-03-08"),
            "r1",
            at("2024-03-04 20:00"),
            at("2024-03-07 20:00"),
        ),
    ),
)


def test_the_quarantine_is_a_table_and_tells_if_there_is_more() -> None:
    heading, columns, _, row, more = shown(quarantines_text([LISTED]))
    assert (heading, columns.split()) == (
        "web on dev",
        ["session", "why", "since", "by", "run", "began", "lasted"],
    )
    assert re.split(r" {2,}", row.strip()) == [
        *("s1", "lasted max_session_days", "2024-03-08 00:00:00", "r1"),
        *("2024-03-04 20:00:00", "3 days"),
    ]
    assert more == "  These are 1 of 2 sessions, the newest first; --limit shows more."
    empty = Quarantine("web", "dev", 0, ())
    assert shown(quarantines_text([empty]))[-1] == "  No session is in quarantine."
    assert quarantines_document([LISTED])["packages"][0]["sessions"][0].keys() == {
        *("session_id", "reason", "since", "run_id", "start_tstamp", "end_tstamp"),
    }


def test_on_a_narrow_screen_ids_of_the_quarantine_stay_whole() -> None:
    session, run_id = "ceeb47ef-71f9-4183-a4c4-b9b790cfc24f", "20240308T000000-01fff260"
    known = replace(LISTED.sessions[0], session=session, run_id=run_id)
    listed = Quarantine("web", "dev", 1, (known,))
    assert len(shown(quarantines_text([listed]), 160)) == 4
    assert shown(quarantines_text([listed]), 80) == [
        "web on dev",
        f"  {session}",
        "    lasted max_session_days; since 2024-03-08 00:00:00",
        f"    by run {run_id}; began 2024-03-04 20:00:00, lasted 3 days",
    ]


def test_who_was_put_in_and_taken_out_is_told() -> None:
    added = Added("web", "dev", "r2", ("s2",), ("s1",))
    assert shown(added_text(added))[1:] == [
        "  Put into quarantine: s2.",
        "  Later events of theirs are left out, once their end lies behind the look-back of a run. "
        "Rows that they have in the tables stay.",
        "  Was there before: s1.",
    ]
    assert added_document(added).keys() == {"package", "target", "run_id", "added", "there_before"}
    released = Released("web", "dev", ("s3",), unknown=("s3",), again=(), runs=())
    assert shown(released_text(released))[1].startswith("  Released s3, of which no run has taken")
    assert released_document(released).keys() == {
        *("package", "target", "released", "quarantined_again", "unknown", "runs"),
    }
