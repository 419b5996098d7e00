"""What was found of a run's sessions and events."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from pyspark.sql import DataFrame

from windrow.tables.days import DayRange, day_ranges


@dataclass(frozen=True)
class Sessions:
    """The sessions of a run, and what the look for them found."""

    this_run: DataFrame
    """Session, user, start_tstamp and end_tstamp of every session of the run."""
    continued: DataFrame
    """New lifecycle rows of the sessions that have events in the window."""
    first: datetime | None
    last: datetime | None
    """The first start and the last end; None when the window touches no session."""
    days: tuple[date, ...]
    """The days on which they start."""
    reached: datetime | None
    """The greatest collector time of a usable event in the window."""
    started_on: tuple[date, ...]
    """The days on which the continued sessions began."""
    counts: dict[str, int]


@dataclass(frozen=True)
class Intake:
    """This run's sessions and events, and what was found out on the way."""

    sessions: DataFrame
    """As `Sessions.this_run`, with the user ids that the events carry."""
    continued: DataFrame
    """As `Sessions.continued`."""
    users: DataFrame
    """Everyone who has one of these sessions, or had it until now."""
    events: DataFrame
    reached: datetime | None
    """The greatest collector time that was consumed."""
    days: tuple[date, ...]
    """The days on which rows of these sessions can lie, by the time of their events."""
    started_on: tuple[date, ...]
    """As `Sessions.started_on`: where the lifecycle rows of the run lie."""
    counts: dict[str, int]
    cached: DataFrame
    event_names: frozenset[str] | None = None
    """The names of the run's events; None when nobody asked."""

    def days_around(self, *, before: int, after: int) -> tuple[DayRange, ...]:
        """The run's days, each with so many before and after it."""
        return day_ranges(self.days, before=before, after=after)

    def release(self) -> None:
        """Let go of what was kept in memory."""
        self.cached.unpersist()
