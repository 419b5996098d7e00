"""Explanations, as people and programs read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import date, datetime
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from windrow.operations.explain import Explanation, Kind, SessionFacts, TableRows
from windrow.operations.explain.verdict import quarantine_in_words
from windrow.report import words
from windrow.report.documents import Document, moment
from windrow.report.text import title
from windrow.state.runs import RunRecord

_SHOWN_RUNS = 3
_SHOWN_SESSIONS = 5
_SHOWN_COLUMNS = 6


def explanations_text(told: Sequence[Explanation]) -> RenderableType:
    """What each package knows of an id."""
    return Group(
        *(
            Group(Text(title(it.package, it.target), "bold"), *map(_line, _sentences(it)))
            for it in told
        )
    )


def _line(sentence: str) -> RenderableType:
    """A sentence below the heading; one that stands further in stays there when it is long."""
    text = sentence.lstrip(" ")
    return Padding(Text(text), (0, 0, 0, 2 + len(sentence) - len(text)), expand=False)


def verdicts_text(told: Sequence[Explanation]) -> Text:
    """What it comes to, a line for each package."""
    return Text("\n".join(it.verdict.sentence for it in told), "bold")


def _sentences(told: Explanation) -> Iterator[str]:
    if told.looked_at is not None:
        first, last = (words.instant(at) for at in (told.looked_at.first, told.looked_at.last))
        yield f"Looked at events of {first} to {last}: {told.looked_at.because}."
        if not told.sessions:
            is_event = told.kind is Kind.EVENT
            whose = "with this id" if is_event else f"of this {told.kind.noun.lower()}"
            yield f"There is no event {whose} among them."
    for it in told.sessions[:_SHOWN_SESSIONS]:
        yield from _of_session(told, it)
    hidden = len(told.sessions) - _SHOWN_SESSIONS
    if hidden > 0 or told.has_more_sessions:
        more = " or more" if told.has_more_sessions else ""
        yield f"And {words.count(max(hidden, 0), 'session')}{more} that began earlier."
    yield from _of_runs(told.runs)
    for table in told.tables:
        yield from _of_table(told, table)
    if told.furthest is not None:
        yield from _how_far(told)


def _of_session(told: Explanation, it: SessionFacts) -> Iterator[str]:
    name = "Without a session" if it.session is None else f"Session {it.session}"
    if not it.events:
        yield f"{name}: no event among those."
    else:
        parts = [words.count(it.events, "event")]
        if it.copies:
            parts.append("1 of them a copy" if it.copies == 1 else f"{it.copies} of them copies")
        parts.append(f"collected {_from_to(it.first_collected, it.last_collected)}")
        if it.last_loaded is not None:
            parts.append(f"loaded {_from_to(it.first_loaded, it.last_loaded)}")
        yield f"{name}: {', '.join(parts)}."
    if it.arriving:
        yield f"  Loaded since the last run: {words.count(it.arriving, 'event')}."
    if it.left_out:
        left = [f"{number:,} {told.reasons[reason]}" for reason, number in it.left_out.items()]
        yield f"  Left out: {words.join_words(left)}."
    if len(it.first_copies_in) > 1:
        yield f"  The first copies are in {_sessions(it.first_copies_in)}."
    if it.start is not None:
        cap = ", its cap" if it.is_at_cap else ""
        yield f"  In the lifecycle manifest: {_from_to(it.start, it.end)}{cap}."
    elif it.session is not None:
        yield "  Not in the lifecycle manifest: no run has taken it in."
    if it.is_quarantined:
        since = quarantine_in_words(it.quarantine)
        yield f"  Quarantined{since}: it takes in no more events."


def _sessions(names: Sequence[str]) -> str:
    shown = [*names[:_SHOWN_SESSIONS]]
    if len(names) > _SHOWN_SESSIONS:
        shown.append(f"{len(names) - _SHOWN_SESSIONS} more")
    return f"sessions {words.join_words(shown)}"


def _of_runs(runs: Sequence[RunRecord]) -> Iterator[str]:
    if not runs:
        return
    yield f"In the windows of {words.count(len(runs), 'run')}, the newest first:"
    for run in runs[:_SHOWN_RUNS]:
        assert run.lower_limit is not None
        assert run.upper_limit is not None
        window = f"{words.instant(run.lower_limit)} to {words.instant(run.upper_limit)}"
        yield f"  {run.run_id}, {run.outcome}, {window}, ended {words.instant(run.finished_at)}"
    if len(runs) > _SHOWN_RUNS:
        yield f"  and {len(runs) - _SHOWN_RUNS} before these"


def _of_table(told: Explanation, table: TableRows) -> Iterator[str]:
    of = "" if table.value == told.id else f" of session {table.value}"
    if not table.rows:
        yield f"{table.table}: no row{of}."
        yield from _of_changes(table)
        return
    rows = " … ".join(_row(table, sample) for sample in table.samples)
    by = ""
    if table.written_by is not None:
        by = f"; that day last written by run {table.written_by}"
    told_of = f" ({rows})" if rows else ""
    yield f"{table.table}: {words.count(table.rows, 'row')}{of}{told_of}{by}."
    yield from _of_changes(table)


def _of_changes(table: TableRows) -> Iterator[str]:
    if table.changes is None:
        yield "  What runs changed is not known: older versions of the table are gone."
        return
    for it in table.changes:
        if not (it.added or it.removed or it.changed):
            # Of a table without rows of it there is nothing to tell.
            if table.rows:
                yield f"  Run {it.run_id} changed nothing."
            continue
        done = {"added": it.added, "removed": it.removed, "changed": it.changed}
        parts = [f"{words.count(number, 'row')} {what}" for what, number in done.items() if number]
        columns = [*it.columns[:_SHOWN_COLUMNS]]
        if len(it.columns) > _SHOWN_COLUMNS:
            columns.append(f"{len(it.columns) - _SHOWN_COLUMNS} more")
        told = f" ({words.join_words(columns)})" if columns else ""
        yield f"  Run {it.run_id}: {words.join_words(parts)}{told}."


def _row(table: TableRows, sample: Mapping[str, Any]) -> str:
    """When it was, and its key; not what was asked for, and no day beside its instant."""
    days = {f"{name}_date" for name in sample}
    shown = {name: it for name, it in sample.items() if name not in {table.column, *days}}
    return ", ".join(f"{name} {_value(value)}" for name, value in shown.items())


def _how_far(told: Explanation) -> Iterator[str]:
    assert told.furthest is not None
    if told.consumed == told.furthest:
        yield f"Models have come to {words.instant(told.furthest)}."
    else:
        yield f"Models have come to {words.instant(told.furthest)}; some lag behind."


def _from_to(first: datetime | None, last: datetime | None) -> str:
    if first is None or last is None:
        return "unknown"
    if first == last:
        return words.instant(first)
    return f"{words.instant(first)} to {words.instant(last)}"


def _value(value: Any) -> str:
    return words.instant(value) if isinstance(value, datetime) else str(value)


# --- documents -------------------------------------------------------------------------------


def explanations_document(kind: Kind, id: str, told: Sequence[Explanation]) -> Document:
    """What `windrow explain --json` prints."""
    return {"kind": kind.value, "id": id, "packages": [_explanation(it) for it in told]}


def _explanation(told: Explanation) -> Document:
    where = told.looked_at
    return {
        "package": told.package,
        "target": told.target,
        "fate": told.verdict.fate.value,
        "verdict": told.verdict.sentence,
        "reasons": dict(told.reasons),
        "consumed": moment(told.consumed),
        "looked_at": None
        if where is None
        else {
            "from": moment(where.first),
            "to": moment(where.last),
            "because": where.because,
        },
        "sessions": [_session(it) for it in told.sessions],
        "has_more_sessions": told.has_more_sessions,
        "runs": [
            {
                "run_id": run.run_id,
                "outcome": run.outcome,
                "lower_limit": moment(run.lower_limit),
                "upper_limit": moment(run.upper_limit),
                "started_at": moment(run.started_at),
                "finished_at": moment(run.finished_at),
            }
            for run in told.runs
        ],
        "tables": [
            {
                "table": it.table,
                "column": it.column,
                "value": it.value,
                "rows": it.rows,
                "samples": [
                    {name: _plain(value) for name, value in sample.items()} for sample in it.samples
                ],
                "written_by": it.written_by,
                "changes": None if it.changes is None else [asdict(one) for one in it.changes],
            }
            for it in told.tables
        ],
    }


def _session(it: SessionFacts) -> Document:
    return {
        "session_id": it.session,
        "user_id": it.user,
        "events": it.events,
        "copies": it.copies,
        "taken": it.taken,
        "arriving": it.arriving,
        "left_out": dict(it.left_out),
        "first_copies_in": list(it.first_copies_in),
        "first_collected": moment(it.first_collected),
        "last_collected": moment(it.last_collected),
        "first_loaded": moment(it.first_loaded),
        "last_loaded": moment(it.last_loaded),
        "start_tstamp": moment(it.start),
        "end_tstamp": moment(it.end),
        "is_at_cap": it.is_at_cap,
        "is_quarantined": it.is_quarantined,
        "quarantine": None
        if it.quarantine is None
        else {
            "reason": it.quarantine.reason,
            "since": moment(it.quarantine.since),
            "run_id": it.quarantine.run_id,
        },
    }


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return moment(value)
    return value.isoformat() if isinstance(value, date) else value
