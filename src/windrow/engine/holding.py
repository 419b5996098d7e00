"""Holding a package: everything that writes its tables looks, settles what was left, then holds.

    seen = settle(ws, listener)                     another run stops us, a killed one is undone
    ... decide what to do from what was seen ...
    with held(ws, run_id, intent, seen) as lease:   nobody else has come in between
        ... write ...

The lease comes before the first write, of a recovery too: it is taken over from the killed run, so
that of two starters one undoes it. Whatever stops the block half-way is undone there and then.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from windrow.engine.steps import Listener, Step
from windrow.engine.workspace import Workspace
from windrow.errors import LockedError, TableError, first_line
from windrow.models.model import Model
from windrow.state import manifest
from windrow.state.leases import Intent, Kind, Lease
from windrow.state.records import collect_together, records_of
from windrow.state.runs import ModelFate, Outcome, RunRecord, in_order
from windrow.state.undo import Undone, has_committed, undo, undoing_of
from windrow.tables import TableName

_FRESH = timedelta(days=1)
"""Table formats keep versions for five days at the least, unless told otherwise."""
_SECONDS_TO_DECIDE = 60
"""For whoever takes a lease over to say what became of its run."""
_NEWEST_RUNS = 20
"""Enough to find the run of the last lease, if it has ended, and one whose rows are stored."""


@dataclass(frozen=True)
class Seen:
    """What windrow remembers of a package, read once before anything is decided."""

    positions: dict[str, datetime]
    """Model -> the greatest collector time it has consumed: every row of the manifest."""
    last_lease: Lease | None
    """The lease as it was taken last: as long as it is, nothing else has changed either."""
    unfinished: Lease | None = None
    """The same, while its run is not in the ledger: it goes on, or was killed."""
    last_run: RunRecord | None = None
    """The newest run whose rows are in the tables."""
    newest_runs: tuple[RunRecord, ...] = ()
    """The last ones that ended, newest first."""
    undone: tuple[str, ...] = ()
    """Runs that had been killed and were undone first."""

    def key_of(self, table: TableName) -> tuple[str, ...] | None:
        """By which key the last run that wrote to a table told its rows apart, if that is known."""
        kept = (run.keys for run in self.newest_runs if run.outcome.is_kept)
        return next((keys[str(table)] for keys in kept if str(table) in keys), None)

    def versions_at_success(self, model: str) -> dict[str, str] | None:
        """What tables were at when a model last succeeded; None: no run that was looked at says."""
        kept = (run for run in self.newest_runs if run.outcome.is_kept)
        return next((run.table_versions for run in kept if run.has_succeeded(model)), None)

    def left_behind(self) -> frozenset[str]:
        """Tables with what a killed run wrote, which no run has rebuilt since.

        Doing a past window again rebuilds nothing, and any other run but a rebuild was refused.
        """
        left, made = set[str](), set[str]()
        for run in self.newest_runs:
            left |= {*run.left_behind} - made
            if run.outcome.is_kept and run.rerun_from is None:
                made |= {it.name for it in run.models if it.outcome is ModelFate.SUCCEEDED}
        return frozenset(left)

    @property
    def is_after_undo(self) -> bool:
        """True when the last thing that happened was taken back."""
        return bool(self.newest_runs) and self.newest_runs[0].outcome is Outcome.UNDONE

    @property
    def _writers(self) -> list[RunRecord]:
        """Runs and upkeep: after an adoption, whoever had the tables before may have gone on."""
        return [run for run in self.newest_runs if run.outcome is not Outcome.ADOPTED]

    def version_of(self, table: TableName, *, but_upkeep: bool = False) -> str | None:
        """What the last run or upkeep that touched a table left it at, if that is known.

        `but_upkeep`: or the last run, as upkeep changes no rows.
        """
        runs = [
            run for run in self._writers if not (but_upkeep and run.outcome is Outcome.MAINTAINED)
        ]
        left = (run.table_versions for run in runs)
        return next((versions[str(table)] for versions in left if str(table) in versions), None)

    def fresh_version_of(self, table: TableName) -> str | None:
        """The same, if that was so lately that no upkeep by others can have given it up since."""
        since = datetime.now(UTC) - _FRESH
        left = (run for run in self._writers if str(table) in run.table_versions)
        run = next(left, None)
        return run.table_versions[str(table)] if run and run.finished_at > since else None


def look(ws: Workspace) -> Seen:
    """Read the package's state, in one query; writes nothing."""
    frames = {
        "lease": ws.leases.rows_of(ws.lease_name),
        "runs": ws.runs.newest(ws.lease_name, _NEWEST_RUNS, and_unsettled=True),
        "manifest": manifest.rows_of(ws.tables, ws.manifest),
    }
    found = collect_together({name: rows for name, rows in frames.items() if rows is not None})
    lease = next(iter(records_of(found.get("lease", ()), Lease)), None)
    newest = in_order(records_of(found.get("runs", ()), RunRecord))
    is_free = lease is None or not lease.run_id or lease.run_id in {it.run_id for it in newest}
    if not is_free and lease is not None and ws.runs.outcome_of(lease.package, lease.run_id):
        # Its host's clock is behind, so that it is not among the newest.
        is_free = True
    return Seen(
        positions=manifest.positions_in(found.get("manifest", ())),
        last_lease=lease,
        unfinished=None if is_free else lease,
        last_run=next((it for it in newest if it.outcome.is_kept), None),
        newest_runs=tuple(newest),
    )


