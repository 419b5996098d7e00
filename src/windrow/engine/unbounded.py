"""Which of a project's own models look at more than what a run touches, and why."""

from __future__ import annotations

from collections.abc import Iterable

from windrow.engine.recompute import day_in_key
from windrow.engine.workspace import Workspace
from windrow.models.model import Model, Stored


def unbounded(ws: Workspace, models: Iterable[Model]) -> dict[str, str]:
    """Model -> why its cost grows with history."""
    found = {member.name: _why(ws, member) for member in models if member.path}
    return {name: why for name, why in found.items() if why}


def _why(ws: Workspace, member: Model) -> str:
    whole = [it.model for it in member.inputs.values() if isinstance(it, Stored) and it.is_whole]
    if whole:
        return f"it takes all stored rows of {', '.join(whole)}"
    if member.recomputed_from is not None:
        owner = ws.model(member.recomputed_from)
        columns = owner.columns_for(ws.settings_of(owner)) or {}
        if day_in_key(member, ws.destination(owner), columns) is None:
            return (
                f"rows of {owner.name} with one of its keys may lie on any day: no column of its "
                f"key is the day of {owner.name}"
            )
        return ""
    if member.kind != "incremental" or not member.key:
        return ""
    is_near = member.replaces == ws.foundation.session and not member.follows_sessions
    if is_near or (member.replaces is not None and member.replaces == f"{member.date}_date"):
        return ""
    return "a stored row with one of its keys may lie on any day"
