"""Where a session, event, user or page view is, and why it is not in the tables; writes nothing.

    lifecycle, key days -> which days -> events, judged by a run's own rules -> rows -> verdict

found_events.py   the events with the id       stored_rows.py   rows of it in the derived tables
changed_rows.py   what runs did to these       verdict.py       what it comes to
values.py         what was found out
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from windrow.atomic.source import Source
from windrow.columns.timestamps import from_micros, micros
from windrow.engine.events import checked_source
from windrow.engine.holding import look
from windrow.engine.intake.lifecycle import days_of_life
from windrow.engine.key_days import KeyDays
from windrow.engine.late import waiting_rows
from windrow.engine.quarantine import newest_notes
from windrow.engine.workspace import Workspace
from windrow.errors import UsageError
from windrow.models.foundation import SESSION_ID
from windrow.operations.explain.changed_rows import changes_in
from windrow.operations.explain.found_events import (
    MOST_SESSIONS,
    Found,
    column_of,
    find_events,
    lives_of,
    no_lives,
    sessions_in,
    sum_up,
    with_copies,
)
from windrow.operations.explain.stored_rows import (
    Look,
    last_writer,
    looks_by_user,
    looks_on_days,
    rows_found,
)
from windrow.operations.explain.values import (
    Explanation,
    Fate,
    Kind,
    QuarantineNote,
    SessionFacts,
    Stretch,
    TableRows,
)
from windrow.operations.explain.verdict import reason_in_words, verdict_on
from windrow.state.covering import covering
from windrow.state.records import collect_together
from windrow.state.runs import RunRecord
from windrow.tables.days import DayRange
from windrow.tables.frames import frame_of
from windrow.tables.refusals import unreadable_files

__all__ = [
    "Explanation",
    "Fate",
    "Kind",
    "SessionFacts",
    "TableRows",
    "can_explain",
    "explain",
    "refuse_impossible",
]

_DAY = timedelta(days=1)
_ARRIVED = "what was loaded since the last run"


def can_explain(ws: Workspace, kind: Kind) -> bool:
    """Whether the package has ids of this kind at all."""
    return column_of(ws, kind) is not None


def refuse_impossible(kind: Kind, id: str, first: datetime | None, last: datetime | None) -> None:
    """Stop at questions that have no answer, whatever the events are."""
    if not id:
        raise UsageError(f"The {kind.value}'s id is empty.")
    if first is not None and last is not None and first > last:
        raise UsageError(f"--from is {first:%Y-%m-%d %H:%M}, which is after --to.")


def explain(
    ws: Workspace,
    kind: Kind,
    id: str,
    *,
    now: datetime,
    first: datetime | None = None,
    last: datetime | None = None,
) -> Explanation:
    """What the package knows of an id. Looks at events between `first` and `last`, if given."""
    refuse_impossible(kind, id, first, last)
    if not can_explain(ws, kind):
        raise UsageError(f"Package '{ws.name}' has no {kind.value}s.")
    seen = look(ws)
    names = [name for member in ws.meant_models for name in member.tracked_names]
    reached = [seen.positions.get(name) for name in names]
    known = [at for at in reached if at is not None]
    plain = Explanation(
        kind=kind,
        id=id,
        package=ws.name,
        target=ws.target,
        consumed=min(known) if known and None not in reached else None,
        furthest=max(known, default=None),
        row_per="" if ws.sessions_model is None else ws.sessions_model.grain,
        new_by="collector" if ws.events is None or ws.settings.compat else ws.events.new_by,
    )
    if plain.furthest is None and first is None:
        return replace(plain, verdict=verdict_on(plain, ws.settings))
    key_days = KeyDays.seen(ws, seen)
    with unreadable_files():
        found = _look_into(ws, key_days, plain, now, first, last)
    return replace(found, verdict=verdict_on(found, ws.settings))


def _look_into(
    ws: Workspace,
    key_days: KeyDays,
    asked: Explanation,
    now: datetime,
    first: datetime | None,
    last: datetime | None,
) -> Explanation:
    kind, id = asked.kind, asked.id
    has_lives = ws.foundation.has_sessions and ws.tables.exists(ws.lifecycle)
    lives = no_lives(ws)
    if kind is Kind.SESSION and has_lives:
        lives = lives_of(ws, key_days, frame_of(ws.spark, [[id]], {SESSION_ID: "string"}), 1)
    where = _given(first, last, now) or _life(ws, lives, kind, now) or _recent(ws, asked, now)
    source = checked_source(ws, ws.meant_models)
    found = find_events(ws, source, kind, id, where)
    arriving = _arriving(ws, source, asked, now)
    if arriving is not None and first is None and last is None:
        days, looked = _days_of_arrival(arriving), where
        if days is not None and found.events.isEmpty():
            where = days
        elif days is not None and kind is Kind.SESSION:
            # Its life will be longer than it is known to be.
            earliest, latest = min(days.first, where.first), max(days.last, where.last)
            where = replace(where, first=earliest, last=latest)
        if where != looked:
            found = find_events(ws, source, kind, id, where)
    if kind is not Kind.SESSION and has_lives:
        lives = lives_of(ws, key_days, sessions_in(ws, found), found.number)
    told = _told(ws, replace(asked, looked_at=where), found, lives, arriving)
    told = _with_rows(ws, key_days, told)
    is_unexplained = told.sessions and not any(it.rows for it in told.tables)
    if kind is not Kind.SESSION or not is_unexplained or not told.sessions[0].taken:
        return told
    # Perhaps another session had its events first: that cannot be seen of its own events.
    copies = with_copies(ws, source, found, where)
    if has_lives:
        lives = lives_of(ws, key_days, sessions_in(ws, copies), copies.number)
    of_all = _told(ws, told, copies, lives, arriving)
    return replace(of_all, sessions=tuple(it for it in of_all.sessions if it.session == id))


def _arriving(ws: Workspace, source: Source, asked: Explanation, now: datetime) -> Found | None:
    """The events with the id that were loaded since the last run, if the source can tell."""
    if asked.new_by == "collector" or asked.furthest is None:
        return None
    before = asked.furthest - timedelta(hours=ws.settings.lookback_window_hours)
    rows = waiting_rows(ws, source, ws.meant_models, before)
    if rows is None:
        return None
    since = Stretch(ws.settings.begins_at, max(now, asked.furthest), _ARRIVED)
    return find_events(ws, source.holding(rows), asked.kind, asked.id, since)


def _days_of_arrival(arriving: Found) -> Stretch | None:
    """The collector time of what was loaded since the last run; None: none of it has the id."""
    time = F.col(arriving.time)
    measures = (micros(F.min(time)), micros(F.max(time)))
    first, last = map(from_micros, arriving.events.agg(*measures).collect()[0])
    return None if first is None or last is None else Stretch(first, last, _ARRIVED)


def _told(
    ws: Workspace, asked: Explanation, found: Found, lives: DataFrame, arriving: Found | None
) -> Explanation:
    sessions = sum_up(ws, found, lives)
    if arriving is not None:
        new = {it.session: it.taken for it in sum_up(ws, arriving, lives)}
        known = (replace(it, arriving=min(it.taken, new.get(it.session, 0))) for it in sessions)
        sessions = tuple(known)
    told = _with_notes(ws, sessions[:MOST_SESSIONS])
    reasons = [reason for it in sessions for reason in it.left_out]
    return replace(
        asked,
        reasons={it: reason_in_words(it, ws.settings, told) for it in reasons},
        sessions=told,
        has_more_sessions=len(sessions) > MOST_SESSIONS,
    )


def _with_notes(ws: Workspace, sessions: Sequence[SessionFacts]) -> tuple[SessionFacts, ...]:
    """The sessions, those in quarantine with what was noted when they were put there."""
    inside = [it.session for it in sessions if it.is_quarantined]
    if not inside:
        return tuple(sessions)
    notes = newest_notes(ws).where(F.col(SESSION_ID).isin(*inside))
    found: dict[str, QuarantineNote] = {}
    for row in collect_together({"notes": notes})["notes"]:
        since = from_micros(row["since"])
        assert since is not None
        found[row[SESSION_ID]] = QuarantineNote(row["reason"], since, row["run_id"])
    return tuple(replace(it, quarantine=found.get(it.session or "")) for it in sessions)


def _given(first: datetime | None, last: datetime | None, now: datetime) -> Stretch | None:
    if first is None and last is None:
        return None
    end = last or now
    if end == end.replace(hour=0, minute=0, second=0, microsecond=0):
        end += _DAY - timedelta(microseconds=1)
    return Stretch(first or end - _DAY, end, "the days that were asked for")


def _life(ws: Workspace, lives: DataFrame, kind: Kind, now: datetime) -> Stretch | None:
    """From the day before a session began to where it can go on at the most."""
    if kind is not Kind.SESSION:
        return None
    measures = (micros(F.min("start_tstamp")), micros(F.max("end_tstamp")))
    start, known_end = map(from_micros, lives.agg(*measures).collect()[0])
    if start is None or known_end is None:
        return None
    # It may have been longer under other options.
    end = max(known_end, start + timedelta(days=ws.settings.max_session_days)) + _DAY
    return Stretch(start - _DAY, min(end, max(now, start)), "the session's life")


def _recent(ws: Workspace, asked: Explanation, now: datetime) -> Stretch:
    """From the look-back of the next run on: what it takes in, and what the last one has seen."""
    assert asked.furthest is not None
    since = asked.furthest - timedelta(hours=ws.settings.lookback_window_hours)
    midnight = since.replace(hour=0, minute=0, second=0, microsecond=0)
    return Stretch(midnight, max(now, asked.furthest), "the days since the look-back")


def _with_rows(ws: Workspace, key_days: KeyDays, told: Explanation) -> Explanation:
    """The explanation with what is in the tables, and the runs that had to do with it."""
    column = column_of(ws, told.kind)
    assert column is not None
    days = _days(ws, told)
    looks: list[Look] = []
    if told.kind is Kind.USER:
        looks += looks_by_user(ws, key_days, told.id)
    else:
        looks += looks_on_days(ws, column, told.id, days)
    owner = ws.sessions_model
    if owner is not None and told.kind in (Kind.EVENT, Kind.PAGE_VIEW):
        for it in told.sessions:
            if it.session is not None and it.is_known:
                session = ws.foundation.session
                looks += looks_on_days(ws, session, it.session, days, only=owner)
    found = rows_found(ws, looks)
    runs = _runs(ws, told, found)
    changes = changes_in(ws, [it for it, _ in found], runs)
    tables = [
        replace(rows, written_by=last_writer(it, rows, runs), changes=changed)
        for (it, rows), changed in zip(found, changes, strict=True)
    ]
    return replace(told, runs=tuple(runs), tables=tuple(tables))


def _days(ws: Workspace, told: Explanation) -> list[date]:
    """The days on which rows can lie: those of the events, and of the lives of their sessions."""
    days = {day for it in told.sessions for day in it.days if day is not None}
    for it in told.sessions:
        if it.start is not None and it.end is not None:
            days |= {*days_of_life(it.start, it.end, ws.settings)}
    if not days and told.looked_at is not None:
        until = min(told.looked_at.last, told.furthest or told.looked_at.last)
        first = told.looked_at.first
        days |= {*DayRange(first.date(), max(first, until).date()).days()}
    return sorted(days)


def _runs(
    ws: Workspace, told: Explanation, found: Sequence[tuple[Look, TableRows]]
) -> list[RunRecord]:
    """The runs whose windows meet the events, or the sessions; of a user, its newest row."""
    instants = [
        at
        for it in told.sessions
        for at in (it.first_collected, it.last_collected, it.start, it.end)
        if at is not None
    ]
    if not instants:
        lasts = [look.day_of(rows.samples[-1]) for look, rows in found if rows.samples]
        newest = max(filter(None, lasts), default=None)
        if newest is None:
            return []
        day = datetime.combine(newest, datetime.min.time(), UTC)
        instants = [day, day + _DAY]
    asked = {told.id, *(it.session for it in told.sessions)}
    runs = covering(ws.runs, ws.lease_name, min(instants), max(instants))
    return [run for run in runs if not run.only_sessions or asked & {*run.only_sessions}]
