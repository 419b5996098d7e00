"""Who is in quarantine, who was put in or taken out, as people and programs read it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.text import Text

from windrow.operations.quarantine import Added, Quarantine, QuarantinedSession, Released
from windrow.report import words
from windrow.report.documents import Document, moment, run_document
from windrow.report.text import indent, plain_table, title

_COLUMNS = ("session", "why", "since", "by run", "began", "lasted")
_ANY = 10_000
"""Columns of a screen on which everything has room."""
_REASONS = {
    "max_session_days": "lasted max_session_days",
    "hook": "hook quarantine_sessions",
    "by_hand": "put in by hand",
}


def quarantines_text(listed: Iterable[Quarantine]) -> RenderableType:
    """Who is in quarantine, by package."""
    return Group(*(_quarantine(it) for it in listed))


def _quarantine(it: Quarantine) -> RenderableType:
    heading = Text(title(it.package, it.target), "bold")
    if not it.sessions:
        return Group(heading, *indent(["No session is in quarantine."]))
    parts: list[RenderableType] = [heading, _Sessions(it.sessions)]
    if it.total > len(it.sessions):
        shown = f"{len(it.sessions):,} of {words.count(it.total, 'session')}"
        parts += indent([f"These are {shown}, the newest first; --limit shows more."])
    return Group(*parts)


@dataclass(frozen=True)
class _Sessions:
    """A table where it has room; else lines, as an id that is broken cannot be copied."""

    sessions: Sequence[QuarantinedSession]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        table = plain_table(*_COLUMNS)
        for session in self.sessions:
            table.add_row(*_cells(session))
        indented = Padding(table, (0, 0, 0, 2), expand=False)
        if Measurement.get(console, options.update(width=_ANY), indented).maximum <= console.width:
            yield indented
            return
        for it in self.sessions:
            id, why, since, run_id, began, lasted = _cells(it)
            yield Text(f"  {id}", no_wrap=True, overflow="ignore")
            whose = f"by run {run_id}; began {began}, lasted {lasted}"
            for line in (f"{why}; since {since}", whose):
                yield Padding(Text(line), (0, 0, 0, 4))


def _cells(it: QuarantinedSession) -> Iterator[str]:
    yield it.session
    yield "unknown" if it.reason is None else _REASONS.get(it.reason, it.reason)
    yield "unknown" if it.since is None else words.instant(it.since)
    yield it.run_id or "unknown"
    yield "unknown" if it.start is None else words.instant(it.start)
    yield "unknown" if it.start is None or it.end is None else _lasted(it.end - it.start)


def _lasted(time: timedelta) -> str:
    """`3 days`, `2 days 4 h`, `12 min 5 s`."""
    hours = int(time.total_seconds()) // 3600
    if hours < 1:
        return words.duration(time.total_seconds())
    days, rest = divmod(hours, 24)
    parts = (words.count(days, "day") if days else "", f"{rest} h" if rest else "")
    return " ".join(filter(None, parts))


def quarantines_document(listed: Sequence[Quarantine]) -> Document:
    """What `windrow quarantine ls --json` prints."""
    return {
        "packages": [
            {
                "package": it.package,
                "target": it.target,
                "total": it.total,
                "sessions": [
                    {
                        "session_id": session.session,
                        "reason": session.reason,
                        "since": moment(session.since),
                        "run_id": session.run_id,
                        "start_tstamp": moment(session.start),
                        "end_tstamp": moment(session.end),
                    }
                    for session in it.sessions
                ],
            }
            for it in listed
        ]
    }


def added_text(it: Added) -> RenderableType:
    """Who was put into quarantine."""
    sentences = []
    if it.added:
        sentences.append(f"Put into quarantine: {', '.join(it.added)}.")
        sentences.append(
            "Later events of theirs are left out, once their end lies behind the look-back of a "
            "run. Rows that they have in the tables stay."
        )
    if it.there_before:
        sentences.append(f"Was there before: {', '.join(it.there_before)}.")
    return Group(Text(title(it.package, it.target), "bold"), *indent(sentences))


def added_document(it: Added) -> Document:
    """What `windrow quarantine add --json` prints."""
    return {
        "package": it.package,
        "target": it.target,
        "run_id": it.run_id,
        "added": list(it.added),
        "there_before": list(it.there_before),
    }


def released_text(it: Released) -> RenderableType:
    """Who was taken out of quarantine, and what came of it."""
    return Group(Text(title(it.package, it.target), "bold"), *indent(_released(it)))


def _released(it: Released) -> Iterator[str]:
    for run in it.runs:
        events = words.count((run.counts or {}).get("events", 0), "event")
        session = ", ".join(run.plan.only)
        yield f"Released {session}, and processed it again, whole: {events} (run {run.run_id})."
        if run.has_failed:
            failed = [outcome.name for outcome in run.models if outcome.outcome != "succeeded"]
            yield f"Not all models came through: {', '.join(failed)}. `windrow run` goes on."
    if it.again:
        yield (
            f"Quarantined again, as they go on for longer than max_session_days: "
            f"{', '.join(it.again)}. Events up to there are in the tables."
        )
    if it.unknown:
        yield (
            f"Released {', '.join(it.unknown)}, of which no run has taken in an event: the next "
            "run does, of events within its look-back; `windrow rerun --from` reaches further."
        )


def released_document(it: Released) -> Document:
    """What `windrow quarantine release --json` prints."""
    return {
        "package": it.package,
        "target": it.target,
        "released": list(it.released),
        "quarantined_again": list(it.again),
        "unknown": list(it.unknown),
        "runs": [run_document(run) for run in it.runs],
    }
