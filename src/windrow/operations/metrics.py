"""How a project does, in numbers: for whoever watches it and many other things in one place.

All of it is in the package's state, which a run reads too: one look at lease, newest runs and
manifest, and the size of the quarantine. Events and derived tables are not touched.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from windrow.engine.holding import Seen, look
from windrow.engine.workspace import Workspace
from windrow.state.runs import ModelFate, ModelOutcome, Outcome, RunRecord

_RUNS_OF_MODELS = (*(it for it in Outcome if it.is_kept), Outcome.REJECTED, Outcome.UNDONE)
"""How runs of models end; the ledger has upkeep and changes by hand beside them."""


@dataclass(frozen=True)
class Metric:
    """What is measured, and in which way."""

    name: str
    help: str
    kind: Literal["gauge", "counter"] = "gauge"


@dataclass(frozen=True)
class Sample:
    """One number."""

    metric: Metric
    value: float
    labels: Mapping[str, str]


RUNS = Metric("windrow_runs", "Runs that the package has had since they are counted.", "counter")
RECENT_RUNS = Metric("windrow_recent_runs", "Of the newest runs, those that ended so.")
LAST_RUN_AT = Metric(
    "windrow_last_run_timestamp_seconds", "When the newest run that ended so was over."
)
RUN_SECONDS = Metric("windrow_run_seconds", "How long the newest run took.")
RUN_COUNT = Metric("windrow_run_count", "What the newest run whose rows are stored has counted.")
MODEL_ROWS = Metric("windrow_model_rows", "Rows that the newest run of the model brought.")
MODEL_SECONDS = Metric("windrow_model_seconds", "How long the newest run of the model took.")
MODEL_FAILED = Metric(
    "windrow_model_failed", "1 when the model failed or was skipped the last time it was run."
)
POSITION = Metric(
    "windrow_model_position_timestamp_seconds",
    "The greatest collector time that the model has consumed.",
)
LAG = Metric("windrow_model_lag_seconds", "How far that was behind the clock at the time.")
QUARANTINED = Metric("windrow_quarantined_sessions", "Sessions in quarantine.")
RUNNING = Metric("windrow_running", "1 while a run holds the package.")
UNFINISHED = Metric(
    "windrow_killed_run", "1 when a run was killed, and the next one has yet to take it back."
)
LEFT_BEHIND = Metric(
    "windrow_tables_to_rebuild", "Tables that a killed run left behind and that wait for a rebuild."
)
METRICS = (
    *(RUNS, RECENT_RUNS, LAST_RUN_AT, RUN_SECONDS, RUN_COUNT),
    *(MODEL_ROWS, MODEL_SECONDS, MODEL_FAILED, POSITION, LAG),
    *(QUARANTINED, RUNNING, UNFINISHED, LEFT_BEHIND),
)
"""All there are, in the order in which they are told."""


def package_metrics(ws: Workspace, project: str, now: datetime) -> tuple[Sample, ...]:
    """The numbers of one package; writes nothing."""
    seen = look(ws)
    quarantined = ws.quarantined_sessions()
    size = None if quarantined is None else quarantined.count()
    is_running = seen.unfinished is not None and ws.leases.is_held(seen.unfinished)
    labels = {"project": project, "target": ws.target, "package": ws.name}
    return tuple(samples_of(seen, labels, now, quarantined=size, is_running=is_running))


def samples_of(
    seen: Seen,
    labels: Mapping[str, str],
    now: datetime,
    *,
    quarantined: int | None,
    is_running: bool,
) -> Iterator[Sample]:
    """What the state says; numbers that are not known are left out, not made up."""

    def sample(metric: Metric, value: float, **own: str) -> Sample:
        return Sample(metric, float(value), {**labels, **own})

    runs = [it for it in seen.newest_runs if it.outcome in _RUNS_OF_MODELS]
    if number := max((it.number or 0 for it in seen.newest_runs), default=0):
        yield sample(RUNS, number)
    # Those that did not happen are told too: an alert needs a 0 to rise from.
    ended = Counter(it.outcome for it in runs)
    for outcome in _RUNS_OF_MODELS:
        yield sample(RECENT_RUNS, ended[outcome], outcome=outcome.value)
    for outcome in ended:
        newest = max(it.finished_at for it in runs if it.outcome is outcome)
        yield sample(LAST_RUN_AT, newest.timestamp(), outcome=outcome.value)
    if runs:
        yield sample(RUN_SECONDS, runs[0].seconds)
    if kept := next((it for it in runs if it.outcome.is_kept), None):
        for name, count in sorted(kept.counts.items()):
            yield sample(RUN_COUNT, count, count=name)

    for name, of_model in sorted(_newest_by_model(runs).items()):
        if of_model.rows is not None:
            yield sample(MODEL_ROWS, of_model.rows, model=name)
        yield sample(MODEL_SECONDS, of_model.seconds, model=name)
        yield sample(MODEL_FAILED, of_model.outcome is not ModelFate.SUCCEEDED, model=name)
    for name, at in sorted(seen.positions.items()):
        yield sample(POSITION, at.timestamp(), model=name)
        yield sample(LAG, (now - at).total_seconds(), model=name)

    if quarantined is not None:
        yield sample(QUARANTINED, quarantined)
    yield sample(RUNNING, is_running)
    yield sample(UNFINISHED, seen.unfinished is not None and not is_running)
    yield sample(LEFT_BEHIND, len(seen.left_behind()))


def _newest_by_model(runs: list[RunRecord]) -> dict[str, ModelOutcome]:
    """How each model fared the last time: models may be run apart."""
    found: dict[str, ModelOutcome] = {}
    for run in runs:
        for it in run.models:
            found.setdefault(it.name, it)
    return found
