"""Upkeep of a package's tables: layout as configured, few files, no more history than is needed.

It changes no rows. It holds the package's lease, so that no run writes meanwhile, and first takes
back what a killed run wrote, so that no version is given up that might still be needed for it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime, timedelta

from windrow.engine.holding import end, held, look, refuse_if_held, settle
from windrow.engine.options import RunOptions
from windrow.engine.plan import chosen_models
from windrow.engine.steps import Listener, Step, say_nothing
from windrow.engine.workspace import Workspace
from windrow.errors import UsageError, first_line
from windrow.state.leases import Intent, Kind
from windrow.state.runs import Outcome, new_run_id
from windrow.state.undo import MAINTAIN
from windrow.tables import Compaction, ConflictError, Expiry, Layout, TableName

# A run that may have to be undone needs what its tables were at before it began, with a margin for
# clocks that disagree.
_MARGIN = timedelta(days=1)


@dataclass(frozen=True)
class TableUpkeep:
    """What was done for one table, or would be."""

    table: TableName
    layout: Layout
    """What it was laid out by before."""
    new_layout: Layout | None
    """What it is laid out by from now on; None: it stays as it is."""
    compaction: Compaction | None
    """None when nothing is to be changed."""
    expiry: Expiry | None
    problem: str | None = None
    """Why the table was left as it is: another writer was at work on it."""


@dataclass(frozen=True)
class Upkeep:
    """What was done for a package's tables, or would be."""

    package: str
    target: str
    run_id: str | None
    """The upkeep in the ledger; None when it only says what it would do."""
    kept_since: datetime
    """What the tables were at since this moment is kept."""
    has_deleted: bool
    tables: tuple[TableUpkeep, ...]
    undone: tuple[str, ...] = ()
    """Runs that had been killed and were undone first."""


def maintain(
    ws: Workspace,
    *,
    now: datetime,
    retention_days: int = 7,
    select: str | None = None,
    delete: bool = False,
    dry_run: bool = False,
    listener: Listener = say_nothing,
) -> Upkeep:
    """Lay out, compact and, if told to delete, expire the package's tables.

    With `dry_run` nothing at all is written.
    """
    if retention_days < 0:
        raise UsageError(f"The retention is {retention_days} days; expected 0 or more.")
    seen = look(ws)
    refuse_if_held(ws, seen)
    wanted = _wanted(ws, select)
    kept_since = now - timedelta(days=retention_days)
    if seen.unfinished is not None:
        kept_since = min(kept_since, seen.unfinished.started_at - _MARGIN)
    if dry_run or not wanted:
        looked = tuple(_look_at(ws, table, layout, kept_since) for table, layout in wanted.items())
        return Upkeep(ws.package.name, ws.target, None, kept_since, False, looked)

    run_id = f"{MAINTAIN}-{new_run_id(now)}"
    seen = settle(ws, listener)
    intent = Intent(kind=Kind.MAINTAIN, kept_since=kept_since if delete else None)
    with held(ws, run_id, intent, seen) as lease:
        done = tuple(
            _look_after(ws, table, layout, kept_since, delete, listener)
            for table, layout in wanted.items()
        )
        versions = ws.versions_of([*ws.written_tables(ws.models), ws.manifest, ws.key_days])
        kept = intent.kept_since
        end(ws, lease, Outcome.MAINTAINED, kept_since=kept, table_versions=versions)
    return Upkeep(ws.package.name, ws.target, run_id, kept_since, delete, done, seen.undone)


def _wanted(ws: Workspace, select: str | None) -> dict[TableName, Layout | None]:
    """The tables that are there, and their configured layouts; None: whatever it is."""
    members = chosen_models(ws, RunOptions(select=select)) if select else ws.models
    tables: dict[TableName, Layout | None] = {}
    for member in members:
        table = ws.table(member)
        if member.kind != "this_run" and ws.tables.exists(table):
            tables[table] = ws.layout(member, ws.tables.columns(table))
    if select:
        return tables
    others = [
        table
        for table in (
            *(*ws.protected, ws.quarantine_notes, ws.key_days),
            *(ws.runs.table, ws.leases.table),
        )
        if ws.tables.exists(table)
    ]
    # A package that stands on another one's manifests leaves their layout to that one.
    is_owner = ws.package.stands_on is None
    return tables | {
        table: ws.lifecycle_layout if is_owner and table == ws.lifecycle else None
        for table in others
    }


def _look_at(
    ws: Workspace, table: TableName, wanted: Layout | None, kept_since: datetime
) -> TableUpkeep:
    layout = ws.tables.layout(table)
    return TableUpkeep(
        table=table,
        layout=layout,
        new_layout=None if wanted in (None, layout) else wanted,
        compaction=None,
        expiry=ws.tables.expire(table, kept_since, delete=False),
    )


def _look_after(
    ws: Workspace,
    table: TableName,
    wanted: Layout | None,
    kept_since: datetime,
    delete: bool,
    listener: Listener,
) -> TableUpkeep:
    began = time.monotonic()
    listener(Step(table.name, "started"))
    layout = ws.tables.layout(table)
    new_layout = None if wanted in (None, layout) else wanted
    try:
        if new_layout is not None:
            ws.tables.change_layout(table, new_layout)
        compaction = ws.tables.compact(table)
        expiry = ws.tables.expire(table, kept_since, delete=delete)
    except ConflictError as error:
        # Other packages write the ledger's tables too. What is left undone is done next time.
        listener(Step(table.name, "skipped", detail=first_line(error)))
        return TableUpkeep(table, layout, None, None, None, first_line(error))
    listener(Step(table.name, "done", seconds=time.monotonic() - began))
    return TableUpkeep(table, layout, new_layout, compaction, expiry)
