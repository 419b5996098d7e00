"""Whether all is well, and what is not: findings that follow from what was looked up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import IntEnum
from itertools import pairwise
from statistics import median

from windrow.operations.freshness import Flow
from windrow.operations.overview import Overview, PackageOverview
from windrow.operations.status import PackageStatus
from windrow.report import words
from windrow.report.documents import Document
from windrow.report.freshness import behind_sentence, pause_sentence
from windrow.report.page.windows import counting, gaps
from windrow.state.runs import ModelFate, ModelOutcome, Outcome, RunRecord

_RUNS_OF_MODELS = (Outcome.SUCCEEDED, Outcome.FAILED, Outcome.REJECTED, Outcome.UNDONE)
_OVERDUE_AFTER = 3
"""So many times the usual time between two runs."""
_SHORT = timedelta(hours=1)
"""Nobody is missed for so long: a round that finds nothing new leaves no trace."""
_ENOUGH_RUNS = 4
"""Fewer runs have no usual time between them."""
_MOST_NAMED = 5


class Grade(IntEnum):
    """How bad something is."""

    FINE = 0
    NOTE = 1
    WARN = 2
    BAD = 3

    @property
    def word(self) -> str:
        """The grade as documents and style sheets have it."""
        return self.name.lower()


@dataclass(frozen=True)
class Finding:
    """Something to know about a package, and what to do about it."""

    package: str
    grade: Grade
    text: str
    advice: str = ""


@dataclass(frozen=True)
class Health:
    """All findings, the worst first, and what they come to."""

    findings: tuple[Finding, ...]
    has_run: bool

    @property
    def grade(self) -> Grade:
        """The worst of the findings."""
        return max((it.grade for it in self.findings), default=Grade.FINE)

    @property
    def verdict(self) -> str:
        """The whole in a few words."""
        bad, warned = (
            sum(it.grade is grade for it in self.findings) for grade in (Grade.BAD, Grade.WARN)
        )
        need = words.count(warned, "thing needs", "things need")
        if bad:
            wrong = words.count(bad, "thing is", "things are")
            return f"{wrong} wrong, {need} a look" if warned else f"{wrong} wrong"
        if warned:
            return f"{need} a look"
        return "All is well" if self.has_run else "Nothing has run yet"


def health_of(overview: Overview) -> Health:
    """What is to be known about the project."""
    found = [it for package in overview.packages for it in findings(package, overview.now)]
    found.sort(key=lambda it: -it.grade)
    return Health(tuple(found), any(has_run(it.status) for it in overview.packages))


def health_document(health: Health) -> Document:
    """The same for programs."""
    return {
        "health": health.grade.word if health.has_run or health.grade > Grade.NOTE else "not_run",
        "findings": [
            {
                "package": it.package,
                "grade": it.grade.word,
                "text": it.text,
                "advice": it.advice or None,
            }
            for it in health.findings
        ],
    }


def has_run(status: PackageStatus) -> bool:
    """True when the package has consumed something, or at least tried."""
    return bool(status.positions or status.last_runs)


def findings(package: PackageOverview, now: datetime) -> Iterator[Finding]:
    """What is to be known about one package."""
    status = package.status
    name = status.package
    if not has_run(status):
        yield Finding(name, Grade.NOTE, "It has not run yet.", "Begin with `windrow run`.")
    yield from _of_plan(status)
    yield from _of_lease(status)
    yield from _of_last_run(status)
    yield from _of_models(status)
    yield from _of_checks(status)
    yield from _of_edits(status)
    yield from _of_clock(status, now)
    yield from _of_freshness(status)
    yield from _of_windows(status)
    yield from _of_days(package)


def _of_plan(status: PackageStatus) -> Iterator[Finding]:
    if status.problem:
        # Before its first run a package has, as a rule, no events yet.
        grade = Grade.BAD if has_run(status) else Grade.WARN
        yield Finding(status.package, grade, f"No run is possible: {status.problem}")
    lagging = status.out_of_sync if status.positions else []
    if lagging:
        yield Finding(
            status.package,
            Grade.WARN,
            f"{words.count(len(lagging), 'model lags', 'models lag')} behind the others: "
            f"{_named(lagging)}.",
            "The next runs catch up; `windrow run --until-caught-up` does it at once.",
        )


def _of_lease(status: PackageStatus) -> Iterator[Finding]:
    lease = status.lease
    if lease is None:
        return
    begun = f"begun {words.instant(lease.started_at)} by {lease.holder}"
    if status.is_running:
        yield Finding(status.package, Grade.NOTE, f"Run {lease.run_id} is under way, {begun}.")
    else:
        yield Finding(
            status.package,
            Grade.WARN,
            f"Run {lease.run_id}, {begun}, was killed.",
            "The next run undoes it first; `windrow unlock` does it now.",
        )


def runs_of_models(runs: Sequence[RunRecord]) -> list[RunRecord]:
    """The records that are runs, newest first: not rollbacks, not upkeep."""
    return [run for run in runs if run.outcome in _RUNS_OF_MODELS]


def _of_last_run(status: PackageStatus) -> Iterator[Finding]:
    last = next(iter(runs_of_models(status.last_runs)), None)
    if last is None or last.outcome in (Outcome.SUCCEEDED, Outcome.FAILED):
        # What failed is told model by model.
        return
    why = f" {last.error}" if last.error else ""
    if last.outcome is Outcome.REJECTED:
        advice = "`windrow test` shows rows that offend; nothing of the run was kept."
        text = f"The last run, {last.run_id}, was rejected by its checks.{why}"
        yield Finding(status.package, Grade.BAD, text, advice)
    else:
        text = f"The last run, {last.run_id}, did not come to its end and was taken back.{why}"
        yield Finding(status.package, Grade.WARN, text, "The next run does its work again.")


def last_outcomes(status: PackageStatus) -> dict[str, tuple[RunRecord, ModelOutcome]]:
    """How each model fared when it last took part in a run that was kept."""
    found: dict[str, tuple[RunRecord, ModelOutcome]] = {}
    for run in status.last_runs:
        for outcome in run.models if run.outcome.is_kept else ():
            found.setdefault(outcome.name, (run, outcome))
    return found


def _of_models(status: PackageStatus) -> Iterator[Finding]:
    skipped = []
    for name, (run, outcome) in last_outcomes(status).items():
        if outcome.outcome is ModelFate.FAILED:
            text = f"{name} failed in run {run.run_id}: {outcome.error or 'no reason was recorded'}"
            advice = "The traceback is in .windrow/logs/windrow.log of whoever ran it."
            yield Finding(status.package, Grade.BAD, text, advice)
        elif outcome.outcome is ModelFate.SKIPPED:
            skipped.append(name)
    if skipped:
        text = f"Skipped, because they read one that failed: {_named(skipped)}."
        yield Finding(status.package, Grade.WARN, text)


def _of_checks(status: PackageStatus) -> Iterator[Finding]:
    """Checks that only warn; those that do more have rejected their run."""
    last = next(iter(runs_of_models(status.last_runs)), None)
    if last is not None and last.outcome.is_kept and last.failed_checks:
        names = _named([f"{it.table} {it.check}" for it in last.failed_checks])
        number = words.count(len(last.failed_checks), "check")
        text = f"{number} of the last run warned: {names}."
        yield Finding(status.package, Grade.WARN, text, "`windrow test` shows rows that offend.")


def _of_edits(status: PackageStatus) -> Iterator[Finding]:
    if status.edited:
        names = _named([it.name for it in status.edited])
        yield Finding(
            status.package,
            Grade.WARN,
            f"Rows of the manifest were moved outside windrow: {names}.",
            "`windrow status` shows from where to where.",
        )


def _of_clock(status: PackageStatus, now: datetime) -> Iterator[Finding]:
    """Runs come at intervals; one that stays away much longer is missed by someone."""
    clocks = sorted({run.clock or run.started_at for run in runs_of_models(status.last_runs)})
    if len(clocks) < _ENOUGH_RUNS or status.is_running:
        return
    apart = [(late - early).total_seconds() for early, late in pairwise(clocks)]
    usual = timedelta(seconds=median(apart))
    since = now - clocks[-1]
    longest = timedelta(seconds=max(apart))
    if since > max(_OVERDUE_AFTER * usual, 1.5 * longest, _SHORT):
        yield Finding(
            status.package,
            Grade.WARN,
            f"The last run was {words.span(since)} ago; usually one comes every "
            f"{words.span(usual)}.",
            "See whether what starts the runs still does. Runs that find nothing new are not in "
            "the ledger.",
        )


def _of_freshness(status: PackageStatus) -> Iterator[Finding]:
    """As `windrow status` has it: events that do not come, and events that nobody takes in."""
    found = status.freshness
    if found is None or not has_run(status):
        return
    if found.newest_event is None and not status.problem:
        text = "No event was found that the next run could take in."
        yield Finding(status.package, Grade.WARN, text, "See whether events are still loaded.")
    if pause := pause_sentence(found):
        is_quiet = found.flow is Flow.QUIET
        advice = "" if is_quiet else "See whether the site still sends, and its events are loaded."
        yield Finding(status.package, Grade.NOTE if is_quiet else Grade.WARN, pause, advice)
    if behind := behind_sentence(found):
        yield Finding(status.package, Grade.WARN, behind)


def _of_windows(status: PackageStatus) -> Iterator[Finding]:
    found = gaps(counting(status.last_runs))
    if found:
        places = [f"{words.minute(it.begin)} to {words.minute(it.end)}" for it in found]
        yield Finding(
            status.package,
            Grade.WARN,
            f"No window of the runs shown covers {_named(places, '; ')}.",
            "`windrow rerun --from D --to D` takes in a past window.",
        )


def missing_days(package: PackageOverview) -> list[date]:
    """Days without a row in the table that should have some, between days that have."""
    steady = next((it for it in package.daily if it.model == package.steady), None)
    if steady is None or not steady.rows:
        return []
    first, last = min(steady.rows), max(steady.rows)
    between = (first + timedelta(days=n) for n in range(1, (last - first).days))
    return [day for day in between if not steady.rows.get(day)]


def _of_days(package: PackageOverview) -> Iterator[Finding]:
    missing = missing_days(package)
    if missing:
        days = _named([day.isoformat() for day in missing])
        text = f"{package.steady} has no row on {words.count(len(missing), 'day')}: {days}."
        advice = "If there were events on those days, they have not been loaded."
        yield Finding(package.status.package, Grade.WARN, text, advice)


def _named(names: Sequence[str], separator: str = ", ") -> str:
    """The names, or the first few of them."""
    more = len(names) - _MOST_NAMED
    return separator.join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
