"""One run, top to bottom: decide, hold the package, carry out.

    events -> limits -> lifecycle -> events of this run -> models -> upserts -> manifest commit

Everything a run writes before its manifest commit can be undone, and is undone by the next run if
this one is killed. The manifest commit decides that the run happened.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from windrow.atomic.source import Source
from windrow.engine.bad_lines import keep_bad_lines
from windrow.engine.changed_options import refuse_changed_options
from windrow.engine.checking import check_this_run
from windrow.engine.commit import commit, reject
from windrow.engine.events import checked_source
from windrow.engine.forecast import facts_of
from windrow.engine.holding import Seen, held, settle
from windrow.engine.intake import Intake, take_in
from windrow.engine.intake.record import record_sessions
from windrow.engine.key_days import KeyDays
from windrow.engine.model_run import ModelRun, event_columns
from windrow.engine.options import PLAIN, RunOptions
from windrow.engine.plan import (
    Plan,
    caught_up_to,
    chosen_models,
    first_usable_event,
    next_plan,
    standing_at,
)
from windrow.engine.privileges import refuse_unwritable
from windrow.engine.refresh import begin_anew, check_refresh
from windrow.engine.result import RunResult
from windrow.engine.schedule import run_models
from windrow.engine.scratch import write_base
from windrow.engine.steps import Listener, Step, say_nothing
from windrow.engine.watching import Begun, watched
from windrow.engine.workspace import Workspace
from windrow.errors import in_one_line
from windrow.models.checks import CheckResult, has_failed
from windrow.models.model import Model
from windrow.spark.run_size import sized_for
from windrow.state.leases import Intent, Kind, Lease
from windrow.state.limits import MICROSECOND, State
from windrow.state.runs import ModelFate, Outcome, new_run_id
from windrow.state.undo import beginning_of
from windrow.tables.refusals import unreadable_files

_EVENTS_OF_SESSION = 50
"""About so many events come along with a late one."""


@dataclass(frozen=True)
class Decided:
    """A run that has made sure that it can begin, and knows what it does."""

    plan: Plan
    source: Source
    seen: Seen
    options: RunOptions
    began: datetime


def run(
    ws: Workspace,
    options: RunOptions = PLAIN,
    *,
    now: datetime,
    listener: Listener = say_nothing,
) -> RunResult:
    """Carry out the next run of a package."""
    return carry_out(ws, decide(ws, options, now=now, listener=listener), listener)


def decide(ws: Workspace, options: RunOptions, *, now: datetime, listener: Listener) -> Decided:
    """Work out the next run: the events can be read, the tables written, nobody else is at it.

    What a killed run left behind is taken back first; else nothing is written.
    """
    # Whatever the run takes in, the looks that decide about it are small.
    with sized_for(ws.spark, 0, chosen=ws.spark_keys):
        return _decide(ws, options, now, listener)


def _decide(ws: Workspace, options: RunOptions, now: datetime, listener: Listener) -> Decided:
    began = datetime.now(UTC)
    listener(Step("plan", "started", detail="Looking for new events"))
    models = chosen_models(ws, options)
    if options.is_refresh:
        check_refresh(ws, models, options)
    source = checked_source(ws, models)
    refuse_unwritable(ws, models)
    # Tables that are emptied anyway must not stand in the way.
    rebuilt = [ws.table(member) for member in models] if options.full_refresh else []
    seen = settle(ws, listener, rebuilt=rebuilt)
    with unreadable_files():
        plan = next_plan(ws, seen, source, options, now)
    refuse_changed_options(ws, seen.last_run, plan, options, listener)
    listener(Step("plan", "done", seconds=(datetime.now(UTC) - began).total_seconds()))
    return Decided(plan, source, seen, options, began)


def carry_out(ws: Workspace, decided: Decided, listener: Listener) -> RunResult:
    """Do what was decided; beside it, in a second run, what models do that lag behind.

    Neither waits for the other, and what becomes of one does not touch the other.
    """
    plan, seen = decided.plan, decided.seen
    result, seen = _with_late(ws, plan, decided, seen, listener, began=decided.began)
    if plan.catch_up is None:
        return replace(result, undone=decided.seen.undone)
    catch_up = caught_up_to(plan.catch_up, {**plan.manifest, **result.moved})
    beside, _ = _with_late(ws, catch_up, decided, seen, listener)
    is_level = beside.is_caught_up or not catch_up.limits.is_cut_short
    return replace(
        result,
        is_caught_up=result.is_caught_up and is_level,
        seconds=result.seconds + beside.seconds,
        undone=decided.seen.undone,
        catch_up=replace(beside, is_caught_up=is_level),
    )


def _with_late(
    ws: Workspace,
    plan: Plan,
    decided: Decided,
    seen: Seen,
    listener: Listener,
    *,
    began: datetime | None = None,
) -> tuple[RunResult, Seen]:
    """Carry out a plan, then what is to be done for late events, step by step until one fails.

    They come last, so that what is new does not wait for what is old.
    """
    for note in plan.notes:
        listener(Step("events", "info", detail=note))
    result, seen = _one_run(ws, plan, decided, seen, listener, began=began)
    late: list[RunResult] = []
    for step in plan.late:
        if late and late[-1].has_failed:
            break
        standing = standing_at(step, {**plan.manifest, **result.moved})
        done, seen = _one_run(ws, standing, decided, seen, listener)
        late.append(done)
    seconds = result.seconds + sum(it.seconds for it in late)
    return replace(result, late=tuple(late), seconds=seconds), seen


def _one_run(
    ws: Workspace,
    plan: Plan,
    decided: Decided,
    seen: Seen,
    listener: Listener,
    *,
    began: datetime | None = None,
) -> tuple[RunResult, Seen]:
    """Carry out one plan, with a lease and an id of its own; and what is to be seen after it."""
    if plan.nothing_because:
        listener(Step("plan", "nothing", detail=plan.nothing_because))
        return RunResult(None, plan, Outcome.NOTHING_TO_DO), seen
    run_id = new_run_id(plan.now)
    size = plan.late_events * _EVENTS_OF_SESSION or plan.window_events
    sized = sized_for(ws.spark, size, chosen=ws.spark_keys)
    with sized, held(ws, run_id, intent_of(plan), seen, began=began) as lease:
        with ws.tables.commits_of(beginning_of(run_id)):
            ws.prepare_manifests()
            if plan.fresh:
                begin_anew(ws, plan.fresh)
                listener(Step("refresh", "done", detail=plan.fresh.sentence))
        result = process(
            ws, plan, decided.source, lease, seen, listener, check=decided.options.check
        )
    if result.record is not None:
        ws.runs.look_after(result.record, ws.leases.table)
    newest = seen.newest_runs if result.record is None else (result.record, *seen.newest_runs)
    return result, replace(seen, last_lease=lease, newest_runs=newest)


def intent_of(plan: Plan) -> Intent:
    """The plan as its lease has it."""
    kind = Kind.REFRESH if plan.fresh else Kind.RUN
    return Intent(
        kind=Kind.RERUN if plan.limits.state is State.RERUN else kind,
        state=plan.limits.state.value,
        lower_limit=plan.limits.lower,
        upper_limit=plan.limits.upper,
        models=tuple(member.full_name for member in plan.models),
    )


def process(
    ws: Workspace,
    plan: Plan,
    source: Source,
    lease: Lease,
    seen: Seen,
    listener: Listener,
    *,
    check: bool = False,
) -> RunResult:
    """Take in the window, run the models, and commit how far they came; tell how it ends."""
    began = time.monotonic()
    listener(Step("run", "started", kind="run", run=facts_of(plan, lease, seen)))

    def ended(status: str, detail: str, rows: int | None = None) -> None:
        seconds = time.monotonic() - began
        listener(Step("run", status, rows, seconds, detail, kind="run"))

    try:
        with watched(ws.watchers, _begun(ws, plan, lease), listener) as told:
            result = _process(ws, plan, source, lease, seen, listener, check=check)
            told(result.record)
    except BaseException as error:
        ended("failed", in_one_line(error))
        raise
    is_bad = result.outcome is not Outcome.SUCCEEDED
    rows = sum(outcome.rows or 0 for outcome in result.models)
    ended("failed" if is_bad else "done", result.outcome.value, rows)
    return result


def _begun(ws: Workspace, plan: Plan, lease: Lease) -> Begun:
    """The run as watchers are told of it."""
    return Begun(
        run_id=lease.run_id,
        package=ws.name,
        lower_limit=plan.limits.lower,
        upper_limit=plan.limits.upper,
        models=plan.models,
        stored={it.full_name: ws.table(it) for it in plan.models if it.kind != "this_run"},
        tables=ws.tables,
    )


def _process(
    ws: Workspace,
    plan: Plan,
    source: Source,
    lease: Lease,
    seen: Seen,
    listener: Listener,
    *,
    check: bool,
) -> RunResult:
    key_days = KeyDays.seen(ws, seen, emptied=plan.fresh.empties)
    with unreadable_files():
        intake = _take_in(ws, plan, source, key_days, listener)
        bad = keep_bad_lines(ws, source, lease.run_id)
    models = ModelRun(
        *(ws, intake, plan.limits, plan.positions, plan.now, seen, key_days),
        emptied=plan.fresh.empties,
    )
    try:
        outcomes, recorded = run_models(
            models,
            plan.models,
            lease.run_id,
            listener,
            beside=lambda: record_sessions(ws, intake, run_id=lease.run_id, now=plan.now),
        )
        for note in models.inputs.notes:
            listener(Step("models", "info", detail=note))
        good = {it.name for it in outcomes if it.outcome is ModelFate.SUCCEEDED}
        done = [member for member in plan.models if member.full_name in good]
        checks = _check(models, done, listener) if check else ()
        made = {"checks": len(checks)} if check else {}
    finally:
        intake.release()
    result = RunResult(
        run_id=lease.run_id,
        plan=plan,
        outcome=Outcome.SUCCEEDED if len(done) == len(outcomes) else Outcome.FAILED,
        models=tuple(outcomes),
        counts={
            **({"late_events": plan.late_events} if plan.arrived is not None else {}),
            **intake.counts,
            **bad,
            **recorded,
            **_without_row(ws, intake, models),
            **made,
        },
        checks=checks,
    )
    if has_failed(checks):
        return reject(ws, result, lease)

    def is_all() -> bool:
        limits, quarantined = plan.limits, ws.quarantined_sessions()
        after = limits.upper + MICROSECOND
        return first_usable_event(ws, source, after, limits.ceiling, quarantined) is None

    began = time.monotonic()
    listener(Step("commit", "started"))
    committed = commit(ws, result, lease, models, done, is_all=is_all)
    listener(Step("commit", "done", seconds=time.monotonic() - began))
    return committed


def _without_row(ws: Workspace, intake: Intake, models: ModelRun) -> dict[str, int]:
    """How many sessions were taken in and have no row: their events are bots', or none counts."""
    owner = ws.sessions_model
    written = None if owner is None else models.written.get(owner.name)
    if written is None:
        return {}
    return {"sessions_without_row": max(0, intake.counts["sessions"] - written.rows)}


