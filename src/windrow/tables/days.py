"""Sets of days as few literal ranges: what bounds a read or a merge so that files are pruned."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta

MOST_RANGES = 64
"""More ranges than this make a condition slower to plan than the files it would save."""

_DAY = timedelta(days=1)


@dataclass(frozen=True, order=True)
class DayRange:
    """The days from first to last, both included."""

    first: date
    last: date

    def days(self) -> list[date]:
        """Each day of the range."""
        return [self.first + n * _DAY for n in range((self.last - self.first).days + 1)]


def day_ranges(days: Iterable[date], *, before: int = 0, after: int = 0) -> tuple[DayRange, ...]:
    """The days, each with so many before and after it, as at most MOST_RANGES ranges.

    A stray day far off stays a range of its own instead of stretching one range over years.
    """
    ranges: list[DayRange] = []
    for day in sorted(set(days)):
        first, last = _shift(day, -before), _shift(day, after)
        if ranges and first <= _shift(ranges[-1].last, 1):
            ranges[-1] = DayRange(ranges[-1].first, max(last, ranges[-1].last))
        else:
            ranges.append(DayRange(first, last))
    while len(ranges) > MOST_RANGES:
        nearest = min(range(len(ranges) - 1), key=lambda i: ranges[i + 1].first - ranges[i].last)
        ranges[nearest : nearest + 2] = [DayRange(ranges[nearest].first, ranges[nearest + 1].last)]
    return tuple(ranges)


def _shift(day: date, days: int) -> date:
    try:
        return day + days * _DAY
    except OverflowError:
        return date.max if days > 0 else date.min


def on_days(column: str, ranges: Iterable[DayRange], *, or_null: bool) -> str:
    """A SQL condition that a date column lies in one of the ranges."""
    parts = [
        f"{column} BETWEEN DATE '{days.first.isoformat()}' AND DATE '{days.last.isoformat()}'"
        for days in ranges
    ]
    return _any_of(column, parts, or_null)


def at_times(column: str, ranges: Iterable[DayRange], *, or_null: bool) -> str:
    """A SQL condition that a timestamp column lies on one of the ranges' days, in UTC."""
    parts = [
        f"({column} >= TIMESTAMP '{days.first.isoformat()} 00:00:00Z' AND "
        f"{column} < TIMESTAMP '{_shift(days.last, 1).isoformat()} 00:00:00Z')"
        for days in ranges
    ]
    return _any_of(column, parts, or_null)


def _any_of(column: str, parts: list[str], or_null: bool) -> str:
    parts = [*parts, f"{column} IS NULL"] if or_null else parts
    return f"({' OR '.join(parts)})" if parts else "FALSE"
