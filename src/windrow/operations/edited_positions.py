"""Positions that someone moved in the manifest by hand, and the models that this leaves behind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from windrow.engine.holding import Seen
from windrow.engine.workspace import Workspace
from windrow.errors import WindrowError
from windrow.models.model import Model
from windrow.models.selection import downstream
from windrow.state import manifest
from windrow.state.runs import Outcome
from windrow.tables.refusals import unreadable_files


@dataclass(frozen=True)
class EditedPosition:
    """A row of the manifest that is not as windrow left it."""

    name: str
    then: datetime | None
    """What windrow left; None: it left no row."""
    now: datetime | None
    """What is there; None: no row."""


def edited_positions(ws: Workspace, seen: Seen) -> tuple[EditedPosition, ...]:
    """The rows that something else than windrow changed since it wrote the manifest last."""
    left = _version_left(ws, seen)
    if left is None or ws.tables.version(ws.manifest) == left:
        return ()
    try:
        with unreadable_files():
            then = manifest.positions_at(ws.tables, ws.manifest, left)
    except WindrowError:
        # Files of that version were deleted since, so that it cannot be told what was changed.
        return ()
    return differing(then, seen.positions)


def differing(
    then: Mapping[str, datetime], now: Mapping[str, datetime]
) -> tuple[EditedPosition, ...]:
    """The rows that differ, by name."""
    names = sorted({*then, *now})
    found = (EditedPosition(name, then.get(name), now.get(name)) for name in names)
    return tuple(it for it in found if it.then != it.now)


def left_behind(models: Sequence[Model], edited: Sequence[EditedPosition]) -> tuple[str, ...]:
    """The models that read one whose row was changed, and whose own rows were not."""
    names = {it.name for it in edited}
    moved = [member for member in models if names & set(member.tracked_names)]
    return tuple(it.name for it in downstream(models, moved) if it not in moved)


def _version_left(ws: Workspace, seen: Seen) -> str | None:
    """What the last one that wrote the manifest left it at; None: nobody knows for sure."""
    if seen.unfinished is not None:
        return None
    name = str(ws.manifest)
    for run in seen.newest_runs:
        if name in run.table_versions:
            return run.table_versions[name]
        if run.outcome is Outcome.ROLLED_BACK:
            return None
    return None
