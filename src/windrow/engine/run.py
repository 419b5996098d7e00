"""One run, top to bottom.

    events -> limits -> lifecycle -> events of this run -> models -> upserts -> manifest commit

Everything a run writes before its manifest commit can be undone, and is undone by the next run if
this one is killed. The manifest commit decides that the run happened.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial

from windrow.atomic.source import Source
from windrow.engine.checking import check_this_run
from windrow.engine.intake.gather import Intake, reached_by, record_sessions, take_in
from windrow.engine.model_run import ModelRun, event_columns, keep, start_models
from windrow.engine.plan import Plan, chosen_models, make_plan, parted, readable_source
from windrow.engine.privileges import refuse_unwritable
from windrow.engine.recovery import take_back, undo_killed, undone_on_error
from windrow.engine.refresh import check_refresh, empty_tables
from windrow.engine.schedule import run_models
from windrow.engine.steps import Listener, Step
from windrow.engine.workspace import Workspace
from windrow.errors import LockedError
from windrow.models.checks import CheckResult, has_failed
from windrow.models.model import Model
from windrow.state import manifest
from windrow.state.ledger import Lease, ModelOutcome, RunRecord, new_run_id
from windrow.state.limits import Limits, State
from windrow.state.undo import beginning_of
from windrow.tables.days import DayRange, day_ranges


@dataclass(frozen=True)
class RunResult:
    """What a run did."""

    run_id: str | None
    plan: Plan
    outcome: str
    """succeeded, failed (a model did), rejected (a check did) or nothing_to_do"""
    models: tuple[ModelOutcome, ...] = ()
    counts: dict[str, int] | None = None
    reached: datetime | None = None
    """The greatest collector time consumed."""
    is_caught_up: bool = True
    """False when another run at the same clock would find more to do."""
    seconds: float = 0.0
    undone: tuple[str, ...] = ()
    """Runs that had been killed and were undone first."""
    catch_up: RunResult | None = None
    """What was done, beside this run, for models that lag behind the others."""
    checks: tuple[CheckResult, ...] = ()
    """What came of the checks; none when none were asked for."""

    @property
    def has_failed(self) -> bool:
        """True when a model failed, or a check that stopped the run, here or in the catch-up."""
        is_bad = self.outcome in ("failed", "rejected")
        return is_bad or (self.catch_up is not None and self.catch_up.has_failed)


def run(
    ws: Workspace,
    *,
    now: datetime,
    select: str | None = None,
    exclude: str | None = None,
    full_refresh: bool = False,
    refresh_manifests: bool = False,
    check: bool = False,
    listener: Listener = lambda step: None,
) -> RunResult:
    """Carry out the next run of a package.

    Models that lag behind the others, because they are new or failed before, are caught up in a
    second run beside them, so that neither waits for the other. With `check`, the rows of a run
    are checked before its manifest commit; when a check of severity error fails, nothing of it is
    kept.
    """
    chosen = chosen_models(ws, select, exclude)
    one_run = partial(_run, ws, now=now, check=check, listener=listener)
    if full_refresh or refresh_manifests:
        check_refresh(ws)
        return one_run(chosen, forget=partial(empty_tables, models=chosen if full_refresh else ()))
    live, lagging = parted(ws, chosen)
    if not lagging:
        return one_run(chosen)
    result = one_run(live)
    caught_up = one_run(chosen, only=lagging)
    is_level = caught_up.is_caught_up or not caught_up.plan.limits.is_cut_short
    caught_up = replace(caught_up, is_caught_up=is_level)
    return replace(
        result,
        is_caught_up=result.is_caught_up and is_level,
        seconds=result.seconds + caught_up.seconds,
        catch_up=caught_up,
    )


def _run(
    ws: Workspace,
    models: Sequence[Model],
    *,
    only: Sequence[Model] | None = None,
    now: datetime,
    check: bool,
    listener: Listener,
    forget: Callable[[Workspace], None] | None = None,
) -> RunResult:
    """One run with limits that these models have in common, of all of them or of `only` some."""
    with begun(ws, models, now, listener) as start:
        source, run_id = start.source, start.run_id
        plan = make_plan(ws, source, models, now, only=only) if forget is None else None
        if plan is not None and plan.nothing_because:
            listener(Step("plan", "nothing", detail=plan.nothing_because))
            return RunResult(None, plan, "nothing_to_do", undone=start.undone)

        with leased(ws, run_id, plan.limits if plan else None, only or models) as lease:
            ws.prepare_manifests()
            with ws.tables.commits_of(beginning_of(run_id)):
                _forget_removed(ws, listener)
                if forget is not None:
                    forget(ws)
                    listener(Step("refresh", "done"))
            if plan is None or ws.settings.models_to_remove:
                plan = make_plan(ws, source, models, now, only=only)
            result = carry_out(ws, plan, source, lease, listener, check=check)
    return start.ended(result)


@dataclass(frozen=True)
class Start:
    """A run that has made sure that it can begin."""

    run_id: str
    source: Source
    undone: tuple[str, ...]
    at: float

    def ended(self, result: RunResult) -> RunResult:
        """The result with what the start and the clock know of it."""
        return replace(result, seconds=time.monotonic() - self.at, undone=self.undone)


@contextmanager
def begun(
    ws: Workspace, models: Sequence[Model], now: datetime, listener: Listener
) -> Iterator[Start]:
    """A run begins: the events can be read, the target written, and no killed run is left over.

    Commits made inside carry its id.
    """
    at = time.monotonic()
    source = readable_source(ws, models)
    refuse_unwritable(ws, models)
    killed = ws.ledger.refuse_if_held(ws.lease_name)
    run_id = new_run_id(now)
    with ws.tables.commits_of(run_id):
        ws.ledger.prepare()
        yield Start(run_id, source, undo_killed(ws, killed, listener), at)


@contextmanager
def leased(
    ws: Workspace, run_id: str, limits: Limits | None, models: Sequence[Model]
) -> Iterator[Lease]:
    """Hold the package while the block runs; what it wrote is taken back if it stops half-way."""
    minutes = ws.settings.lease_minutes
    names = [member.full_name for member in models]
    lease = ws.ledger.take(ws.lease_name, run_id, limits, names, minutes)
    with ws.ledger.kept(lease, minutes), undone_on_error(ws, lease):
        yield lease


def _forget_removed(ws: Workspace, listener: Listener) -> None:
    removed = ws.settings.models_to_remove
    if not removed:
        return
    found = manifest.forget(ws.spark, ws.tables, ws.manifest, removed)
    missing = sorted(set(removed) - set(found))
    detail = f"removed from the manifest: {', '.join(found) or 'none'}"
    listener(
        Step(
            "manifest",
            "done",
            detail=detail + (f"; not there: {', '.join(missing)}" if missing else ""),
        )
    )


def carry_out(
    ws: Workspace,
    plan: Plan,
    source: Source,
    lease: Lease,
    listener: Listener,
    *,
    check: bool = False,
) -> RunResult:
    """Take in the window, run the models, and commit how far they came."""
    intake = _taken_in(ws, plan, source, listener)
    models = start_models(ws, intake, plan.limits, plan.positions, plan.now)
    try:
        outcomes = run_models(
            models,
            plan.models,
            lease.run_id,
            listener,
            beside=lambda: record_sessions(ws, intake),
        )
        succeeded = {outcome.name for outcome in outcomes if outcome.outcome == "succeeded"}
        done = [member for member in plan.models if member.full_name in succeeded]
        checks = _checked(models, done, listener) if check else ()
    finally:
        intake.release()

    reached = reached_by(intake, plan.limits, compat=ws.settings.compat)
    changed = ws.hooks.positions(_advanced(ws, plan, done, reached))
    if not ws.ledger.is_ours(lease):
        raise LockedError(
            f"Run {lease.run_id} lost its lease on package '{lease.package}' to another run, "
            "which took it for dead. Raise lease_minutes if runs stand still for that long."
        )
    result = RunResult(
        run_id=lease.run_id,
        plan=plan,
        outcome="succeeded" if len(succeeded) == len(outcomes) else "failed",
        models=tuple(outcomes),
        counts=intake.counts,
        reached=reached,
        is_caught_up=not changed or _is_last(plan.limits),
        checks=checks,
    )
    if has_failed(checks):
        return _rejected(ws, result, lease)
    manifest.commit(ws.spark, ws.tables, ws.manifest, changed)
    for destination in models.new_keys:
        ws.tables.set_key(destination.table, destination.key)
    _record(ws, result, lease, written_days=_written_days(ws, models, intake))
    return result


def _taken_in(ws: Workspace, plan: Plan, source: Source, listener: Listener) -> Intake:
    """The sessions and events of the run, told of and, if asked for, kept beside the tables."""
    for sentence in plan.limits.sentences:
        listener(Step("limits", "info", detail=sentence))

    for note in source.notes:
        listener(Step("events", "info", detail=note))

    began = time.monotonic()
    listener(Step("events", "started"))
    intake = take_in(ws, source, plan.limits, event_columns(ws, plan.models))
    seconds = time.monotonic() - began
    listener(Step("events", "done", rows=intake.counts["events"], seconds=seconds))
    if (
        ws.foundation.keeps is not None
        and intake.counts["sessions"]
        and not intake.counts["events"]
    ):
        nothing = "the sessions of this window hold no event that the package keeps"
        listener(Step("events", "info", detail=nothing))

    if ws.settings.keep_this_run:
        sessions = ws.foundation.as_recorded(intake.sessions)
        frames = {"base_sessions": sessions} if ws.foundation.has_sessions else {}
        for name, frame in {**frames, "base_events": intake.events}.items():
            keep(ws, ws.this_run_table(ws.package.prefix + name), frame)
    return intake


def _advanced(
    ws: Workspace, plan: Plan, models: Sequence[Model], reached: datetime | None
) -> dict[str, datetime]:
    """The manifest rows that move: every model to where the run came, a past window to nowhere.

    A model made from another's stored table is never ahead of that table, or rows that come into
    it later would be missed.
    """
    if plan.limits.state is State.RERUN:
        return {}
    after = manifest.positions(ws.tables, ws.manifest)
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


def _checked(
    models: ModelRun, done: Sequence[Model], listener: Listener
) -> tuple[CheckResult, ...]:
    began = time.monotonic()
    listener(Step("checks", "started"))
    results = check_this_run(models, done)
    failed = [result for result in results if result.failures]
    status = "failed" if has_failed(results) else "done"
    detail = f"{len(results) - len(failed)} of {len(results)} passed"
    listener(Step("checks", status, seconds=time.monotonic() - began, detail=detail))
    return results


def _rejected(ws: Workspace, result: RunResult, lease: Lease) -> RunResult:
    """Take back what the run wrote, as for one that was killed, and say which checks failed."""
    take_back(ws, lease)
    rejected = replace(result, outcome="rejected", reached=None, is_caught_up=False)
    failed = [f"{it.table} {it.check}" for it in result.checks if it.outcome == "failed"]
    _record(ws, rejected, lease, error=f"Checks failed: {', '.join(failed)}")
    return rejected


def _written_days(
    ws: Workspace, models: ModelRun, intake: Intake
) -> dict[str, tuple[DayRange, ...]]:
    """Table -> the days of the rows that went into it, where a table has days."""
    started_on = day_ranges(intake.started_on)
    return ({ws.lifecycle.name: started_on} if ws.foundation.has_sessions else {}) | {
        ws.model(name).full_name: written.days
        for name, written in models.written.items()
        if written.days is not None
    }


def _is_last(limits: Limits) -> bool:
    """True when a run with these limits leaves nothing for another one at the same clock."""
    return limits.state in (State.FIRST_RUN, State.STANDARD) and not limits.is_cut_short


def _record(
    ws: Workspace,
    result: RunResult,
    lease: Lease,
    *,
    written_days: dict[str, tuple[DayRange, ...]] | None = None,
    error: str | None = None,
) -> None:
    limits = result.plan.limits
    ws.ledger.end(
        RunRecord(
            run_id=lease.run_id,
            package=lease.package,
            outcome=result.outcome,
            state=limits.state.value,
            lower_limit=limits.lower,
            upper_limit=limits.upper,
            reached=result.reached,
            clock=result.plan.now,
            started_at=lease.started_at,
            finished_at=datetime.now(UTC),
            models=result.models,
            counts=result.counts or {},
            table_versions=_versions(ws, result.plan.models),
            settings_fingerprint=ws.fingerprint(),
            rerun_from=result.plan.rerun[0] if result.plan.rerun else None,
            rerun_to=result.plan.rerun[1] if result.plan.rerun else None,
            written_days=written_days or {},
            error=error,
        )
    )


def _versions(ws: Workspace, models: Sequence[Model]) -> dict[str, str]:
    """What the tables are at now that the run wrote, or made its rows from."""
    read = [ws.model(name) for member in models for name in member.stored_parents]
    tables = {ws.table(m): None for m in (*models, *read) if m.kind != "this_run"}
    return ws.versions_of([*ws.protected, *tables])
