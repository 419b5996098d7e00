"""What a run tells while it goes on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Step:
    """Something a run has begun or finished; what a progress display shows."""

    name: str
    status: str
    """started, done, failed, skipped, nothing or info"""
    rows: int | None = None
    seconds: float = 0.0
    detail: str = ""


Listener = Callable[[Step], None]


def say_nothing(_: object) -> None:
    """A listener for whoever does not listen."""
