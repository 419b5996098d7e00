"""The sessions and events that a run takes in.

sessions.py   which sessions the window touches     lifecycle.py       since when each lives
along.py      whom late events bear on beside them  session_events.py  how events are found
gather.py     all their events, each once           copies.py          which copy of an event counts
window.py     a window's events, without sessions   record.py          what is remembered
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import date, datetime

from pyspark.sql import DataFrame

from windrow.atomic.source import Source
from windrow.engine.intake.along import sessions_along, users_made_anew
from windrow.engine.intake.gather import columns_read, gather_events
from windrow.engine.intake.lifecycle import days_of_life
from windrow.engine.intake.session_events import scan
from windrow.engine.intake.sessions import find_sessions
from windrow.engine.intake.values import Intake, Sessions
from windrow.engine.intake.window import events_of_window
from windrow.engine.key_days import KeyDays
from windrow.engine.workspace import Workspace
from windrow.models.model import Model
from windrow.state.limits import MICROSECOND, Limits, State

__all__ = ["SHARED", "Intake", "columns_read", "take_in"]

SHARED = "shares_events"
"""Counted where sessions were left alone at first, and then were not."""


def take_in(
    ws: Workspace,
    source: Source,
    limits: Limits,
    event_columns: Iterable[str] | None,
    key_days: KeyDays,
    *,
    only: Collection[str] = (),
    arrived: DataFrame | None = None,
    late_for: Sequence[Model] = (),
    settled_until: datetime | None = None,
) -> Intake:
    """Find the sessions that the window touches, or `only` some of them, and gather their events.

    With `arrived`, the sessions are those of these stored rows, whatever else the window has.
    Models cannot tell the difference: they are made of whole sessions, whichever these are.
    `late_for`: the models of the run, where some of the sessions' events were loaded late.
    `settled_until`: what the window has before is as it was when the last run took it in. Sessions
    without a later event, or events of a package that has none, are left alone, unless they share
    events with the others.
    """
    if settled_until is None:
        return _all(ws, source, limits, event_columns, key_days, only, arrived, late_for)
    intake = _unsettled(ws, source, limits, event_columns, key_days, settled_until)
    if intake is not None:
        return intake
    intake = _all(ws, source, limits, event_columns, key_days, only, arrived, late_for)
    return replace(intake, counts={**intake.counts, SHARED: 1})


def _unsettled(
    ws: Workspace,
    source: Source,
    limits: Limits,
    event_columns: Iterable[str] | None,
    key_days: KeyDays,
    since: datetime,
) -> Intake | None:
    """What the window has from a moment on; None: it shares events with what comes before."""
    later = replace(limits, lower=since)
    settled = _settled_events(ws, source, limits.lower, since)
    if not ws.foundation.has_sessions:
        return events_of_window(ws, source, later, event_columns, settled)
    sessions = find_sessions(ws, source, later, key_days)
    return gather_events(ws, source, sessions, event_columns, settled)


def _all(
    ws: Workspace,
    source: Source,
    limits: Limits,
    event_columns: Iterable[str] | None,
    key_days: KeyDays,
    only: Collection[str],
    arrived: DataFrame | None,
    late_for: Sequence[Model],
) -> Intake:
    """All that the window touches."""
    touching = source if arrived is None else source.holding(arrived)
    if not ws.foundation.has_sessions:
        return _there(events_of_window(ws, touching, limits, event_columns))
    sessions = find_sessions(ws, touching, limits, key_days, only)
    intake = _gather(ws, source, sessions, event_columns)
    if late_for:
        made_anew = users_made_anew(ws, intake, late_for)
        intake = replace(intake, made_anew=made_anew)
        more = sessions_along(ws, sessions, intake, limits, late_for)
        if more is not None:
            intake.release()
            intake = replace(_gather(ws, source, more, event_columns), made_anew=made_anew)
    if limits.state is State.RERUN:
        return replace(intake, days=(*intake.days, *_days_of_lives(ws, sessions)))
    return intake


def _gather(
    ws: Workspace, source: Source, sessions: Sessions, event_columns: Iterable[str] | None
) -> Intake:
    whole = source.on_days(sessions.lived_on) if sessions.lived_on else source
    return _there(gather_events(ws, whole, sessions, event_columns))


def _there(intake: Intake | None) -> Intake:
    """What was taken in where nothing was left alone."""
    assert intake is not None
    return intake


def _settled_events(ws: Workspace, source: Source, first: datetime, until: datetime) -> DataFrame:
    """Ids of the usable events of a stretch of time, and their sessions, if there are any."""
    settings, foundation = ws.settings, ws.foundation
    scanned = scan(source, foundation, first, until - MICROSECOND, foundation.columns(settings))
    sessions = [foundation.session] if foundation.has_sessions else []
    return scanned.where(foundation.is_usable(settings)).select("event_id", *sessions)


def _days_of_lives(ws: Workspace, sessions: Sessions) -> list[date]:
    """Every day on which rows of the sessions can have been stored.

    A past window is often processed again because its events were mended: rows may lie where no
    event is any more.
    """
    if sessions.first is None or sessions.last is None:
        return []
    return days_of_life(sessions.first, sessions.last, ws.settings)
