"""Numbers and times as people read them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

_UNITS = ("bytes", "kB", "MB", "GB", "TB", "PB")


def instant(moment: datetime) -> str:
    """`2024-03-05 18:00:00`, in UTC like every time windrow shows."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S}"


def minute(moment: datetime) -> str:
    """`2024-03-05 18:00`, where seconds say no more."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M}"


def span(length: timedelta) -> str:
    """`40 s`, `12 min`, `3 h 20 min`, `2 days 4 h`: the two units that matter."""
    seconds = round(abs(length.total_seconds()))
    if seconds < 60:
        return f"{seconds} s"
    minutes = seconds // 60
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 24:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    days, hours = divmod(hours, 24)
    return count(days, "day") + (f" {hours} h" if hours and days < 30 else "")


def duration(seconds: float) -> str:
    """`0.4 s`, `12.3 s`, `2 min 5 s`."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s"


def count(number: int, noun: str, plural: str | None = None) -> str:
    """`1 session`, `2,010 sessions`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def rate(number: int, seconds: float) -> str:
    """`, 1,530/s`, to follow a number; nothing where the time is too short to tell."""
    return f", {number / seconds:,.0f}/s" if number and seconds >= 0.1 else ""


def size(number: int) -> str:
    """`512 bytes`, `1.2 MB`."""
    amount, unit = float(number), 0
    while amount >= 1000 and unit < len(_UNITS) - 1:
        amount, unit = amount / 1000, unit + 1
    return f"{amount:.1f} {_UNITS[unit]}" if unit else f"{number} {_UNITS[0]}"


def share(part: int, whole: int) -> str:
    """`63 %`; a dash where there is nothing to share."""
    return f"{100 * part / whole:.0f} %" if whole else "-"


def percent(part: int, whole: int) -> str:
    """`12 %`, `0.4 %`, `under 0.1 %`: a share that may be small."""
    found = 100 * part / whole if whole else 0.0
    if 0 < found < 0.1:
        return "under 0.1 %"
    return f"{found:.1f} %" if 0 < found < 10 else f"{found:.0f} %"


def join_words(words: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))
