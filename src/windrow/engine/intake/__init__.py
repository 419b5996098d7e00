"""The sessions and events that a run takes in.

sessions.py   which sessions the window touches     lifecycle.py       since when each lives
gather.py     all their events, each once           session_events.py  how that is found out
window.py     a window's events, without sessions   record.py          what is remembered
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from datetime import date

from windrow.atomic.source import Source
from windrow.engine.intake.gather import columns_read, gather_events
from windrow.engine.intake.lifecycle import days_of_life
from windrow.engine.intake.sessions import find_sessions
from windrow.engine.intake.values import Intake, Sessions
from windrow.engine.intake.window import events_of_window
from windrow.engine.key_days import KeyDays
from windrow.engine.workspace import Workspace
from windrow.state.limits import Limits, State

__all__ = ["Intake", "columns_read", "take_in"]


def take_in(
    ws: Workspace,
    source: Source,
    limits: Limits,
    event_columns: Iterable[str] | None,
    key_days: KeyDays,
    *,
    only: Collection[str] = (),
) -> Intake:
    """Find the sessions that the window touches, or `only` some of them, and gather their events.

    Models cannot tell the difference: they are made of whole sessions, whichever these are.
    """
    if not ws.foundation.has_sessions:
        return events_of_window(ws, source, limits, event_columns)
    sessions = find_sessions(ws, source, limits, key_days, only)
    intake = gather_events(ws, source, sessions, event_columns)
    if limits.state is State.RERUN:
        return replace(intake, days=(*intake.days, *_days_of_lives(ws, sessions)))
    return intake


def _days_of_lives(ws: Workspace, sessions: Sessions) -> list[date]:
    """Every day on which rows of the sessions can have been stored.

    A past window is often processed again because its events were mended: rows may lie where no
    event is any more.
    """
    if sessions.first is None or sessions.last is None:
        return []
    return days_of_life(sessions.first, sessions.last, ws.settings)
