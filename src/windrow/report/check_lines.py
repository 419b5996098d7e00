"""Checks as lines of text: the failing ones with a sample of what offends, and how many passed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from windrow.models.checks import CheckResult
from windrow.report import words


def check_lines(results: Sequence[CheckResult]) -> Iterator[str]:
    """A line for each check that failed, lines for its sample, and the summary."""
    for result in sorted(results, key=lambda it: it.severity):
        if result.failures:
            sign = "✗" if result.outcome == "failed" else "!"
            number = words.count(result.failures, "failure")
            yield f"{sign} {result.table} {result.check}: {number} ({result.severity})"
            yield from (f"    {_row(row)}" for row in result.sample)
    yield _summary(results)


def _row(row: Mapping[str, str | None]) -> str:
    shown = (f"{name} = {'null' if value is None else value}" for name, value in row.items())
    return ", ".join(shown)


def _summary(results: Sequence[CheckResult]) -> str:
    outcomes = [result.outcome for result in results]
    parts = [f"{outcomes.count('passed'):,} passed"]
    for outcome in ("warned", "failed"):
        if outcome in outcomes:
            parts.append(f"{outcomes.count(outcome):,} {outcome}")
    return f"{words.count(len(results), 'check')}: {words.join_words(parts)}."
