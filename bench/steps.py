"""What is measured, in order: first runs, standard runs of a day each, runs with nothing new."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

START = date(2024, 1, 1)

FIRST, STANDARD, NOTHING = "first run", "standard run", "nothing new"
STEPS = (FIRST, STANDARD, NOTHING)


@dataclass(frozen=True)
class Step:
    """One round of a step: events of [start, end) are new to the tables of a folder."""

    name: str
    round: int
    folder: str
    start: datetime
    end: datetime
    floor_start: datetime
    """Where the window of the floor begins that is run beside it."""


def steps(days: int, repeat: int) -> list[Step]:
    """First runs over `days` days, each into tables of its own; further ones go on from the last.

    Where nothing is new there is no least job either: beside it is the floor of one day.
    """
    first = [Step(FIRST, n, str(n), at(0), at(days), at(0)) for n in range(1, repeat + 1)]
    standard = [
        Step(STANDARD, n, str(repeat), at(days + n - 1), at(days + n), at(days + n - 1))
        for n in range(1, repeat + 1)
    ]
    end = at(days + repeat)
    nothing = [
        Step(NOTHING, n, str(repeat), end, end, at(days + repeat - 1)) for n in range(1, repeat + 1)
    ]
    return [*first, *standard, *nothing]


def at(days: int) -> datetime:
    """Midnight so many days after the first event."""
    return datetime.combine(START, datetime.min.time(), UTC) + timedelta(days=days)
