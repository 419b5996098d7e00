"""How a run ends: its models' positions move, in one commit, and the ledger is told.

That commit decides that the run happened. What comes after it can be made up for by the next run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, datetime

from windrow.engine.holding import end, take_back
from windrow.engine.intake import Intake
from windrow.engine.key_days import (
    Brought,
    Keyed,
    keyed_models,
    keyed_sessions,
)
from windrow.engine.model_run import ModelRun
from windrow.engine.plan import Plan, next_lower
from windrow.engine.result import RunResult
from windrow.engine.workspace import Workspace
from windrow.models.model import Model
from windrow.state import manifest
from windrow.state.leases import Lease
from windrow.state.limits import Limits, State
from windrow.state.runs import FailedCheck, Outcome
from windrow.tables.days import DayRange, day_ranges


def commit(
    ws: Workspace,
    result: RunResult,
    lease: Lease,
    models: ModelRun,
    done: Sequence[Model],
    *,
    is_all: Callable[[], bool],
) -> RunResult:
    """Make the run count: the models that are done move to where it came.

    `is_all`: whether there are no events beyond the window.
    """
    plan = result.plan
    reached = reached_by(models.intake, plan.limits, compat=ws.settings.compat)
    if plan.settled_until is not None:
        # What is left of a look-back may have no event that counts; the others are where they were.
        reached = max(filter(None, (reached, plan.limits.progress)), default=None)
    moved = ws.hooks.positions(_advanced(ws, plan, done, reached))
    result = replace(
        result,
        reached=reached,
        moved=moved,
        is_caught_up=not moved or _is_last(plan.limits, is_all),
    )
    # Before the run counts: a table that has more than the ledger knows of does no harm.
    key_days = models.key_days.brought_up_to(plan.limits.upper.date(), _brought(ws, models))
    manifest.commit(ws.spark, ws.tables, ws.manifest, moved)
    for destination in models.new_keys:
        ws.tables.set_key(destination.table, destination.key)
    keys = {str(ws.table(m)): m.key for m in done if m.key and m.kind != "this_run"}
    versions = _versions(ws, models)
    if key_days:
        versions |= ws.versions_of([ws.key_days])
    return _record(
        ws,
        result,
        lease,
        written_days=_written_days(ws, models),
        keys=keys,
        versions=versions,
        key_days=key_days,
        number=models.number,
    )


def reject(ws: Workspace, result: RunResult, lease: Lease) -> RunResult:
    """Take back what the run wrote, as for one that was killed, and say which checks failed."""
    take_back(ws, lease)
    rejected = replace(result, outcome=Outcome.REJECTED, is_caught_up=False)
    failed = [f"{it.table} {it.check}" for it in result.checks if it.outcome == "failed"]
    return _record(ws, rejected, lease, error=f"Checks failed: {', '.join(failed)}")


def reached_by(intake: Intake, limits: Limits, *, compat: bool) -> datetime | None:
    """How far the models that succeeded have come.

    A catch-up whose window ended where the leading models stand ends the catching up, even when
    the newest event is no longer selected; the reference would go on for ever.
    """
    is_catching_up = limits.state in (State.NEW_MODEL, State.OUT_OF_SYNC)
    if is_catching_up and limits.upper == limits.ceiling and not compat:
        return limits.upper
    return intake.reached


def _advanced(
    ws: Workspace, plan: Plan, models: Sequence[Model], reached: datetime | None
) -> dict[str, datetime]:
    """The manifest rows that move: every model to where the run came, a past window to nowhere.

    A model made from another's stored table is never ahead of that table, or rows that come into
    it later would be missed.
    """
    if plan.limits.state.is_past:
        return {}
    after = dict(plan.manifest)
    changed: dict[str, datetime] = {}
    for member in models:
        owners = [] if ws.settings.compat else [ws.model(name) for name in member.stored_parents]
        known = [after.get(owner.full_name) for owner in owners if owner.tracked_names]
        furthest = (
            None if reached is None or None in known else min([reached, *filter(None, known)])
        )
        moved = manifest.advanced(plan.positions, member.tracked_names, furthest)
        changed |= moved
        after |= moved
    return changed


def _is_last(limits: Limits, is_all: Callable[[], bool]) -> bool:
    """True when a run with these limits leaves nothing for another one at the same clock."""
    is_live = limits.state in (State.FIRST_RUN, State.STANDARD)
    return is_live and (not limits.is_cut_short or is_all())


def _written_days(ws: Workspace, models: ModelRun) -> dict[str, tuple[DayRange, ...]]:
    """Table -> the days of the rows that went into it, where a table has days."""
    started_on = day_ranges(models.intake.started_on)
    return ({ws.lifecycle.name: started_on} if ws.foundation.has_sessions else {}) | {
        ws.model(name).full_name: written.days
        for name, written in models.written.items()
        if written.days is not None
    }


def _brought(ws: Workspace, models: ModelRun) -> dict[Keyed, Brought | None]:
    """What the run brought into tables whose keys' days are known."""
    brought: dict[Keyed, Brought | None] = {}
    found = models.intake.found
    if found is not None and found.started_on:
        rows = ws.foundation.as_recorded(found.continued)
        number = found.counts["sessions_with_new_events"]
        brought[keyed_sessions(ws)] = Brought(rows, number, found.started_on)
    committed = ws.tables.written()
    for member, keyed in keyed_models(ws):
        if keyed.table not in committed:
            continue
        written = models.written.get(member.name)
        if written is None or written.on is None:
            # It failed behind its own commit: nobody knows what it brought.
            brought[keyed] = None
        else:
            brought[keyed] = Brought(models.rows[member.name], written.rows, written.on)
    return brought


