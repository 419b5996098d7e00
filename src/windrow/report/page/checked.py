"""The checks of a package: how many there are, and what came of them in the runs that made them."""

from __future__ import annotations

from dataclasses import dataclass

from windrow.operations.overview import PackageOverview
from windrow.report import words
from windrow.report.page.health import Grade
from windrow.state.runs import FailedCheck, RunRecord

CHECKS = "checks"
"""The count of a run that made checks."""


@dataclass(frozen=True)
class CheckRow:
    """A check that did not pass."""

    table: str
    check: str
    outcome: str
    grade: str
    failures: str


@dataclass(frozen=True)
class CheckedRun:
    """A run that made checks."""

    run_id: str
    at: str
    made: str
    failed: tuple[CheckRow, ...]


@dataclass(frozen=True)
class ChecksView:
    """What is declared, and what runs with checks found, the newest first."""

    declared: str
    last: CheckedRun | None
    """None: none of the runs shown made checks."""
    before: tuple[CheckedRun, ...]
    """Those before it in which something did not pass."""


def checks_view(package: PackageOverview) -> ChecksView:
    """The checks of the models, and of the runs shown."""
    tables = [it for it in package.tables if it.model.all_checks]
    number = sum(len(it.model.all_checks) for it in tables)
    checked = [_run(run) for run in package.status.last_runs if CHECKS in run.counts]
    return ChecksView(
        declared=f"{words.count(number, 'check')} on {words.count(len(tables), 'table')}",
        last=checked[0] if checked else None,
        before=tuple(run for run in checked[1:] if run.failed),
    )


def _run(run: RunRecord) -> CheckedRun:
    return CheckedRun(
        run_id=run.run_id,
        at=words.minute(run.clock or run.started_at),
        made=words.count(run.counts[CHECKS], "check"),
        failed=tuple(_row(it) for it in run.failed_checks),
    )


def _row(check: FailedCheck) -> CheckRow:
    is_error = check.severity == "error"
    return CheckRow(
        table=check.table,
        check=check.check,
        outcome="failed" if is_error else "warned",
        grade=(Grade.BAD if is_error else Grade.WARN).word,
        failures=f"{check.failures:,}",
    )
