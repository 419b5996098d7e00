"""The page itself: everything put together, and every value escaped.

No script is in it, and its own policy forbids any: whatever a page title or an error message holds,
a browser shows it as text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from windrow import __version__
from windrow.operations.overview import Overview, PackageOverview
from windrow.report import words
from windrow.report.page.checked import ChecksView, checks_view
from windrow.report.page.data import DataView, data_view
from windrow.report.page.health import Grade, findings, has_run, health_of
from windrow.report.page.left_out import LeftOutView, left_out_view
from windrow.report.page.lineage import lineage_picture
from windrow.report.page.model_trends import ModelRow, model_rows
from windrow.report.page.names import anchor
from windrow.report.page.reference import TableView, reference_view
from windrow.report.page.runs import RunsView, run_row, runs_view
from windrow.report.page.timeline import TimelineView, timeline_view

_MARKS = {"fine": "✓", "note": "·", "warn": "!", "bad": "✗"}
_WORDS = {"fine": "well", "note": "well", "warn": "needs a look", "bad": "something is wrong"}


@dataclass(frozen=True)
class Fact:
    """A figure with what it is."""

    label: str
    value: str
    note: str = ""


@dataclass(frozen=True)
class PackageView:
    """All that the page shows of one package."""

    name: str
    anchor: str
    has_run: bool
    grade: str
    word: str
    """The grade in words."""
    facts: tuple[Fact, ...]
    runs: RunsView
    models: tuple[ModelRow, ...]
    timeline: TimelineView
    lineage: Markup | None
    left_out: LeftOutView
    checks: ChecksView
    data: DataView
    reference: tuple[TableView, ...]

    @property
    def glance(self) -> str:
        """The package in one line."""
        if not self.has_run:
            return "It has not run yet."
        told = {it.label: it for it in self.facts}
        parts = [told[label] for label in ("Came to", "Last run") if label in told]
        return " ".join(f"{it.label} {it.value}, {it.note}." for it in parts)

    @property
    def parts(self) -> list[tuple[str, str]]:
        """The parts of the page that there are about it: anchor and title."""
        has = {
            ("runs", "Runs"): self.runs.runs,
            ("windows", "Windows"): self.timeline.picture,
            ("lineage", "Lineage"): self.lineage,
            ("left-out", "Left out"): self.runs.runs,
            ("checks", "Checks"): self.runs.runs,
            ("data", "Data"): self.data.charts,
            ("reference", "Tables"): True,
        }
        return [part for part, is_there in has.items() if is_there]


def page(overview: Overview) -> str:
    """The page as HTML."""
    health = health_of(overview)
    template = _environment().get_template("report.html")
    return template.render(
        overview=overview,
        made=words.minute(overview.now),
        health=health,
        packages=[_package_view(it, overview) for it in overview.packages],
        anchors={it.status.package: anchor(it.status.package) for it in overview.packages},
        marks=_MARKS,
        version=__version__,
    )


def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("windrow.report.page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _package_view(package: PackageOverview, overview: Overview) -> PackageView:
    status = package.status
    grade = max((it.grade for it in findings(package, overview.now)), default=Grade.FINE)
    return PackageView(
        name=status.package,
        anchor=anchor(status.package),
        has_run=has_run(status),
        grade=grade.word,
        word=_WORDS[grade.word] if has_run(status) else "has not run yet",
        facts=tuple(_facts(package, overview)),
        runs=runs_view(package),
        models=model_rows(package),
        timeline=timeline_view(package),
        lineage=lineage_picture(package),
        left_out=left_out_view(package),
        checks=checks_view(package),
        data=data_view(package),
        reference=reference_view(package),
    )


def _facts(package: PackageOverview, overview: Overview) -> Iterator[Fact]:
    status = package.status
    reached = max(status.positions.values(), default=None)
    if reached is not None:
        behind = overview.now - reached
        note = (
            f"{words.span(behind)} behind the clock" if behind > timedelta() else "up to the clock"
        )
        yield Fact("Came to", words.minute(reached), note)
    if status.last_runs:
        last = run_row(status.last_runs[0])
        yield Fact("Last run", last.outcome, f"{last.at}, took {last.took}")
    if status.plan is not None:
        state, window = status.plan.limits.sentences
        yield Fact("Next run", state, status.plan.nothing_because or window)
    yield Fact(
        "In quarantine", words.count(status.quarantined, "session"), "later events are left out"
    )
