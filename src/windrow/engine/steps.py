"""What a run tells while it goes on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class RunFacts:
    """What is known of a run as it begins."""

    run_id: str
    state: str
    lower_limit: datetime
    upper_limit: datetime
    models: tuple[str, ...]
    """Those that will run, by their own names."""
    began: datetime
    """By the wall clock: it has looked at state and events before."""
    window_events: int | None = None
    """The events in the window; None when they were not counted."""
    expected_seconds: float | None = None
    """How long earlier runs like it took; None when there was none."""


@dataclass(frozen=True)
class Step:
    """Something a run has begun or finished; what a progress display shows."""

    name: str
    status: str
    """started, done, failed, skipped, nothing or info"""
    rows: int | None = None
    seconds: float = 0.0
    detail: str = ""
    kind: str = "phase"
    """run, phase or model"""
    run: RunFacts | None = None
    """Of a run that begins."""


Listener = Callable[[Step], None]


def say_nothing(_: object) -> None:
    """A listener for whoever does not listen."""
