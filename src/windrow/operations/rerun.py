"""Processing a past window again, beside live progress: the manifest does not move for it.

The window is cut into steps of `backfill_limit_days`. Each step is a run of its own, taken back
whole if it is killed; the ledger knows which steps are done, so that the same command goes on
after the last of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from pyspark.sql import functions as F

from windrow.atomic.source import Source
from windrow.columns.timestamps import from_micros, micros
from windrow.engine.destination import refuse_other_keys
from windrow.engine.events import checked_source, readable_source
from windrow.engine.holding import held, look, settle
from windrow.engine.lost_state import refuse_left_behind
from windrow.engine.plan import Plan, first_usable_event
from windrow.engine.privileges import refuse_unwritable
from windrow.engine.result import RunResult
from windrow.engine.run import intent_of, process
from windrow.engine.steps import Listener, Step, say_nothing
from windrow.engine.workspace import Workspace
from windrow.errors import RefusedError, UsageError
from windrow.models.model import Model
from windrow.models.selection import downstream
from windrow.models.selection import select as selected
from windrow.state.limits import State, rerun_limits
from windrow.state.runs import Outcome, RunRecord, new_run_id

_SEARCHED_RUNS = 1000


@dataclass(frozen=True)
class RerunPlan:
    """What processing a past window again would do."""

    package: str
    target: str
    first: datetime
    last: datetime
    models: tuple[Model, ...]
    beyond: tuple[Model, ...]
    """Models among them whose rows rest on more than the window; they are brought up to date."""
    steps: tuple[Plan, ...]
    """What is left to do."""
    done: int = 0
    """Steps that an earlier, interrupted call has finished."""


def plan_rerun(
    ws: Workspace,
    *,
    first: datetime,
    last: datetime | None,
    now: datetime,
    select: str | None = None,
    restart: bool = False,
    despite_missing_events: bool = False,
) -> RerunPlan:
    """The steps of a re-run; writes nothing. Refuses where the tables could not come out right."""
    models = downstream(ws.models, selected(ws.meant_models, select))
    source = checked_source(ws, models)
    refuse_other_keys(ws.tables, [ws.destination(m) for m in models if m.kind == "incremental"])
    seen = look(ws)
    refuse_left_behind(ws, models, seen.left_behind())
    positions = seen.positions
    first, last = _processed_window(ws, models, positions, first, last)
    if not despite_missing_events:
        _refuse_missing_events(ws, source, first, last)
    done = [] if restart else _steps_done(ws, models, first, last)
    resumed_at = max((step.upper_limit for step in done if step.upper_limit), default=first)
    days = ws.settings.backfill_limit_days
    left = rerun_limits(resumed_at, last, backfill_limit_days=days)
    tracked = tuple(name for member in models for name in member.tracked_names)
    return RerunPlan(
        package=ws.name,
        target=ws.target,
        first=first,
        last=last,
        models=tuple(models),
        beyond=tuple(m for m in models if m.stored_parents or m.kind == "rebuilt"),
        steps=tuple(
            Plan(
                package=ws.name,
                target=ws.target,
                now=now,
                limits=limits,
                models=tuple(models),
                tracked=tracked,
                positions={name: positions[name] for name in tracked if name in positions},
                manifest=positions,
                rerun=(first, last),
            )
            for limits in left
        ),
        done=len(done),
    )


def _processed_window(
    ws: Workspace,
    models: Sequence[Model],
    positions: Mapping[str, datetime],
    first: datetime,
    last: datetime | None,
) -> tuple[datetime, datetime]:
    """The part of the window that every model has processed before; the rest is a live run's."""
    names = [name for member in models for name in member.tracked_names]
    unknown = sorted(name for name in names if name not in positions)
    if unknown or not names:
        what = ", ".join(unknown) or "the package"
        raise UsageError(f"Nothing was processed yet by {what}: `windrow run` does that.")
    reached = min(positions[name] for name in names)
    end = reached if last is None else min(last, reached)
    if first > end:
        raise UsageError(
            f"The window begins at {first:%Y-%m-%d %H:%M:%S}, but "
            + (
                f"events are processed only until {reached:%Y-%m-%d %H:%M:%S}."
                if last is None or last > reached
                else f"ends before that, at {end:%Y-%m-%d %H:%M:%S}."
            )
        )
    return max(first, ws.settings.begins_at), end


