"""How old the newest event and the models are, and what it looks like when they are too old.

Two questions that go wrong in different places. Do events come in at all? If not, the tracker or
what loads its events may have stopped, or it is night: the sessions of the days before tell what
is usual at this time of day. And do the models keep up with the events that are there? If not,
windrow has not run, or its runs fail.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from pyspark.sql import functions as F

from windrow.atomic.source import Source, reading_events
from windrow.columns.timestamps import from_micros, literal, micros
from windrow.engine.plan import Plan
from windrow.engine.workspace import Workspace

DAYS_COMPARED = 14
"""Two of each day of the week: what is usual on a Sunday is not usual on a Monday."""
ENOUGH_DAYS = 3
"""Fewer days say nothing about what is usual."""
OFTEN_ENOUGH = 2
"""A pause that came once may have been an outage; one that came again is a habit."""
_DAY = timedelta(days=1)
_LONGEST_PAUSE_SEEN = 3 * _DAY
"""So far back before each of those days the event is looked for that was the newest then."""


class Flow(StrEnum):
    """Whether events come in."""

    FLOWING = "flowing"
    QUIET = "quiet"
    """None for longer than the threshold, as has happened at this time of day before."""
    STOPPED = "stopped"
    """None for longer than the threshold, and longer than is usual at this time of day."""
    SILENT = "silent"
    """None for longer than the threshold; too little is known to say whether that is usual."""
    UNKNOWN = "unknown"
    """No event was found, or the events cannot be read."""


@dataclass(frozen=True)
class Pauses:
    """How old the newest event was at the same time of day on the days before."""

    days: int
    """The days of which that is known."""
    as_long: int
    """Those on which it was as old as now, or older."""
    longest: timedelta


@dataclass(frozen=True)
class Freshness:
    """How old the newest event and each model are, by one clock."""

    now: datetime
    stale_after: timedelta
    newest_event: datetime | None
    """The newest one up to the clock; None: none was found, or nobody could look."""
    positions: Mapping[str, datetime] = field(default_factory=dict)
    """Model -> the greatest collector time it has consumed."""
    behind: tuple[str, ...] = ()
    """Models for which older events than the threshold allows are still waiting."""
    pauses: Pauses | None = None
    """What was usual; None unless no event came for longer than the threshold."""

    def age(self, moment: datetime) -> timedelta:
        """How long ago a moment is."""
        return self.now - moment

    @property
    def flow(self) -> Flow:
        """Whether events come in."""
        if self.newest_event is None:
            return Flow.UNKNOWN
        if self.age(self.newest_event) <= self.stale_after:
            return Flow.FLOWING
        if self.pauses is None or self.pauses.days < ENOUGH_DAYS:
            return Flow.SILENT
        return Flow.QUIET if self.pauses.as_long >= OFTEN_ENOUGH else Flow.STOPPED

    @property
    def is_stale(self) -> bool:
        """True when someone should look: no events come though they should, or models are behind.

        A pause that is usual at this time of day is none of that.
        """
        return bool(self.behind) or self.flow not in (Flow.FLOWING, Flow.QUIET)


def freshness_of(
    ws: Workspace,
    source: Source | None,
    plan: Plan | None,
    positions: Mapping[str, datetime],
    now: datetime,
) -> Freshness:
    """Look at the newest event, and only if it is old, at the sessions of the days before it."""
    stale_after = timedelta(hours=ws.settings.stale_after_hours)
    newest = None if source is None else _newest_event(source, plan, positions, now)
    is_old = newest is not None and now - newest > stale_after
    tracked = [name for member in ws.meant_models for name in member.tracked_names]
    return Freshness(
        now=now,
        stale_after=stale_after,
        newest_event=newest,
        positions=dict(positions),
        behind=models_behind(
            tracked if plan is None else _due(plan), positions, newest, now - stale_after
        ),
        pauses=_pauses(ws, newest, now) if newest is not None and is_old else None,
    )


def _newest_event(
    source: Source, plan: Plan | None, positions: Mapping[str, datetime], now: datetime
) -> datetime | None:
    """The newest event up to the clock: as the plan's own look has it, or by one like it."""
    times = None if plan is None or plan.limits.upper < now else plan.times
    # An event that claims to have been collected in the future hides the others.
    if times is not None and (times.newest is None or times.newest <= now):
        return times.newest
    since = min(max(positions.values(), default=now - DAYS_COMPARED * _DAY), now)
    newest = micros(F.max(source.adapted[source.time_column]))
    with reading_events():
        found = source.rows_between(since, now).agg(newest).collect()[0][0]
    return from_micros(found)


def _due(plan: Plan) -> list[str]:
    """The tracked names of models that the next run has something to do for.

    A model that stands before the newest event but has nothing to do is not behind: what came
    since is not for it.
    """
    parts = [it for it in (plan, plan.catch_up) if it is not None and not it.nothing_because]
    return [name for part in parts for member in part.models for name in member.tracked_names]


def models_behind(
    due: Iterable[str], positions: Mapping[str, datetime], newest: datetime | None, since: datetime
) -> tuple[str, ...]:
    """Of the models that are due, those that stand before a moment and the newest event."""
    if newest is None:
        return ()
    late = {name for name in due if name not in positions or positions[name] < min(since, newest)}
    return tuple(sorted(late))


def _pauses(ws: Workspace, newest: datetime, now: datetime) -> Pauses | None:
    """How old the newest event was at this time of day, on the days before the newest one now."""
    if not ws.foundation.has_sessions or not ws.tables.exists(ws.lifecycle):
        return None
    first = math.ceil((now - newest) / _DAY)
    moments = [now - days * _DAY for days in range(first, first + DAYS_COMPARED)]
    since = moments[-1] - _LONGEST_PAUSE_SEEN
    # A session's first and last events are known; the days, as literals, leave other files unread.
    on_days = F.col("start_tstamp_date").between(F.lit(since.date()), F.lit(newest.date()))
    start, end = F.col("start_tstamp"), F.col("end_tstamp")
    found = (
        ws.known_sessions()
        .where(on_days)
        .agg(
            *(
                micros(F.max(F.when(end <= literal(at), end).when(start <= literal(at), start)))
                for at in moments
            )
        )
        .collect()[0]
    )
    return pauses_of(moments, [from_micros(it) for it in found], now - newest)


def pauses_of(
    moments: Sequence[datetime], newest: Sequence[datetime | None], pause: timedelta
) -> Pauses:
    """What a pause compares with: at each of these moments, the newest event that there was."""
    pairs = zip(moments, newest, strict=True)
    ages = [moment - event for moment, event in pairs if event is not None]
    as_long = sum(age >= pause for age in ages)
    return Pauses(len(ages), as_long, max(ages, default=timedelta(0)))
