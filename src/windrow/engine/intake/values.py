"""What was found of a run's sessions and events."""

from __future__ import annotations

from collections.abc import Iterable
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
    """The days on which they start, and those of the lives that they had before they moved."""
    reached: datetime | None
    """The greatest collector time of a usable event in the window."""
    started_on: tuple[date, ...]
    """The days on which the continued sessions began."""
    stored_on: tuple[date, ...]
    """The days on which those of them began, as far as was known, that have a lifecycle row."""
    has_over_long: bool
    """Whether one has reached its cap."""
    counts: dict[str, int]
    lived_on: tuple[DayRange, ...] = ()
    """The days of their lives, where these may lie far apart; empty: all between first and last."""


def days_of_lives(lives: Iterable[tuple[date, date]]) -> set[date]:
    """Every day of lives, such as sessions had before a late event moved their start.

    The cap moves with the start, and rows stored under the old one may lie on days that no event
    of this run has.
    """
    return {day for first, last in lives for day in DayRange(first, last).days()}


@dataclass(frozen=True)
class Intake:
    """This run's sessions and events, and what was found out on the way."""

    sessions: DataFrame
    """As `Sessions.this_run`, with the user ids that the events carry."""
    found: Sessions | None
    """What the look for the sessions found; None in a package without sessions."""
    users: DataFrame
    """Those whose rows the run brings up to date: who has one of these sessions, or had it."""
    everyone: DataFrame
    """All users that events of these sessions name, or whose they are or were."""
    events: DataFrame
    reached: datetime | None
    """The greatest collector time that was consumed."""
    days: tuple[date, ...]
    """The days on which rows of these sessions can lie, by the time of their events."""
    counts: dict[str, int]
    cached: DataFrame
    former: DataFrame | None = None
    """Users who had one of these sessions until now, and have it no more."""
    made_anew: DataFrame | None = None
    """Those of them all of whose sessions are in the run, so that nothing stored is needed of
    them; None: there are none."""
    most_users: int = 0
    """There are at most so many of any of these users."""
    event_names: frozenset[str] | None = None
    """The names of the run's events; None when nobody asked."""

    @property
    def started_on(self) -> tuple[date, ...]:
        """Where the lifecycle rows of the run lie."""
        return () if self.found is None else self.found.started_on

    def days_around(self, *, before: int, after: int) -> tuple[DayRange, ...]:
        """The run's days, each with so many before and after it."""
        return day_ranges(self.days, before=before, after=after)

    def release(self) -> None:
        """Let go of what was kept in memory."""
        self.cached.unpersist()
