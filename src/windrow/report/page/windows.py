"""The windows of past runs on a line: where they overlap, and where none of them was."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise

from windrow.state.limits import State
from windrow.state.runs import Outcome, RunRecord

_TOUCHING = timedelta(seconds=1)
"""Windows are closed: one may begin a microsecond after the end of another."""


@dataclass(frozen=True)
class Stretch:
    """Collector time from one instant to another, and how many windows cover it."""

    begin: datetime
    end: datetime
    windows: int = 0

    @property
    def length(self) -> timedelta:
        """How long it is."""
        return self.end - self.begin


def with_window(runs: Iterable[RunRecord]) -> list[RunRecord]:
    """The runs that had a window, oldest first.

    What was loaded late is of some sessions only, and no window.
    """
    found = [
        it
        for it in runs
        if it.lower_limit is not None and it.upper_limit is not None and not _is_late(it)
    ]
    return sorted(found, key=lambda it: (it.started_at, it.finished_at))


def counting(runs: Sequence[RunRecord]) -> list[RunRecord]:
    """The runs whose rows are in the tables, oldest first: not those that were taken back."""
    found: list[RunRecord] = []
    for run in sorted(runs, key=lambda it: (it.started_at, it.finished_at)):
        if run.outcome is Outcome.ROLLED_BACK:
            found = _before(found, run)
        if not run.outcome.is_kept or run.lower_limit is None or run.upper_limit is None:
            continue
        if _is_late(run):
            continue
        if run.state == State.FIRST_RUN.value:
            # Whatever its models had taken in before was forgotten.
            found = [it for it in found if _are_apart(it, run)]
        found.append(run)
    return found


def _before(runs: list[RunRecord], rollback: RunRecord) -> list[RunRecord]:
    """The runs before the one that a rollback names; one that is not among them is older."""
    names = [run.run_id in (rollback.error or "") for run in runs]
    return runs[: names.index(True)] if True in names else []


def _is_late(run: RunRecord) -> bool:
    return run.state == State.LATE.value


def _are_apart(one: RunRecord, other: RunRecord) -> bool:
    return {it.name for it in one.models}.isdisjoint(it.name for it in other.models)


def coverage(runs: Sequence[RunRecord]) -> list[Stretch]:
    """How many windows cover each stretch, from the first window's begin to the last one's end."""
    steps: dict[datetime, int] = {}
    for run in runs:
        if run.lower_limit is None or run.upper_limit is None or run.upper_limit < run.lower_limit:
            continue
        steps[run.lower_limit] = steps.get(run.lower_limit, 0) + 1
        steps[run.upper_limit] = steps.get(run.upper_limit, 0) - 1
    found: list[Stretch] = []
    depth = 0
    instants = sorted(steps)
    for begin, end in pairwise(instants):
        depth += steps[begin]
        if found and found[-1].windows == depth:
            found[-1] = Stretch(found[-1].begin, end, depth)
        else:
            found.append(Stretch(begin, end, depth))
    return found


def gaps(runs: Sequence[RunRecord]) -> list[Stretch]:
    """Stretches between windows that no window covers."""
    return [it for it in coverage(runs) if it.windows == 0 and it.length > _TOUCHING]


def overlaps(runs: Sequence[RunRecord]) -> list[Stretch]:
    """Stretches that several windows cover: the look-back of each run, and past windows."""
    return [it for it in coverage(runs) if it.windows > 1]
