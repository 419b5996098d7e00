"""State that cannot be right: a run over it would leave rows out in silence, so it stops."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

from windrow.atomic.source import Source
from windrow.engine.workspace import Workspace
from windrow.errors import RefusedError
from windrow.models.model import Model


def refuse_lost_state(
    ws: Workspace,
    models: Sequence[Model],
    positions: Mapping[str, datetime],
    now: datetime,
    *,
    is_after_undo: bool = False,
) -> None:
    """Stop where the manifest says more than the clock or the tables can bear out.

    `is_after_undo`: something was taken back last. If it had made the table of sessions that was
    missing, that is there now, and empty.
    """
    known = {name: positions[name] for m in models for name in m.tracked_names if name in positions}
    if not known:
        return
    _refuse_future(ws, known, now)
    refuse_lost_sessions(ws, look_inside=is_after_undo)
    _refuse_vanished(ws, [m for m in models if m.kind == "incremental" and m.full_name in known])


def refuse_lost_sessions(ws: Workspace, *, look_inside: bool = False) -> None:
    """Stop where the table of sessions is not there; with `look_inside`, where it is empty too."""
    is_there = not ws.foundation.has_sessions or ws.tables.exists(ws.lifecycle)
    if is_there and not (look_inside and _has_no_session(ws)):
        return
    found = "is empty" if is_there else "is not there"
    raise RefusedError(
        f"{ws.lifecycle} {found}, but {ws.manifest} says that events were consumed: a run "
        "would take every session for a new one. Restore the table, set schemas.manifest back "
        "if it was renamed, or have it made anew from the events with "
        f"`--refresh-manifests --select {ws.lifecycle.name}`."
    )


def _has_no_session(ws: Workspace) -> bool:
    return ws.foundation.has_sessions and ws.tables.read(ws.lifecycle).isEmpty()


def refuse_left_behind(ws: Workspace, models: Sequence[Model], left: Collection[str]) -> None:
    """Stop at a table that a killed run wrote to and that could not be taken back.

    What is made from such a table would be wrong too, and stay so.
    """
    used = {name for member in models for name in (member.name, *member.stored_parents)}
    if found := [it for it in ws.models if it.name in used and it.full_name in left]:
        listed = ", ".join(str(ws.table(member)) for member in found)
        raise RefusedError(
            f"{listed} still holds what a killed run wrote: someone else had changed it since, and "
            "the rebuild that was to follow did not come to its end. Rebuild with "
            f"`--full-refresh --select {' '.join(member.name for member in found)}`."
        )


def newest_event(source: Source, positions: Mapping[str, datetime]) -> datetime | None:
    """The furthest position if some event is as new as that; None if there is none."""
    furthest = max(positions.values(), default=None)
    if furthest is None or source.rows_since(furthest).isEmpty():
        return None
    return furthest


def refuse_ahead_of_source(
    ws: Workspace, positions: Mapping[str, datetime], newest: datetime | None
) -> None:
    """Stop where the newest event that was consumed is not among the events any more."""
    if not positions:
        return
    model, furthest = max(positions.items(), key=lambda pair: pair[1])
    if newest is None or newest < furthest:
        raise RefusedError(
            f"{ws.manifest} says that '{model}' has consumed events until "
            f"{furthest:%Y-%m-%d %H:%M:%S}, but there is no event as new as that: events were "
            "removed, events.path or events.table means others now, or the manifest was edited. "
            "Mend that; if the events are right, take the models out of the manifest with "
            "models_to_remove, or begin anew with --full-refresh."
        )


def _refuse_future(ws: Workspace, known: Mapping[str, datetime], now: datetime) -> None:
    model, furthest = max(known.items(), key=lambda pair: pair[1])
    if furthest - timedelta(hours=ws.settings.lookback_window_hours) > now:
        raise RefusedError(
            f"{ws.manifest} says that '{model}' has consumed events until "
            f"{furthest:%Y-%m-%d %H:%M:%S}, but the clock says {now:%Y-%m-%d %H:%M:%S}. If the "
            "manifest was edited, put the position back, or take the model out of it with "
            "models_to_remove; if the clock is wrong, or --now too early, mend that."
        )


def _refuse_vanished(ws: Workspace, models: Sequence[Model]) -> None:
    tables = [ws.table(member) for member in models]
    with ThreadPoolExecutor(max_workers=4) as pool:
        is_there = pool.map(ws.tables.exists, tables)
    vanished = [member for member, there in zip(models, is_there, strict=True) if not there]
    if not vanished:
        return
    names = " ".join(member.name for member in vanished)
    listed = ", ".join(f"{ws.table(member)} of '{member.name}'" for member in vanished)
    raise RefusedError(
        f"The manifest says that rows were made that are not there: {listed}. A run would make "
        f"only the newest of them again. Rebuild with `--full-refresh --select {names}`, restore "
        "what was dropped, or set schemas.derived back if it was renamed."
    )