def versions_at_success(ws: Workspace, seen: Seen, model: Model) -> dict[str, str]:
    """What tables were at when a model last succeeded; empty when no run says so."""
    known = seen.versions_at_success(model.full_name)
    if known is None and len(seen.newest_runs) >= _NEWEST_RUNS:
        return ws.runs.versions_at_last_success(ws.lease_name, model.full_name)
    return known or {}


def settle(
    ws: Workspace,
    listener: Listener,
    *,
    force: bool = False,
    given_up: Collection[TableName] = (),
    rebuilt: Collection[TableName] = (),
) -> Seen:
    """The package's state, after stopping at another run and undoing one that was killed.

    With `force`, a run counts as killed even if it seems alive. Tables that are `given_up` are
    not taken back, and those that are about to be `rebuilt` need not be.
    """
    seen = look(ws)
    if seen.unfinished is None:
        return seen
    if not force:
        refuse_if_held(ws, seen)
    undone = _recover(ws, seen.unfinished, listener, given_up, rebuilt)
    return replace(look(ws), undone=undone)


def refuse_if_held(ws: Workspace, seen: Seen) -> None:
    """Stop if another run holds the package."""
    lease = seen.unfinished
    if lease is not None and ws.leases.is_held(lease):
        raise LockedError(
            f"Package '{lease.package}' is being run by {lease.holder} since "
            f"{lease.started_at:%Y-%m-%d %H:%M:%S} UTC (run {lease.run_id}). Wait for it to "
            f"finish; if it is dead, its lease ends at {lease.lease_until:%H:%M:%S} UTC, or "
            f"`windrow unlock` ends it now."
        )


@contextmanager
def held(
    ws: Workspace, run_id: str, intent: Intent, seen: Seen, *, began: datetime | None = None
) -> Iterator[Lease]:
    """Hold the package while the block runs; commits made inside carry the run's id.

    `began`: when the run did, where it has been at work before.
    """
    minutes = ws.settings.lease_minutes
    ws.leases.prepare()
    ws.runs.prepare()
    lease = ws.leases.take(
        ws.lease_name, run_id, intent, minutes, after=seen.last_lease, began=began
    )
    with ws.leases.kept(lease, minutes) as fence, ws.tables.commits_of(run_id, fence):
        try:
            yield lease
        except BaseException as error:
            _end_half_way(ws, lease, error)
            raise


def _end_half_way(ws: Workspace, lease: Lease, error: BaseException) -> None:
    """Whatever stopped the block, Ctrl-C too: leave the tables as they were found."""
    reason = f"{type(error).__name__}: {first_line(error)}"
    if not ws.leases.is_ours(lease):
        # Whoever has the lease now has taken back what it saw of ours; the rest is ours to undo.
        try:
            if not _counts_for_others(ws, lease):
                take_back(ws, lease)
        except TableError as problem:
            raise LockedError(f"{first_line(error)} What it wrote then stays: {problem}") from error
    elif lease.intent.kind is Kind.MAINTAIN:
        end(ws, lease, Outcome.STOPPED, error=reason, kept_since=lease.intent.kept_since)
    elif lease.intent.kind is Kind.ROLLBACK:
        # Half of it is done: whoever comes next finishes it.
        ws.leases.release(lease)
    elif not has_committed(ws.tables, ws.manifest, lease.run_id):
        take_back(ws, lease)
        end(ws, lease, Outcome.UNDONE, error=reason)


def _counts_for_others(ws: Workspace, lease: Lease) -> bool:
    """Whether whoever took a lease over takes its run for done, and builds on its rows.

    The manifest may have been committed before, or too late; the ledger says what it was taken for.
    """
    if not has_committed(ws.tables, ws.manifest, lease.run_id):
        return False
    for _ in range(_SECONDS_TO_DECIDE):
        if outcome := ws.runs.outcome_of(lease.package, lease.run_id):
            return outcome.is_kept
        time.sleep(1)
    # Whoever it was is gone, and the next one goes by the manifest.
    return True


