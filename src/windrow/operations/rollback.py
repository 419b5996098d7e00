"""Going back to before a run: every table to the version that the ledger has, the manifest last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from windrow.engine.holding import Seen, end, held, restore, settle
from windrow.engine.steps import Listener, say_nothing
from windrow.engine.workspace import Workspace
from windrow.errors import RefusedError, UsageError, did_you_mean
from windrow.state.leases import Intent, Kind
from windrow.state.runs import Outcome, RunRecord
from windrow.state.undo import beginning_of, is_maintenance
from windrow.tables import TableName

_SEARCHED_RUNS = 10_000


@dataclass(frozen=True)
class TableRollback:
    """One table, what it is at, and what it was at; None: it had no rows."""

    table: TableName
    now: str | None
    then: str | None


@dataclass(frozen=True)
class Rollback:
    """What going back to before a run means."""

    run_id: str
    package: str
    target: str
    runs: tuple[str, ...]
    """The runs whose work is given up, newest first."""
    tables: tuple[TableRollback, ...]
    """The tables that change."""


def plan_rollback(ws: Workspace, run_id: str) -> Rollback:
    """What would be taken back; writes nothing. Refuses where a table could not go back."""
    records = ws.runs.last(ws.lease_name, _SEARCHED_RUNS)
    ids = [record.run_id for record in records]
    if run_id not in ids:
        raise UsageError(
            f"The ledger has no run '{run_id}' of package '{ws.name}'."
            f"{did_you_mean(run_id, ids)} `windrow status` lists the last runs."
        )
    at = ids.index(run_id)
    _refuse_deleted(records, records[at])
    tables = []
    for table in [*ws.written_tables(ws.models), ws.manifest]:
        if not ws.tables.exists(table):
            continue
        now, then = ws.tables.version(table), _version_before(records[at + 1 :], table)
        if then is None:
            # The runs given up made it, or none of the earlier ones that were looked at wrote it.
            commits = ws.tables.history(table)
            by_runs = {written for id in ids[: at + 1] for written in (id, beginning_of(id))}
            theirs = [commit for commit in commits if commit.run_id in by_runs]
            then = theirs[-1].before if theirs else now
        if now == then:
            continue
        _refuse_no_way(ws, table, then)
        tables.append(TableRollback(table, now, then))
    return Rollback(
        run_id=run_id,
        package=ws.name,
        target=ws.target,
        runs=tuple(record.run_id for record in records[: at + 1] if record.outcome.is_kept),
        tables=tuple(tables),
    )


def _refuse_deleted(records: Sequence[RunRecord], run: RunRecord) -> None:
    """Stop where files are gone: a rollback that fails at its third table is worse than none."""
    kept_since = max((r.kept_since for r in records if r.kept_since), default=None)
    if kept_since is not None and run.started_at < kept_since:
        raise RefusedError(
            f"Run {run.run_id} began at {run.started_at:%Y-%m-%d %H:%M:%S} UTC, but what tables "
            f"were at before {kept_since:%Y-%m-%d %H:%M:%S} UTC was deleted by `windrow maintain`. "
            "A rollback reaches back only as far as its --retention-days."
        )


def _version_before(earlier: Sequence[RunRecord], table: TableName) -> str | None:
    """What a table was at after the last of these runs that knew it."""
    name = str(table)
    return next((r.table_versions[name] for r in earlier if name in r.table_versions), None)


def _refuse_no_way(ws: Workspace, table: TableName, then: str | None) -> None:
    """Stop at a change that is not a run's, and at a table that never was at that version."""
    commits = ws.tables.history(table)
    for commit in commits:
        if commit.version == then:
            return
        if commit.run_id is None and not is_maintenance(commit):
            raise RefusedError(
                f"{table} was changed by something that is not a run ({commit.operation}, version "
                f"{commit.version}); going back would lose that change."
            )
    # A table that a run emptied counts from there on, but what it was at before is still there.
    is_just_before = bool(commits) and commits[-1].before == then
    if then is not None and not is_just_before:
        raise RefusedError(
            f"{table} was at version {then} after the run before, but its history does not have "
            "that version: the table was dropped and made anew since then. Rebuild it with "
            f"`windrow run --full-refresh --select {table.name}` instead."
        )


def roll_back(
    ws: Workspace, run_id: str, *, new_id: str, listener: Listener = say_nothing
) -> Rollback:
    """Take the package back to where the run found it, the manifest last."""
    seen: Seen = settle(ws, listener)
    rollback = plan_rollback(ws, run_id)
    intent = Intent(
        kind=Kind.ROLLBACK,
        goes_back_before=run_id,
        restores={str(change.table): change.then for change in rollback.tables},
    )
    with held(ws, new_id, intent, seen) as lease:
        restore(ws, intent)
        versions = ws.versions_of([change.table for change in rollback.tables])
        text = f"Back to before run {run_id}."
        known = {"table_versions": versions, "goes_back_before": run_id}
        end(ws, lease, Outcome.ROLLED_BACK, error=text, **known)
    return rollback
