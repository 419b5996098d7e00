"""How old events and models are: in sentences, and for programs."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from rich.text import Text

from windrow.operations.freshness import ENOUGH_DAYS, Flow, Freshness, Pauses
from windrow.report import words

_MOST_NAMED = 5
_WARNING = "yellow"


def freshness_sentences(found: Freshness) -> Iterator[Text]:
    """How old the newest event is, and what is wrong with that, or with the models."""
    if found.newest_event is None:
        yield Text("Newest event: none was found that the next run could take in.", _WARNING)
        return
    age = words.span(found.age(found.newest_event))
    yield Text(f"Newest event: {words.instant(found.newest_event)}, {age} ago.")
    if pause := pause_sentence(found):
        yield Text(pause, "" if found.flow is Flow.QUIET else _WARNING)
    if behind := behind_sentence(found):
        yield Text(behind, _WARNING)


def pause_sentence(found: Freshness) -> str | None:
    """That no event has come for long, and whether that is usual; None while events come."""
    if found.newest_event is None or found.flow is Flow.FLOWING:
        return None
    age = words.span(found.age(found.newest_event))
    if found.flow is Flow.QUIET:
        return f"No event for {age}, and {_usual(found.pauses)}: it looks like a quiet time."
    return f"Stale: no event for {age}, {_more_than(found)}; {_verdict(found)}"


def _more_than(found: Freshness) -> str:
    return f"more than stale_after_hours ({found.stale_after // timedelta(hours=1)}) allows"


def _verdict(found: Freshness) -> str:
    if found.flow is Flow.STOPPED:
        return (
            f"{_usual(found.pauses)}. It looks as if the tracker, or what loads its events, has "
            "stopped."
        )
    return f"whether that is usual cannot be told without sessions of {ENOUGH_DAYS} days before it."


def _usual(pauses: Pauses | None) -> str:
    """What the days before had at this time of day."""
    assert pauses is not None
    longest, days = words.span(pauses.longest), words.count(pauses.days, "day")
    if not pauses.as_long:
        return f"at this time of day, on the {days} before, the newest was at most {longest} old"
    return (
        f"at this time of day, on {pauses.as_long} of the {days} before, the newest was as old or "
        f"older, up to {longest}"
    )


def behind_sentence(found: Freshness) -> str | None:
    """Which models leave events waiting for too long; None if there are none."""
    if not found.behind:
        return None
    number, more = len(found.behind), len(found.behind) - _MOST_NAMED
    names = ", ".join(found.behind[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
    have = words.count(number, "model has", "models have")
    known = [found.positions[name] for name in found.behind if name in found.positions]
    where = f" The furthest back stands at {words.instant(min(known))}." if known else ""
    return (
        f"Stale: {have} not taken in events of {_more_than(found).removesuffix(' allows')} ago: "
        f"{names}.{where} windrow has not run since, has more to catch up with, or its runs fail."
    )


def freshness_document(found: Freshness | None) -> dict[str, Any] | None:
    """The same for programs."""
    if found is None:
        return None
    newest, pauses = found.newest_event, found.pauses
    return {
        "is_stale": found.is_stale,
        "stale_after_hours": found.stale_after // timedelta(hours=1),
        "flow": found.flow.value,
        "newest_event_age_seconds": None if newest is None else _seconds(found.age(newest)),
        "model_age_seconds": {
            name: _seconds(found.age(at)) for name, at in sorted(found.positions.items())
        },
        "behind": list(found.behind),
        "pauses": None
        if pauses is None
        else {
            "days": pauses.days,
            "days_as_long": pauses.as_long,
            "longest_seconds": _seconds(pauses.longest),
        },
    }


def _seconds(length: timedelta) -> float:
    return round(length.total_seconds(), 3)
