"""Beginning anew: what is forgotten and emptied for it, and what protects the manifests from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from windrow.engine.options import RunOptions
from windrow.engine.workspace import Workspace
from windrow.errors import RefusedError
from windrow.models.model import Model
from windrow.state import manifest
from windrow.tables import TableName


@dataclass(frozen=True)
class Fresh:
    """What a run forgets before it begins: with none of it, it goes on where it stood."""

    empties: tuple[TableName, ...] = ()
    """Tables whose rows go."""
    forgets: tuple[str, ...] = ()
    """Rows of the manifest that go."""
    is_whole: bool = False
    """True when the manifests are emptied: no session is known any more."""
    missing: tuple[str, ...] = ()
    """Models that were to be taken out of the manifest, but are not in it."""

    def __bool__(self) -> bool:
        return bool(self.empties or self.forgets or self.missing or self.is_whole)

    @property
    def sentence(self) -> str:
        """What goes, in words."""
        if self.is_whole:
            return "all models begin anew, and so do the manifests"
        gone = f"taken out of the manifest: {', '.join(self.forgets) or 'none'}"
        return gone + (f"; not there: {', '.join(self.missing)}" if self.missing else "")

    def left_of(self, positions: Mapping[str, datetime]) -> dict[str, datetime]:
        """The manifest as it will be."""
        if self.is_whole:
            return {}
        return {name: at for name, at in positions.items() if name not in self.forgets}


NOTHING_FRESH = Fresh()
"""Everything goes on where it stood."""


def fresh_start(
    ws: Workspace, models: Sequence[Model], positions: Mapping[str, datetime], options: RunOptions
) -> Fresh:
    """What these models forget under these options; nothing when they go on where they stood.

    When all models of the package begin anew, its sessions and its quarantine do too.
    """
    removed = ws.settings.models_to_remove if options.removes_models else ()
    missing = tuple(sorted(name for name in removed if name not in positions))
    forgotten = {name for name in removed if name in positions}
    if not options.is_refresh:
        return Fresh(forgets=tuple(sorted(forgotten)), missing=missing)
    stored = [member for member in models if member.kind != "this_run"]
    empties = tuple(ws.table(member) for member in stored) if options.full_refresh else ()
    forgotten |= {name for member in models for name in member.tracked_names if name in positions}
    is_whole = len(models) == len(ws.models)
    if is_whole:
        empties = (*empties, *ws.protected, ws.quarantine_notes)
    return Fresh(empties, tuple(sorted(forgotten)), is_whole, missing)


def begin_anew(ws: Workspace, fresh: Fresh) -> None:
    """Forget and empty what a plan says."""
    for table in fresh.empties:
        if ws.tables.exists(table):
            ws.tables.restore(table, None)
    if fresh.forgets and not fresh.is_whole:
        manifest.forget(ws.spark, ws.tables, ws.manifest, fresh.forgets)


def check_refresh(ws: Workspace, models: Sequence[Model], options: RunOptions) -> None:
    """Stop unless this target allows a rebuild: dev does, elsewhere it must be asked for twice.

    Tables of some of the models may be rebuilt anywhere: of the manifests that takes their own rows
    only, and the others go on meanwhile.
    """
    is_harmless = len(models) < len(ws.models) and not options.refresh_manifests
    refuse_unallowed(
        ws,
        f"A full refresh of '{ws.name}' on target '{ws.target}' would drop what its manifests "
        "know.",
        " Single tables can be rebuilt without it: --full-refresh --select MODEL.",
        is_harmless=is_harmless,
    )


def refuse_unallowed(
    ws: Workspace, what: str, instead: str = "", *, is_harmless: bool = False
) -> None:
    """Stop unless this target, the option or the hook allows that what manifests know goes."""
    settings = ws.settings
    asked = ws.target == settings.dev_target_name or settings.allow_refresh or is_harmless
    if ws.hooks.allow_refresh(ws.target, asked):
        return
    if asked:
        raise RefusedError(f"{what} The hook allow_refresh in hooks.py says no.")
    raise RefusedError(
        f"{what} Outside the dev target it needs allow_refresh too: "
        f'--vars \'{{"{ws.package.name}": {{"allow_refresh": true}}}}\'.{instead}'
    )