def _recover(
    ws: Workspace,
    killed: Lease,
    listener: Listener,
    given_up: Collection[TableName],
    rebuilt: Collection[TableName],
) -> tuple[str, ...]:
    """Bring a killed run to an end: taken back, or finished where it was past the point."""
    minutes = ws.settings.lease_minutes
    ws.leases.prepare()
    ours = ws.leases.take_over(killed, minutes)
    with ws.leases.kept(ours, minutes), ws.tables.commits_of(undoing_of(killed.run_id)):
        try:
            return _bring_to_an_end(ws, ours, listener, given_up, rebuilt)
        except BaseException:
            # Whoever comes next, perhaps with tables to give up, need not wait for us.
            ws.leases.release(ours)
            raise


def _bring_to_an_end(
    ws: Workspace,
    killed: Lease,
    listener: Listener,
    given_up: Collection[TableName],
    rebuilt: Collection[TableName],
) -> tuple[str, ...]:
    said_nothing = "The process ended before it could say so."
    intent = killed.intent
    if intent.kind is Kind.ROLLBACK:
        left = restore(ws, intent, given_up, rebuilt)
        listener(
            Step("recovery", "done", detail=f"finished the rollback of {intent.goes_back_before}")
        )
        text = f"Back to before run {intent.goes_back_before}."
        known = {"left_behind": left, "goes_back_before": intent.goes_back_before}
        end(ws, killed, Outcome.ROLLED_BACK, error=text, **known)
        return ()
    if intent.kind is Kind.MAINTAIN:
        # It changed no rows, so there is nothing to take back.
        kept_since = intent.kept_since
        end(ws, killed, Outcome.STOPPED, error=said_nothing, kept_since=kept_since)
        return ()
    if has_committed(ws.tables, ws.manifest, killed.run_id):
        # Nobody has written since: what the tables are at now is what the run left.
        versions = ws.versions_of([ws.manifest, *ws.written_tables(ws.stored_models)])
        outcome = Outcome.ADOPTED if intent.kind is Kind.ADOPT else Outcome.SUCCEEDED
        end(ws, killed, outcome, error=said_nothing, table_versions=versions)
        return ()
    undone = take_back(ws, killed, given_up, rebuilt)
    listener(Step("recovery", "done", detail=f"undid the killed run {killed.run_id}"))
    text = f"Killed; taken back: {', '.join(map(str, undone.back)) or 'nothing'}"
    if lost := [*given_up, *undone.left]:
        text += f"; given up: {', '.join(map(str, lost))}"
    end(ws, killed, Outcome.UNDONE, error=text, left_behind=tuple(it.name for it in undone.left))
    return (killed.run_id,)


def take_back(
    ws: Workspace,
    lease: Lease,
    given_up: Collection[TableName] = (),
    rebuilt: Collection[TableName] = (),
) -> Undone:
    """Undo what a run wrote, also into tables of models that are gone by now."""
    intended = [TableName(ws.schemas.derived, name) for name in lease.intent.models]
    tables = dict.fromkeys([*ws.written_tables(ws.models), *intended, ws.manifest])
    return undo(ws.tables, lease.run_id, list(tables), given_up=given_up, rebuilt=rebuilt)


def restore(
    ws: Workspace,
    intent: Intent,
    given_up: Collection[TableName] = (),
    rebuilt: Collection[TableName] = (),
) -> tuple[str, ...]:
    """Take tables back to the versions that a rollback intends; can be done twice.

    Gives the names of those that are about to be `rebuilt` and could not be taken back.
    """
    left = []
    for name, version in intent.restores.items():
        schema, _, table = name.partition(".")
        found = TableName(schema, table)
        if found in given_up:
            continue
        try:
            _restore(ws, intent, found, version)
        except TableError:
            if found not in rebuilt:
                raise
            left.append(table)
    return tuple(left)


def _restore(ws: Workspace, intent: Intent, table: TableName, version: str | None) -> None:
    if not ws.tables.exists(table):
        raise TableError(
            f"{table} is not there any more, so the rollback before run "
            f"{intent.goes_back_before} cannot be finished. Give it up for this table with "
            f"`windrow unlock --abandon {table.name}`."
        )
    ws.tables.restore(table, version)


def end(ws: Workspace, lease: Lease, outcome: Outcome, **known: Any) -> RunRecord:
    """Add to the ledger how whoever held the lease ended, which frees it."""
    intent = lease.intent
    record = RunRecord(
        run_id=lease.run_id,
        package=lease.package,
        outcome=outcome,
        started_at=lease.started_at,
        finished_at=datetime.now(UTC),
        **{
            "state": intent.state,
            "lower_limit": intent.lower_limit,
            "upper_limit": intent.upper_limit,
            **known,
        },
    )
    ws.runs.add(record)
    return record
