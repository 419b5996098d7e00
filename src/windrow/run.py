"""One run, top to bottom.

    events -> limits -> lifecycle -> events of this run -> models -> upserts -> manifest commit

Everything a run writes before its manifest commit can be undone, and is undone by the next run if
this one is killed. The manifest commit decides that the run happened.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from windrow import manifest
from windrow.errors import LockedError
from windrow.events import Source
from windrow.intake import reached_by, record_sessions, take_in
from windrow.ledger import Lease, ModelOutcome, RunRecord, has_committed, undo
from windrow.limits import Limits, State
from windrow.model import Model
from windrow.model_run import event_columns, keep, start_models
from windrow.plan import Plan, checked_source, chosen_models, make_plan
from windrow.refresh import check_refresh, empty_tables
from windrow.side_by_side import first_line, run_models
from windrow.steps import Listener, Step
from windrow.workspace import Workspace


@dataclass(frozen=True)
class RunResult:
    """What a run did."""

    run_id: str | None
    plan: Plan
    outcome: str
    """succeeded, failed (a model did) or nothing_to_do"""
    models: tuple[ModelOutcome, ...] = ()
    counts: dict[str, int] | None = None
    reached: datetime | None = None
    """The greatest collector time consumed."""
    is_caught_up: bool = True
    """False when another run at the same clock would find more to do."""
    seconds: float = 0.0
    undone: tuple[str, ...] = ()
    """Runs that had been killed and were undone first."""

    @property
    def has_failed(self) -> bool:
        """True when a model failed."""
        return self.outcome == "failed"


def run(
    ws: Workspace,
    *,
    now: datetime,
    select: str | None = None,
    exclude: str | None = None,
    full_refresh: bool = False,
    listener: Listener = lambda step: None,
) -> RunResult:
    """Carry out the next run of a package."""
    started = time.monotonic()
    models = chosen_models(ws, select, exclude)
    if full_refresh:
        check_refresh(ws)
    source = checked_source(ws, models)
    killed = ws.ledger.refuse_if_held(ws.package.name)

    run_id = new_run_id(now)
    with ws.tables.commits_of(run_id):
        ws.ledger.prepare()
        undone = _undo_killed(ws, killed, listener)
        plan = make_plan(ws, source, models, now) if not full_refresh else None
        if plan is not None and plan.nothing_because:
            listener(Step("plan", "nothing", detail=plan.nothing_because))
            return RunResult(None, plan, "nothing_to_do", undone=undone)

        limits = plan.limits if plan else None
        lease = ws.ledger.take(
            ws.package.name,
            run_id,
            limits,
            [member.full_name for member in models],
            ws.settings.lease_minutes,
        )
        with ws.ledger.kept(lease, ws.settings.lease_minutes), _undone_on_error(ws, lease):
            ws.prepare_base()
            _forget_removed(ws, listener)
            if full_refresh:
                empty_tables(ws, models)
                listener(Step("refresh", "done"))
            if plan is None or ws.settings.models_to_remove:
                plan = make_plan(ws, source, models, now)
            result = _carry_out(ws, plan, source, lease, listener)
    return replace(result, seconds=time.monotonic() - started, undone=undone)


def new_run_id(now: datetime) -> str:
    """An id that sorts by time and is unique."""
    return f"{now:%Y%m%dT%H%M%S}-{uuid.uuid4().hex[:8]}"


def _undo_killed(ws: Workspace, killed: Lease | None, listener: Listener) -> tuple[str, ...]:
    """Take back what a killed run wrote, unless it had reached its manifest commit."""
    if killed is None:
        return ()
    if has_committed(ws.tables, ws.manifest, killed.run_id):
        _end_killed(ws, killed, "succeeded", "The process ended before it could say so.")
        return ()
    tables = undo(ws.tables, killed.run_id, [*ws.written_tables(ws.models), ws.manifest])
    listener(Step("recovery", "done", detail=f"undid the killed run {killed.run_id}"))
    _end_killed(
        ws, killed, "undone", f"Killed; taken back: {', '.join(map(str, tables)) or 'nothing'}"
    )
    return (killed.run_id,)


def _end_killed(ws: Workspace, killed: Lease, outcome: str, error: str) -> None:
    ws.ledger.end(
        RunRecord(
            run_id=killed.run_id,
            package=killed.package,
            outcome=outcome,
            state=killed.state,
            lower_limit=killed.lower_limit,
            upper_limit=killed.upper_limit,
            started_at=killed.started_at,
            finished_at=datetime.now(UTC),
            error=error,
        )
    )


@contextmanager
def _undone_on_error(ws: Workspace, lease: Lease) -> Iterator[None]:
    """Whatever stops the run half-way, Ctrl-C too, leaves the tables as they were found."""
    try:
        yield
    except BaseException as error:
        if ws.ledger.is_ours(lease) and not has_committed(ws.tables, ws.manifest, lease.run_id):
            undo(ws.tables, lease.run_id, [*ws.written_tables(ws.models), ws.manifest])
            _end_killed(ws, lease, "undone", f"{type(error).__name__}: {first_line(error)}")
        raise


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


def _carry_out(
    ws: Workspace, plan: Plan, source: Source, lease: Lease, listener: Listener
) -> RunResult:
    """Take in the window, run the models, and commit how far they came."""
    for sentence in plan.limits.sentences:
        listener(Step("limits", "info", detail=sentence))

    began = time.monotonic()
    listener(Step("events", "started"))
    intake = take_in(ws, source, plan.limits, event_columns(ws, plan.models))
    seconds = time.monotonic() - began
    listener(Step("events", "done", rows=intake.counts["events"], seconds=seconds))
    if ws.base.keeps is not None and intake.counts["sessions"] and not intake.counts["events"]:
        nothing = "the sessions of this window hold no event that the package keeps"
        listener(Step("events", "info", detail=nothing))

    if ws.settings.keep_this_run:
        sessions = ws.base.as_recorded(intake.sessions)
        for name, frame in (("base_sessions", sessions), ("base_events", intake.events)):
            keep(ws, ws.this_run_table(ws.package.prefix + name), frame)

    models = start_models(ws, intake, plan.limits, plan.positions, plan.now)
    try:
        outcomes = run_models(
            models,
            plan.models,
            lease.run_id,
            listener,
            beside=lambda: record_sessions(ws, intake),
        )
    finally:
        intake.release()

    succeeded = {outcome.name for outcome in outcomes if outcome.outcome == "succeeded"}
    reached = reached_by(intake, plan.limits, compat=ws.settings.compat)
    names = [n for m in plan.models if m.full_name in succeeded for n in m.tracked_names]
    changed = manifest.advanced(plan.positions, names, reached)
    if not ws.ledger.is_ours(lease):
        raise LockedError(
            f"Run {lease.run_id} lost its lease on package '{lease.package}' to another run, "
            "which took it for dead. Raise lease_minutes if runs stand still for that long."
        )
    manifest.commit(ws.spark, ws.tables, ws.manifest, changed)
    result = RunResult(
        run_id=lease.run_id,
        plan=plan,
        outcome="succeeded" if len(succeeded) == len(outcomes) else "failed",
        models=tuple(outcomes),
        counts=intake.counts,
        reached=reached,
        is_caught_up=not changed or _is_last(plan.limits),
    )
    _record(ws, result, lease)
    return result


def _is_last(limits: Limits) -> bool:
    """True when a run with these limits leaves nothing for another one at the same clock."""
    return limits.state in (State.FIRST_RUN, State.STANDARD) and not limits.is_cut_short


def _record(ws: Workspace, result: RunResult, lease: Lease) -> None:
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
            settings_fingerprint=ws.settings.fingerprint(),
        )
    )


def _versions(ws: Workspace, models: Sequence[Model]) -> dict[str, str]:
    """What every table of the run is at now; asked side by side, as each answer takes a while."""
    tables = [*ws.protected, *(ws.table(m) for m in models if m.kind != "this_run")]
    with ThreadPoolExecutor(max_workers=4) as pool:
        found = dict(zip(tables, pool.map(ws.tables.version, tables), strict=True))
    return {str(table): at for table, at in found.items() if at is not None}


def run_until_caught_up(
    ws: Workspace,
    *,
    now: datetime,
    select: str | None = None,
    exclude: str | None = None,
    full_refresh: bool = False,
    listener: Listener = lambda step: None,
) -> list[RunResult]:
    """Run again and again at the same clock until nothing is left, or a model fails."""
    results: list[RunResult] = []
    while True:
        result = run(
            ws,
            now=now,
            select=select,
            exclude=exclude,
            full_refresh=full_refresh and not results,
            listener=listener,
        )
        results.append(result)
        if result.outcome != "succeeded" or result.is_caught_up:
            return results
