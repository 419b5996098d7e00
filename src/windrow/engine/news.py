"""Which events of a window are news: one narrow look at the times of the source's events.

A run remembers, by the hour, which events its successor's look-back will find if none is added. A
late event changes the number of events of its hour, so that nothing is missed by beginning there,
or by doing nothing where no hour has changed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from pyspark.sql import functions as F

from windrow.atomic.source import Source, reading_events
from windrow.columns.timestamps import from_micros, literal, micros
from windrow.engine.holding import Seen
from windrow.engine.workspace import Workspace
from windrow.models.model import Model
from windrow.state.limits import Limits, State
from windrow.state.runs import Outcome, RunRecord

_UNSETTLING = (
    # Of what was taken back, tables that someone gave up hold what a killed run left in them.
    *(Outcome.FAILED, Outcome.REJECTED, Outcome.UNDONE),
    *(Outcome.ROLLED_BACK, Outcome.EDITED, Outcome.REFRESHED),
)
"""After these, the same events may lead to other rows."""
_HASH_RANGE = 2**31
"""Small enough that the sum of as many hashes as there are events fits a number."""


@dataclass(frozen=True)
class EventTimes:
    """How many events a stretch of time has, hour by hour."""

    hours: Mapping[int | None, tuple[int, int]] = field(default_factory=dict)
    """Hour, in microseconds -> number of events, and a sum that tells their times."""
    newest: datetime | None = None
    """The newest event from the begin of the stretch on, be it beyond its end."""

    @property
    def count(self) -> int:
        """The number of events."""
        return sum(number for number, _ in self.hours.values())

    def count_since(self, moment: datetime) -> int:
        """The number of events from the hour of a moment on."""
        return sum(number for number, _ in self._since(moment).values())

    def told(self, since: datetime) -> str:
        """What tells these events from others, of those from the hour of a moment on."""
        return json.dumps([[hour, *figures] for hour, figures in self._since(since).items()])

    def first_change(self, before: str, since: datetime) -> datetime | None:
        """Where these events begin to be others than those told of `before`; None: nowhere.

        Events whose times cannot be read belong to no hour: anything may be new with them.
        """
        then = _told(before)
        if then is None:
            return since
        now = self._since(since)
        changed = [hour for hour in {*now, *then} if now.get(hour) != then.get(hour)]
        if None in changed:
            return since
        return max(since, min(map(_instant, filter(None, changed)))) if changed else None

    def _since(self, moment: datetime) -> dict[int | None, tuple[int, int]]:
        first = int(_hour_of(moment).timestamp()) * 1_000_000
        return {
            hour: figures
            for hour, figures in self.hours.items()
            if figures[0] and (hour is None or hour >= first)
        }


def look_at_times(source: Source, limits: Limits, *, beyond: bool) -> EventTimes:
    """The times of the window's events; looks `beyond` its end for the newest one if asked to."""
    first = _hour_of(limits.lower)
    rows = source.rows_since(first) if beyond else source.rows_between(first, limits.upper)
    time = source.adapted[source.time_column]
    is_within = F.coalesce(time <= literal(limits.upper), F.lit(True))
    number = F.pmod(F.xxhash64(time), F.lit(_HASH_RANGE))
    by_hour = rows.groupBy(micros(F.date_trunc("hour", time)).alias("hour")).agg(
        F.count_if(is_within).alias("events"),
        F.sum(F.when(is_within, number).otherwise(F.lit(0))).alias("sum"),
        micros(F.max(time)).alias("newest"),
    )
    with reading_events():
        found = by_hour.collect()
    newest = max((row["newest"] for row in found if row["newest"] is not None), default=None)
    hours = {row["hour"]: (int(row["events"]), int(row["sum"] or 0)) for row in found}
    return EventTimes(hours, from_micros(newest))


def _hour_of(moment: datetime) -> datetime:
    return moment.replace(minute=0, second=0, microsecond=0)


def _told(text: str) -> dict[int | None, tuple[int, int]] | None:
    """Hour -> figures, of what a run noted; None: it noted them in another way."""
    try:
        return {hour: (number, times) for hour, number, times in json.loads(text)}
    except ValueError:
        return None


def _instant(hour: int) -> datetime:
    return datetime.fromtimestamp(hour / 1_000_000, UTC)


@dataclass(frozen=True)
class News:
    """What of a window is new since the run before."""

    run: RunRecord
    since: datetime | None
    """From here on events are others than those it took in; None: nowhere in the window."""


def news_since(
    ws: Workspace,
    seen: Seen,
    models: Sequence[Model],
    positions: Mapping[str, datetime],
    limits: Limits,
    times: EventTimes,
) -> News | None:
    """What is new since the last run, if this one would do the same to the same events.

    None: it would not, or nobody knows.
    """
    last = _last_live_run(seen)
    if last is None or last.seen_events is None or limits.state is not State.STANDARD:
        return None
    is_same_project = (
        last.settings_fingerprint == ws.fingerprint() and last.options == ws.changed_options()
    )
    took_part = {outcome.name for outcome in last.models}
    is_same_work = all(m.full_name in took_part for m in models) and all(
        at == last.reached for at in positions.values()
    )
    if ws.settings.compat or not is_same_project or not is_same_work:
        return None
    return News(last, times.first_change(last.seen_events, limits.lower))


def why_nothing(
    news: News | None, models: Sequence[Model], limits: Limits, now: datetime
) -> str | None:
    """Why there is nothing to do: the events are those that the last run took in. None: do it."""
    if news is None or news.since is not None or limits.is_cut_short:
        return None
    if _want_to_run(models, news.run, now):
        return None
    assert news.run.reached is not None
    return (
        f"no event is new since run {news.run.run_id}, "
        f"which came to {news.run.reached:%Y-%m-%d %H:%M:%S}."
    )


def _last_live_run(seen: Seen) -> RunRecord | None:
    """The last run of new events, if it came to a good end and nothing was taken back since."""
    for run in seen.newest_runs:
        is_live = run.state in (State.FIRST_RUN.value, State.STANDARD.value)
        if run.outcome in _UNSETTLING or run.only_sessions:
            # A released session's events may go on beyond where the others came.
            return None
        if run.outcome is Outcome.SUCCEEDED and is_live:
            return run
    return None


def _want_to_run(models: Sequence[Model], last: RunRecord, now: datetime) -> bool:
    """True where tables change without new events: with the day, or with what others keep."""
    rebuilt = [member for member in models if member.kind == "rebuilt"]
    is_next_day = last.clock is None or last.clock.date() != now.date()
    return any(m.path or (is_next_day and "now" in m.inputs.values()) for m in rebuilt)
