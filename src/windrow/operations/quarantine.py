"""The quarantine as people work with it: who is in it and why, in by hand, and out again.

A session that is taken out is processed again whole, alone and at once, in the same run that takes
it out: all that was left out meanwhile comes in, and if the run is killed the session is in
quarantine as before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from windrow.columns.timestamps import from_micros
from windrow.engine.events import checked_source
from windrow.engine.holding import Seen, end, held, look, settle
from windrow.engine.intake.lifecycle import is_over_long
from windrow.engine.intake.session_events import scan
from windrow.engine.key_days import KeyDays
from windrow.engine.plan import Plan
from windrow.engine.quarantine import Reason, newest_notes, note_sessions, take_out
from windrow.engine.result import RunResult
from windrow.engine.steps import Listener, say_nothing
from windrow.engine.workspace import Workspace
from windrow.errors import RefusedError, UsageError, did_you_mean
from windrow.models.foundation import SESSION_ID
from windrow.operations.explain.found_events import lives_of
from windrow.operations.rerun import plan_rerun, run_step
from windrow.state.leases import Intent, Kind, Lease
from windrow.state.limits import Limits, State
from windrow.state.records import collect_together
from windrow.state.runs import Outcome, new_run_id
from windrow.tables.frames import frame_of, materialize

_NAMED = 3
"""So many sessions are named in a message."""


@dataclass(frozen=True)
class QuarantinedSession:
    """A session in quarantine; None: nobody knows, as before windrow noted it."""

    session: str
    reason: str | None = None
    since: datetime | None = None
    run_id: str | None = None
    start: datetime | None = None
    end: datetime | None = None


@dataclass(frozen=True)
class Quarantine:
    """The sessions in quarantine."""

    package: str
    target: str
    total: int
    sessions: tuple[QuarantinedSession, ...]
    """The newest of them first, at most as many as were asked for."""


@dataclass(frozen=True)
class Added:
    """What was put into quarantine."""

    package: str
    target: str
    run_id: str | None
    """None: all were there before."""
    added: tuple[str, ...]
    there_before: tuple[str, ...]


@dataclass(frozen=True)
class Released:
    """What was taken out of quarantine."""

    package: str
    target: str
    released: tuple[str, ...]
    unknown: tuple[str, ...]
    """Of them, those that no run has taken in: there was nothing to process."""
    again: tuple[str, ...]
    """Of them, those that were quarantined again, when they were processed up to their cap."""
    runs: tuple[RunResult, ...]


def quarantined(ws: Workspace, *, limit: int = 100) -> Quarantine:
    """Who is in quarantine, since when and why; writes nothing."""
    inside = _inside(ws)
    if inside is None:
        return Quarantine(ws.name, ws.target, 0, ())
    rows = inside.join(newest_notes(ws), SESSION_ID, how="left")
    newest = rows.orderBy(F.desc_nulls_last("since"), SESSION_ID).limit(limit)
    found = collect_together(
        {"total": inside.agg(F.count(F.lit(1)).alias("sessions")), "newest": newest}
    )
    sessions = [
        QuarantinedSession(
            session=row[SESSION_ID],
            reason=row["reason"],
            since=from_micros(row["since"]),
            run_id=row["run_id"],
            start=from_micros(row["start_tstamp"]),
            end=from_micros(row["end_tstamp"]),
        )
        for row in found["newest"]
    ]
    unknown = [it.session for it in sessions if it.start is None]
    known = _lives(_lives_frame(ws, unknown)) if unknown else {}
    told = (
        replace(it, start=known[it.session].start, end=known[it.session].end)
        if it.session in known
        else it
        for it in sessions
    )
    return Quarantine(ws.name, ws.target, found["total"][0]["sessions"], tuple(told))


def add_to_quarantine(
    ws: Workspace, sessions: Sequence[str], *, now: datetime, listener: Listener = say_nothing
) -> Added:
    """Put sessions into quarantine: runs do not carry them on. Their rows stay.

    A run whose window meets a session's life makes the session's rows of all its events, as of any
    other: what comes after that is left out.
    """
    asked = _asked(ws, sessions)
    seen = settle(ws, listener)
    if not ws.tables.exists(ws.quarantine):
        raise UsageError(f"No run of {ws.name} has happened yet: `windrow run` makes the tables.")
    before = _those_in(ws, asked)
    new = [it for it in asked if it not in before]
    if not new:
        return Added(ws.name, ws.target, None, (), tuple(asked))
    name = ws.foundation.recorded_session
    ids = frame_of(ws.spark, [[it] for it in new], {SESSION_ID: "string"})
    lives = lives_of(ws, KeyDays.seen(ws, seen), materialize(ids), len(new))
    rows = ids.join(lives.select(SESSION_ID, "start_tstamp", "end_tstamp"), SESSION_ID, how="left")
    known = materialize(rows.withColumnRenamed(SESSION_ID, name))
    with _editing(ws, now, seen) as lease:
        ws.tables.append(ws.quarantine, known.select(name))
        note_sessions(ws, known, F.lit(Reason.BY_HAND.value), run_id=lease.run_id, now=now)
    return Added(
        ws.name, ws.target, lease.run_id, tuple(new), tuple(it for it in asked if it in before)
    )


def release(
    ws: Workspace, sessions: Sequence[str], *, now: datetime, listener: Listener = say_nothing
) -> Released:
    """Take sessions out of quarantine, and process each of them again, whole.

    Refuses those that would be quarantined again at once, before anything is written.
    """
    asked = _asked(ws, sessions)
    settle(ws, listener)
    inside = _those_in(ws, asked)
    if missing := [it for it in asked if it not in inside]:
        known = [it.session for it in quarantined(ws).sessions]
        raise UsageError(
            f"Not in the quarantine of {ws.name}: {_named(missing)}."
            f"{did_you_mean(missing[0], known)} `windrow quarantine ls` lists who is."
        )
    recorded = materialize(_lives_frame(ws, asked))
    lives = _lives(recorded)
    if stuck := _returning(ws, recorded):
        days = ws.settings.max_session_days
        raise RefusedError(
            f"Nothing was changed: {_named(stuck)} would be quarantined again by the next run, as "
            f"max_session_days is {days} or the hook quarantine_sessions says so. Raise "
            "max_session_days in windrow.yml first, if later events are to be taken in."
        )
    plans = {it: _plan_alone(ws, it, lives[it].start, now) for it in asked if it in lives}
    runs = {
        session: run_step(ws, plan, listener, first=partial(take_out, ws, [session]))
        for session, plan in plans.items()
    }
    unknown = tuple(it for it in asked if it not in lives)
    if unknown:
        _only_take_out(ws, unknown, now, listener)
    again = tuple(it for it, run in runs.items() if (run.counts or {}).get("quarantined"))
    return Released(ws.name, ws.target, tuple(asked), unknown, again, tuple(runs.values()))


def _plan_alone(ws: Workspace, session: str, start: datetime, now: datetime) -> Plan:
    """What processing one session again does: as far as it can go on at the most."""
    last = start + timedelta(days=ws.settings.max_session_days)
    # Whether its own events are there is looked at here: others' mean nothing to it.
    whole = plan_rerun(
        ws, first=start, last=last, now=now, restart=True, despite_missing_events=True
    )
    foundation = ws.foundation
    events = scan(
        checked_source(ws, whole.models),
        *(foundation, whole.first, whole.last, foundation.columns(ws.settings)),
    )
    own = events.where(foundation.is_usable(ws.settings) & (F.col(foundation.session) == session))
    if own.limit(1).isEmpty():
        raise RefusedError(
            f"Nothing was changed: the events of session {session}, from {start:%Y-%m-%d} on, are "
            "there no more. Processing it again would delete its rows."
        )
    limits = Limits(State.RERUN, whole.first, whole.last, None, whole.last)
    return replace(whole.steps[0], limits=limits, only=(session,))


def _only_take_out(
    ws: Workspace, sessions: Sequence[str], now: datetime, listener: Listener
) -> None:
    """Take sessions out that no run has taken in: there is nothing to process again."""
    with _editing(ws, now, settle(ws, listener)):
        take_out(ws, sessions)


@contextmanager
def _editing(ws: Workspace, now: datetime, seen: Seen) -> Iterator[Lease]:
    """Hold the package while the quarantine is changed by hand, and note that it was."""
    with held(ws, new_run_id(now), Intent(kind=Kind.QUARANTINE), seen) as lease:
        yield lease
        versions = ws.versions_of([ws.quarantine, ws.quarantine_notes])
        end(ws, lease, Outcome.EDITED, clock=now, table_versions=versions)


# --- looks -----------------------------------------------------------------------------------


def _asked(ws: Workspace, sessions: Sequence[str]) -> list[str]:
    if not ws.foundation.has_quarantine:
        raise UsageError(f"Package '{ws.name}' has no quarantine.")
    asked = list(dict.fromkeys(sessions))
    if not asked or not all(asked):
        raise UsageError("Which session? Give its id.")
    return asked


def _inside(ws: Workspace) -> DataFrame | None:
    found = ws.quarantined_sessions()
    return None if found is None else found.distinct()


def _those_in(ws: Workspace, sessions: Sequence[str]) -> set[str]:
    inside = _inside(ws)
    if inside is None:
        return set()
    return {row[0] for row in inside.where(F.col(SESSION_ID).isin(*sessions)).collect()}


class _Life(NamedTuple):
    start: datetime
    end: datetime


def _lives(recorded: DataFrame) -> dict[str, _Life]:
    """Session -> its life, of rows of the lifecycle manifest."""
    lives = {}
    for row in collect_together({"lives": recorded})["lives"]:
        start, end = from_micros(row["start_tstamp"]), from_micros(row["end_tstamp"])
        if start is not None and end is not None:
            lives[row[SESSION_ID]] = _Life(start, end)
    return lives


def _returning(ws: Workspace, recorded: DataFrame) -> list[str]:
    """Those that would be quarantined again, whatever events they have."""
    by_length = is_over_long(ws.settings)
    judged = ws.foundation.as_recorded(recorded)
    stuck = judged.where(ws.hooks.column("quarantine_sessions", by_length))
    return [row[0] for row in stuck.select(ws.foundation.recorded_session).collect()]


def _lives_frame(ws: Workspace, sessions: Sequence[str]) -> DataFrame:
    """The rows of the lifecycle manifest; without the sessions that are not there."""
    ids = frame_of(ws.spark, [[it] for it in sessions], {SESSION_ID: "string"})
    return lives_of(ws, KeyDays.seen(ws, look(ws)), materialize(ids), len(sessions))


def _named(sessions: Iterable[str]) -> str:
    first = [*sessions]
    more = f" and {len(first) - _NAMED} more" if len(first) > _NAMED else ""
    return ", ".join(first[:_NAMED]) + more
