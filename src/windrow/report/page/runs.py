"""How the runs went: events, rows, bytes and seconds of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from windrow.operations.overview import PackageOverview
from windrow.report import words
from windrow.report.page.charts import Bar, bar_chart, compact
from windrow.report.page.health import Grade, runs_of_models
from windrow.report.page.names import anchor
from windrow.state.runs import ModelFate, ModelOutcome, Outcome, RunRecord

GRADES = {
    Outcome.FAILED: Grade.BAD,
    Outcome.REJECTED: Grade.BAD,
    Outcome.UNDONE: Grade.WARN,
    Outcome.STOPPED: Grade.WARN,
}


@dataclass(frozen=True)
class RunRow:
    """A line of the table of runs."""

    run_id: str
    at: str
    outcome: str
    grade: str
    state: str
    window: str
    events: str
    rows: str
    took: str
    trouble: str


@dataclass(frozen=True)
class RunsView:
    """The part of the page about runs."""

    charts: tuple[tuple[str, Markup], ...]
    """Title and picture."""
    runs: tuple[RunRow, ...]


def runs_view(package: PackageOverview) -> RunsView:
    """What the ledger tells of the runs shown."""
    status = package.status
    in_time = runs_of_models(status.last_runs)[::-1]
    return RunsView(
        charts=_charts(package, in_time) if in_time else (),
        runs=tuple(run_row(run) for run in status.last_runs),
    )


def _charts(package: PackageOverview, runs: Sequence[RunRecord]) -> tuple[tuple[str, Markup], ...]:
    name = anchor(package.status.package)
    what = f"of {words.count(len(runs), 'run')} of {package.status.package}, oldest first"
    events = [
        _bar(run, run.counts["events"], words.count(run.counts["events"], "event"))
        for run in runs
        if "events" in run.counts
    ]
    seconds = [_bar(run, run.seconds, words.duration(run.seconds)) for run in runs]
    rows = [_bar(run, _rows(run), words.count(_rows(run), "row")) for run in runs]
    # Histories may not reach as far back as the ledger.
    sizes = [
        _bar(run, sum(of_run.values()), words.size(sum(of_run.values())))
        for run in runs
        if (of_run := (package.written or {}).get(run.run_id)) is not None
    ]
    drawn = {
        "Events taken in by each run": ("events", events, compact),
        "Rows written by each run": ("rows", rows, compact),
        "Bytes written by each run": ("bytes", sizes, compact),
        "Seconds that each run took": ("seconds", seconds, compact),
    }
    return tuple(
        (title, bar_chart(f"{name}-{key}", f"{title}, {what}.", bars, shown=shown))
        for title, (key, bars, shown) in drawn.items()
        if bars
    )


def _rows(run: RunRecord) -> int:
    return sum(it.rows or 0 for it in run.models)


def _bar(run: RunRecord, value: float, told: str) -> Bar:
    at = run.clock or run.started_at
    tip = f"{words.minute(at)}: {told}, {said(run.outcome)} (run {run.run_id})"
    grade = GRADES.get(run.outcome)
    return Bar(value, grade.word if grade else "accent", f"{at:%-d %b}", tip)


def said(outcome: str) -> str:
    """`rolled back` for `rolled_back`."""
    return outcome.replace("_", " ")


def run_row(run: RunRecord) -> RunRow:
    """One run as a line of a table."""
    window = ""
    if run.lower_limit is not None and run.upper_limit is not None:
        window = f"{words.minute(run.lower_limit)} to {words.minute(run.upper_limit)}"
    failed = [f"{it.name}: {it.error or 'failed'}" for it in run.models if _has_failed(it)]
    return RunRow(
        run_id=run.run_id,
        at=words.minute(run.clock or run.started_at),
        outcome=said(run.outcome),
        grade=GRADES.get(run.outcome, Grade.FINE).word,
        state=said(run.state or ""),
        window=window,
        events=f"{run.counts['events']:,}" if "events" in run.counts else "",
        rows=f"{_rows(run):,}" if run.models else "",
        took=words.duration(run.seconds),
        trouble="; ".join([*([run.error] if run.error else []), *failed]),
    )


def _has_failed(outcome: ModelOutcome) -> bool:
    return outcome.outcome is ModelFate.FAILED
