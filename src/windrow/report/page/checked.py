"""The checks of a package: which there are, and what came of them in the runs that made them."""

from __future__ import annotations

from dataclasses import dataclass

from windrow.operations.overview import PackageOverview
from windrow.report import words
from windrow.report.page.health import Grade
from windrow.state.runs import CheckOutcome, RunRecord


@dataclass(frozen=True)
class CheckRow:
    """One check in the last run that made it."""

    table: str
    check: str
    severity: str
    outcome: str
    grade: str
    failures: str


@dataclass(frozen=True)
class ChecksView:
    """What is declared, and what the last run with checks found."""

    declared: str
    run: str
    """That run, in words; empty: none of the runs shown made checks."""
    failing: tuple[CheckRow, ...]
    passed: tuple[CheckRow, ...]
    history: tuple[tuple[str, str, str], ...]
    """Other runs with failing checks: when, which run, what failed."""


def checks_view(package: PackageOverview) -> ChecksView:
    """The checks of the models, and of the runs shown."""
    tables = [it for it in package.tables if it.model.all_checks]
    number = sum(len(it.model.all_checks) for it in tables)
    checked = [run for run in package.status.last_runs if run.checks]
    last = checked[0] if checked else None
    rows = [] if last is None else [_row(it) for it in last.checks]
    return ChecksView(
        declared=f"{words.count(number, 'check')} on {words.count(len(tables), 'table')}",
        run="" if last is None else f"{last.run_id}, {words.minute(last.clock or last.started_at)}",
        failing=tuple(row for row in rows if row.failures != "0"),
        passed=tuple(row for row in rows if row.failures == "0"),
        history=tuple(_told(run) for run in checked[1:] if any(it.failures for it in run.checks)),
    )


def grade_of(check: CheckOutcome) -> Grade:
    """How bad what came of a check is."""
    if not check.failures:
        return Grade.FINE
    return Grade.BAD if check.severity == "error" else Grade.WARN


def _row(check: CheckOutcome) -> CheckRow:
    grade = grade_of(check)
    outcome = {Grade.FINE: "passed", Grade.WARN: "warned"}.get(grade, "failed")
    failures = f"{check.failures:,}"
    return CheckRow(check.table, check.check, check.severity, outcome, grade.word, failures)


def _told(run: RunRecord) -> tuple[str, str, str]:
    failed = [f"{it.table} {it.check}: {it.failures:,}" for it in run.checks if it.failures]
    return words.minute(run.clock or run.started_at), run.run_id, "; ".join(failed)