def _refuse_missing_events(ws: Workspace, source: Source, first: datetime, last: datetime) -> None:
    """Stop where events that were processed are no longer there: their rows would be deleted."""
    if not ws.foundation.has_sessions or not ws.tables.exists(ws.lifecycle):
        return
    on_days = F.col("start_tstamp_date").between(F.lit(first.date()), F.lit(last.date()))
    lives = ws.known_sessions().where(on_days & (F.col("start_tstamp") >= F.lit(first)))
    began = from_micros(lives.agg(micros(F.min("start_tstamp"))).collect()[0][0])
    if began is None:
        return
    event = first_usable_event(ws, source, first, last, ws.quarantined_sessions())
    if event is None or event.date() > began.date():
        there = "there are none" if event is None else f"the first is of {event:%Y-%m-%d}"
        raise RefusedError(
            f"Sessions of {began:%Y-%m-%d} were processed, but of the window's events "
            f"{there}. Processing it again would delete the rows of events that are gone. If that "
            "is what you want, use --despite-missing-events."
        )


def _steps_done(
    ws: Workspace, models: Sequence[Model], first: datetime, last: datetime
) -> list[RunRecord]:
    """The finished steps of the same re-run, when it was interrupted before its end."""
    names = {member.full_name for member in models}
    chain: list[RunRecord] = []
    for record in ws.runs.last(ws.lease_name, _SEARCHED_RUNS):
        if record.state != State.RERUN.value or record.outcome is Outcome.UNDONE:
            continue
        is_same = (
            record.rerun_from == first
            and record.rerun_to == last
            and {outcome.name for outcome in record.models} == names
            and record.settings_fingerprint == ws.fingerprint()
        )
        if not is_same or record.outcome is not Outcome.SUCCEEDED:
            break
        chain.append(record)
        if record.lower_limit == first:
            break
    is_whole = bool(chain) and chain[0].upper_limit == last
    return [] if is_whole else chain


def rerun(
    ws: Workspace, plan: RerunPlan, *, listener: Listener = say_nothing
) -> Iterator[RunResult]:
    """Carry out the steps one by one; stops after one in which a model failed."""
    began = time.monotonic()
    for number, step in enumerate(plan.steps, start=1):
        listener(Step("rerun", "info", detail=_progress(plan, number, time.monotonic() - began)))
        result = run_step(ws, step, listener)
        yield result
        if result.has_failed:
            return


def run_step(
    ws: Workspace,
    plan: Plan,
    listener: Listener,
    *,
    first: Callable[[], None] = lambda: None,
) -> RunResult:
    """One run over a part of the past; what is done `first` is a part of it."""
    began = datetime.now(UTC)
    source = readable_source(ws, plan.models)
    refuse_unwritable(ws, plan.models)
    seen = settle(ws, listener)
    with held(ws, new_run_id(plan.now), intent_of(plan), seen, began=began) as lease:
        first()
        result = process(ws, plan, source, lease, seen, listener)
    return replace(
        result,
        is_caught_up=not plan.limits.is_cut_short,
        undone=seen.undone,
    )


def _progress(plan: RerunPlan, number: int, seconds: float) -> str:
    total, at = plan.done + len(plan.steps), plan.done + number
    limits = plan.steps[number - 1].limits
    text = f"Step {at} of {total}: {limits.lower:%Y-%m-%d} to {limits.upper:%Y-%m-%d}"
    if number == 1:
        return text
    left = timedelta(seconds=round(seconds / (number - 1) * (total - at + 1)))
    return f"{text}, about {left} left"
