"""The way back: runs that were killed, stopped half-way, locked out or no longer wanted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from windrow.engine.steps import Listener, Step
from windrow.engine.workspace import Workspace
from windrow.errors import LockedError, RefusedError, UsageError, did_you_mean, first_line
from windrow.state.ledger import Lease, RunRecord
from windrow.state.undo import MAINTAIN, has_committed, is_maintenance, undo
from windrow.tables import TableName

ROLLBACK = "rollback"
_SEARCHED_RUNS = 10_000


def undo_killed(ws: Workspace, killed: Lease | None, listener: Listener) -> tuple[str, ...]:
    """Take back what a killed run wrote, unless it had reached its manifest commit.

    A rollback that was killed is finished instead: it can be done twice.
    """
    if killed is None:
        return ()
    if killed.state == ROLLBACK:
        rollback = plan_rollback(ws, killed.models[0])
        _restore(ws, rollback)
        listener(Step("recovery", "done", detail=f"finished the rollback of {rollback.run_id}"))
        _end(ws, killed, "rolled_back", f"Back to before run {rollback.run_id}.")
        return ()
    if killed.state == MAINTAIN:
        # It changed no rows, so there is nothing to take back.
        end_upkeep(ws, killed, "stopped", "The process ended before it could say so.")
        return ()
    if has_committed(ws.tables, ws.manifest, killed.run_id):
        _end(ws, killed, "succeeded", "The process ended before it could say so.")
        return ()
    tables = take_back(ws, killed)
    listener(Step("recovery", "done", detail=f"undid the killed run {killed.run_id}"))
    _end(ws, killed, "undone", f"Killed; taken back: {', '.join(map(str, tables)) or 'nothing'}")
    return (killed.run_id,)


def take_back(ws: Workspace, lease: Lease) -> list[TableName]:
    """Undo what a run wrote, also into tables of models that are gone by now."""
    intended = [TableName(ws.schemas.derived, name) for name in lease.models]
    tables = dict.fromkeys([*ws.written_tables(ws.models), *intended, ws.manifest])
    return undo(ws.tables, lease.run_id, list(tables))


def _end(
    ws: Workspace,
    lease: Lease,
    outcome: str,
    error: str | None,
    table_versions: dict[str, str] | None = None,
    kept_since: datetime | None = None,
) -> None:
    ws.ledger.end(
        RunRecord(
            run_id=lease.run_id,
            package=lease.package,
            outcome=outcome,
            state=None if lease.state in (ROLLBACK, MAINTAIN) else lease.state,
            lower_limit=lease.lower_limit,
            upper_limit=lease.upper_limit,
            started_at=lease.started_at,
            finished_at=datetime.now(UTC),
            table_versions=table_versions or {},
            error=error,
            kept_since=kept_since,
        )
    )


def end_upkeep(
    ws: Workspace,
    lease: Lease,
    outcome: str,
    error: str | None = None,
    table_versions: dict[str, str] | None = None,
) -> None:
    """Add an upkeep to the ledger, with the moment since when it has kept files, if it deletes."""
    kept_since = datetime.fromisoformat(lease.models[0]) if lease.models else None
    _end(ws, lease, outcome, error, table_versions, kept_since)


@contextmanager
def undone_on_error(ws: Workspace, lease: Lease) -> Iterator[None]:
    """Whatever stops the run half-way, Ctrl-C too, leaves the tables as they were found."""
    try:
        yield
    except BaseException as error:
        if ws.ledger.is_ours(lease) and not has_committed(ws.tables, ws.manifest, lease.run_id):
            take_back(ws, lease)
            _end(ws, lease, "undone", f"{type(error).__name__}: {first_line(error)}")
        raise


# --- unlock ------------------------------------------------------------------------------------


def unlock(ws: Workspace, *, force: bool, listener: Listener) -> str | None:
    """End the lease of a run that is dead and take back what it wrote; gives the run's id.

    A run that seems alive keeps its lease unless forced.
    """
    lease = ws.ledger.lease(ws.lease_name)
    if lease is None:
        return None
    if ws.ledger.is_held(lease) and not force:
        raise LockedError(
            f"Run {lease.run_id} of package '{lease.package}' still seems to be going on: "
            f"{lease.holder}, last heard of within its lease, which ends at "
            f"{lease.lease_until:%H:%M:%S} UTC. If you know that it is dead, use --force."
        )
    with ws.tables.commits_of(f"unlock-{lease.run_id}"):
        # Whoever takes the lease over is the only one whose writes count from here on.
        ws.ledger.take_over(lease, ws.settings.lease_minutes)
        undo_killed(ws, lease, listener)
    return lease.run_id


# --- rollback ----------------------------------------------------------------------------------


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
    """What would be taken back; writes nothing."""
    records = ws.ledger.last_runs(ws.lease_name, _SEARCHED_RUNS)
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
        if now == then:
            continue
        _refuse_foreign(ws, table, then)
        tables.append(TableRollback(table, now, then))
    return Rollback(
        run_id=run_id,
        package=ws.name,
        target=ws.target,
        runs=tuple(r.run_id for r in records[: at + 1] if r.outcome in ("succeeded", "failed")),
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


def _refuse_foreign(ws: Workspace, table: TableName, then: str | None) -> None:
    for commit in ws.tables.history(table):
        if commit.version == then:
            return
        if commit.run_id is None and not is_maintenance(commit):
            raise RefusedError(
                f"{table} was changed by something that is not a run ({commit.operation}, version "
                f"{commit.version}); going back would lose that change."
            )


def roll_back(ws: Workspace, run_id: str, *, new_id: str) -> Rollback:
    """Take the package back to where the run found it, the manifest last."""
    ws.ledger.refuse_if_held(ws.lease_name)
    ws.ledger.prepare()
    rollback = plan_rollback(ws, run_id)
    with ws.tables.commits_of(new_id):
        lease = ws.ledger.take(
            ws.lease_name, new_id, None, [run_id], ws.settings.lease_minutes, state=ROLLBACK
        )
        with ws.ledger.kept(lease, ws.settings.lease_minutes):
            _restore(ws, rollback)
            versions = ws.versions_of([change.table for change in rollback.tables])
            _end(ws, lease, "rolled_back", f"Back to before run {run_id}.", versions)
    return rollback


def _restore(ws: Workspace, rollback: Rollback) -> None:
    for change in rollback.tables:
        ws.tables.restore(change.table, change.then)
