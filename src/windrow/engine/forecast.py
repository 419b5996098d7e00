"""What is known of a run as it begins; and how long it takes: as long as earlier ones like it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from statistics import median

from windrow.engine.holding import Seen
from windrow.engine.plan import Plan
from windrow.engine.steps import RunFacts
from windrow.state.leases import Lease
from windrow.state.limits import State
from windrow.state.runs import Outcome, RunRecord

_AS_LARGE = 3
"""A run with more than so many times the events, or fewer, is of another size."""
_MANY_EVENTS = 100_000
"""From so many on, the time is made up of events; below, of what every run does."""


def facts_of(plan: Plan, lease: Lease, seen: Seen) -> RunFacts:
    """What can be told of a run before it has done anything; asks nobody."""
    events = plan.window_events
    names = {member.full_name for member in plan.models}
    return RunFacts(
        run_id=lease.run_id,
        state=plan.limits.state.value,
        lower_limit=plan.limits.lower,
        upper_limit=plan.limits.upper,
        models=tuple(member.name for member in plan.models),
        began=lease.started_at,
        window_events=events,
        expected_seconds=expected_seconds(seen.newest_runs, plan.limits.state, names, events),
    )


def expected_seconds(
    runs: Iterable[RunRecord], state: State, models: Collection[str], events: int | None
) -> float | None:
    """What runs of the same models over about as many events took; None: there was none.

    Those in the same state: a first run finds no rows to replace.
    """
    if not events:
        return None
    found = [
        run.seconds * (events / taken_in if taken_in >= _MANY_EVENTS else 1)
        for run in runs
        if run.outcome is Outcome.SUCCEEDED
        and run.is_alike(state.value, models)
        and (taken_in := run.counts.get("window_events", 0))
        and taken_in / _AS_LARGE <= events <= taken_in * _AS_LARGE
    ]
    return median(found) if found else None
