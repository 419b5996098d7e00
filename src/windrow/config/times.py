"""The times that windrow works with: those that leave room to look back and forth."""

from __future__ import annotations

from datetime import UTC, date, datetime

from windrow.errors import UsageError

EARLIEST = date(1900, 1, 1)
LATEST = date(2999, 12, 31)
USABLE = f"from {EARLIEST} to {LATEST}"


def is_usable(day: date) -> bool:
    """Whether windows that begin or end on the day can be reckoned with."""
    return EARLIEST <= day <= LATEST


def in_utc(moment: datetime, what: str) -> datetime:
    """The same moment in UTC, which is its zone unless it has one. `what` names it in errors."""
    # The first and last years cannot even be taken to another zone.
    if not is_usable(moment.date()):
        raise UsageError(f"{what} is {moment.isoformat()}, expected a time {USABLE}.")
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
