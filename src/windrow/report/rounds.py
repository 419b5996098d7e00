"""Rounds of `windrow run --every`: a document each, and the lines that tell one from the next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from windrow.operations.several_packages import PackageRuns
from windrow.report import words
from windrow.report.documents import Document, moment, runs_document


@dataclass(frozen=True)
class Round:
    """One time that all packages were run, or were to be."""

    number: int
    began: datetime
    seconds: float
    exit_code: int
    packages: Mapping[str, PackageRuns]
    error: Document | None = None
    """Why no package was run, as an error document has it."""

    @property
    def is_in_vain(self) -> bool:
        """True when no package came through: what stopped them all had better be left alone."""
        return all(runs.exit_code for runs in self.packages.values())


def round_document(it: Round, next_at: datetime | None) -> Document:
    """What `windrow run --every … --json` prints in a line: a run's document, and which round."""
    return {
        "round": {
            "number": it.number,
            "began": moment(it.began),
            "seconds": round(it.seconds, 3),
            "exit_code": it.exit_code,
            "next": moment(next_at),
        },
        **runs_document(it.packages),
        "error": None if it.error is None else it.error["error"],
    }


def heading(number: int, began: datetime) -> str:
    """`Round 2, 2024-03-05 18:05:00 UTC`."""
    return f"Round {number}, {words.instant(began)} UTC"


def next_sentence(next_at: datetime, failures: int, *, is_late: bool) -> str:
    """When the next round begins, and why not on the beat."""
    if is_late:
        return "The next round was due before this one ended, and begins now."
    again = f" {failures} rounds in a row came to nothing." if failures > 1 else ""
    return f"Next round at {words.instant(next_at)} UTC.{again}"
