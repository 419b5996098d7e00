"""How the models fared, run by run: rows, bytes and seconds of each as small lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from windrow.operations.overview import PackageOverview
from windrow.report import words
from windrow.report.page.charts import spark_line
from windrow.report.page.health import Grade, last_outcomes, runs_of_models
from windrow.report.page.names import anchor, short_names
from windrow.state.runs import ModelFate, ModelOutcome, RunRecord

_FATES = {ModelFate.FAILED: Grade.BAD, ModelFate.SKIPPED: Grade.WARN}


@dataclass(frozen=True)
class Measure:
    """A figure of a model: in its last run, and in those before as a line."""

    title: str
    last: str
    line: Markup


@dataclass(frozen=True)
class ModelRow:
    """A line of the table of models."""

    name: str
    anchor: str
    outcome: str
    grade: str
    reached: str
    measures: tuple[Measure, ...]


def model_rows(package: PackageOverview) -> tuple[ModelRow, ...]:
    """The models that took part in the runs shown."""
    runs = runs_of_models(package.status.last_runs)[::-1]
    positions, short = package.status.positions, short_names(package)
    return tuple(
        ModelRow(
            name=short.get(name, name),
            anchor=anchor("table", package.status.package, short[name]) if name in short else "",
            outcome=last.outcome.value,
            grade=_FATES.get(last.outcome, Grade.FINE).word,
            reached="" if name not in positions else words.minute(positions[name]),
            measures=_measures(package, name, runs),
        )
        for name, (_, last) in last_outcomes(package.status).items()
    )


def _measures(
    package: PackageOverview, name: str, runs: Sequence[RunRecord]
) -> tuple[Measure, ...]:
    """What is known of a model in the runs that it took part in."""
    took_part = [(run, it) for run in runs for it in run.models if it.name == name]
    key = anchor(package.status.package, name)

    def measure(
        title: str,
        value: Callable[[RunRecord, ModelOutcome], float | None],
        shown: Callable[[float], str],
        role: str,
    ) -> Measure:
        values = [value(run, it) for run, it in took_part]
        # The last values in words, for those who do not see the line.
        told = ", ".join("none" if it is None else shown(it) for it in values[-5:])
        line = spark_line(f"{key}-{title}", f"{title} of {name}: {told}", values, role)
        last = values[-1] if values else None
        return Measure(title, "" if last is None else shown(last), line)

    def size(run: RunRecord, _: ModelOutcome) -> float | None:
        return (package.written or {}).get(run.run_id, {}).get(name)

    return (
        measure("rows", lambda _, it: it.rows, lambda rows: f"{rows:,.0f}", "accent"),
        *(
            [measure("bytes", size, lambda number: words.size(round(number)), "series-3")]
            if package.written is not None
            else []
        ),
        measure("seconds", lambda _, it: it.seconds, words.duration, "series-1"),
    )
