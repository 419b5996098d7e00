"""Rebuilding from nothing, and what protects the manifests from it."""

from __future__ import annotations

from collections.abc import Sequence

from windrow.engine.workspace import Workspace
from windrow.errors import RefusedError
from windrow.models.model import Model
from windrow.state import manifest


def check_refresh(ws: Workspace) -> None:
    """Stop unless this target allows a rebuild: dev does, elsewhere it must be asked for twice."""
    settings = ws.settings
    is_dev = ws.target == settings.dev_target_name
    if not ws.hooks.allow_refresh(ws.target, is_dev or settings.allow_refresh):
        raise RefusedError(
            f"A full refresh of '{ws.name}' on target '{ws.target}' would drop what its "
            "manifests know. Outside the dev target it needs allow_refresh too: "
            f'--vars \'{{"{ws.package.name}": {{"allow_refresh": true}}}}\'.'
        )


def empty_tables(ws: Workspace, models: Sequence[Model]) -> None:
    """Take the rows out of the models' tables and forget how far they had come.

    When all models of the package are rebuilt, its sessions and its quarantine start anew too.
    Given no model, the manifests alone do: every table keeps its rows until they are replaced.
    """
    for member in models:
        _empty(ws, member)
    if len(models) in (0, len(ws.models)):
        # The manifest is among them, and emptied in one commit, which can then be undone.
        for table in ws.protected:
            ws.tables.restore(table, None)
        return
    names = [name for member in models for name in member.tracked_names]
    manifest.forget(ws.spark, ws.tables, ws.manifest, names)


def _empty(ws: Workspace, member: Model) -> None:
    table = ws.table(member)
    if ws.tables.exists(table):
        ws.tables.restore(table, None)
