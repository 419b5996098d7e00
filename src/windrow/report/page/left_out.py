"""What runs left out, quarantined or could not read, run by run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from windrow.operations.overview import PackageOverview
from windrow.report import words
from windrow.report.counts import LEFT_OUT, LEFT_OUT_OF_SESSIONS
from windrow.report.page.charts import spark_line
from windrow.report.page.health import runs_of_models
from windrow.report.page.names import anchor
from windrow.state.runs import RunRecord

_WINDOW = "window_events"
_COUNTS = {
    "quarantined": "Sessions quarantined",
    "capped": "Sessions that reached their cap",
    "window_left_out": "Events left out, for any of these reasons",
    **{count: f"Events {of}" for count, of in (LEFT_OUT | LEFT_OUT_OF_SESSIONS).items()},
    "duplicates": "Copies of events",
    "sessions_without_row": "Sessions without a row in the sessions table",
    "malformed_entities": "Entities that could not be read",
    "bad_lines": "Lines that are no events",
    "late_events": "Events that were loaded late, and taken in",
}


@dataclass(frozen=True)
class Trend:
    """One count over the runs shown."""

    what: str
    line: Markup
    last: str
    total: str
    share: str
    """Of all events in the windows, where it is one of events."""


@dataclass(frozen=True)
class LeftOutView:
    """The counts that were ever above zero, and the names of those that never were."""

    trends: tuple[Trend, ...]
    never: str


def left_out_view(package: PackageOverview) -> LeftOutView:
    """What the runs shown left out, oldest first."""
    runs = [run for run in runs_of_models(package.status.last_runs)[::-1] if run.counts]
    counted = {count for run in runs for count in run.counts}
    found = {count for count in _COUNTS if any(run.counts.get(count) for run in runs)}
    return LeftOutView(
        trends=tuple(
            _trend(package, count, what, runs) for count, what in _COUNTS.items() if count in found
        ),
        never=", ".join(
            what[0].lower() + what[1:]
            for count, what in _COUNTS.items()
            if count in counted and count not in found
        ),
    )


def _trend(package: PackageOverview, count: str, what: str, runs: Sequence[RunRecord]) -> Trend:
    values = [run.counts.get(count) for run in runs]
    known = [value for value in values if value is not None]
    window = sum(run.counts.get(_WINDOW, 0) for run in runs if count in run.counts)
    is_of_events = count in (*LEFT_OUT, "window_left_out") and window
    name = anchor(package.status.package, "left-out", count)
    told = f"{what}: {', '.join(f'{value:,}' for value in known[-5:])}"
    return Trend(
        what=what,
        line=spark_line(name, told, values, "warn"),
        last="" if values[-1] is None else f"{values[-1]:,}",
        total=f"{sum(known):,}",
        share=words.percent(sum(known), window) if is_of_events else "",
    )