def _take_in(
    ws: Workspace, plan: Plan, source: Source, key_days: KeyDays, listener: Listener
) -> Intake:
    """The sessions and events of the run, told of and, if asked for, written to scratch."""
    for sentence in plan.limits.sentences:
        listener(Step("limits", "info", detail=sentence))
    if plan.settled_sentence:
        listener(Step("limits", "info", detail=plan.settled_sentence))
    for note in source.notes:
        listener(Step("events", "info", detail=note))

    began = time.monotonic()
    listener(Step("events", "started"))
    columns = event_columns(ws, plan.models)
    # The window's sessions may have late events too: they are processed whole.
    has_late = plan.arrived is not None or bool(plan.late)
    intake = take_in(
        *(ws, source, plan.limits, columns, key_days),
        only=plan.only,
        arrived=plan.arrived,
        late_for=plan.models if has_late else (),
        settled_until=plan.settled_until,
    )
    seconds = time.monotonic() - began
    listener(Step("events", "done", rows=intake.counts["events"], seconds=seconds))
    has_none = intake.counts.get("sessions") and not intake.counts["events"]
    if ws.foundation.keeps is not None and has_none:
        nothing = "the sessions of this window hold no event that the package keeps"
        listener(Step("events", "info", detail=nothing))

    if ws.settings.keep_this_run:
        write_base(ws, plan.limits, intake)
    return intake


def _check(models: ModelRun, done: Sequence[Model], listener: Listener) -> tuple[CheckResult, ...]:
    began = time.monotonic()
    listener(Step("checks", "started"))
    results = check_this_run(models, done)
    failed = [result for result in results if result.failures]
    status = "failed" if has_failed(results) else "done"
    detail = f"{len(results) - len(failed)} of {len(results)} passed"
    listener(Step("checks", status, seconds=time.monotonic() - began, detail=detail))
    return results