def _versions(ws: Workspace, models: ModelRun) -> dict[str, str]:
    """What the tables are at that the run wrote, or made its rows from."""
    ours = {ws.manifest, *ws.written_tables(ws.stored_models)}
    written = {table: at for table, at in ws.tables.written().items() if table in ours}
    return {**models.inputs.versions_read(), **{str(table): at for table, at in written.items()}}


def _seen_events(ws: Workspace, result: RunResult) -> str | None:
    """What the next run finds in its look-back if no event is added until then."""
    plan = result.plan
    if plan.times is None or (not result.moved and not plan.positions):
        return None
    limits = plan.limits
    if limits.progress is not None and limits.upper <= limits.progress:
        # Its clock was behind: models have not looked at what is late in this window.
        return None
    return plan.times.told(next_lower(ws, plan, result.moved))


def _record(
    ws: Workspace,
    result: RunResult,
    lease: Lease,
    *,
    written_days: dict[str, tuple[DayRange, ...]] | None = None,
    keys: dict[str, tuple[str, ...]] | None = None,
    versions: dict[str, str] | None = None,
    key_days: dict[str, date] | None = None,
    number: int | None = None,
    error: str | None = None,
) -> RunResult:
    """Tell the ledger; gives the result with the time that the ledger has."""
    rerun = result.plan.rerun or (None, None)
    record = end(
        ws,
        lease,
        result.outcome,
        reached=result.reached,
        clock=result.plan.now,
        models=result.models,
        counts=result.counts or {},
        table_versions=versions or {},
        settings_fingerprint=ws.fingerprint(),
        options=ws.changed_options(),
        rerun_from=rerun[0],
        rerun_to=rerun[1],
        only_sessions=result.plan.only,
        written_days=written_days or {},
        keys=keys or {},
        key_days=key_days or {},
        seen_events=_seen_events(ws, result),
        number=number,
        source_version=result.plan.source_version if result.outcome.is_kept else None,
        failed_checks=tuple(
            FailedCheck(it.table, it.check, it.severity, it.failures)
            for it in result.checks
            if it.failures
        ),
        error=error,
    )
    return replace(result, seconds=record.seconds, record=record)
