"""What was found out about an id, in one plain sentence. No Spark: facts in, a sentence out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta

from windrow.config import PackageSettings
from windrow.operations.explain.values import (
    Explanation,
    Fate,
    Kind,
    QuarantineNote,
    SessionFacts,
    Verdict,
)

_OTHER_DAYS = "give --from and --to to look at other days"


_REASONS = {
    "without_session": ("without a session id", "it has no session id"),
    "absurd_time": ("at an unknown or absurd time", "its time is unknown or absurd"),
    "too_late": (
        "sent more than {late} after they were made (days_late_allowed)",
        "it was sent more than {late} after it was made (days_late_allowed)",
    ),
    "other_app": ("of other applications (app_id)", "it is of another application (app_id)"),
    "other_platform": ("of other platforms (platform)", "it is of another platform (platform)"),
    "not_kept": (
        "of kinds that the package does not look at",
        "it is of a kind that the package does not look at",
    ),
    "bot": (
        "whose user agent is a bot's (ua_bot_filter)",
        "its user agent is a bot's (ua_bot_filter)",
    ),
    "past_cap": (
        "more than {cap} after the session began (max_session_days)",
        "it came more than {cap} after its session began (max_session_days)",
    ),
    "copy_elsewhere": (
        "whose first copy is in {first}",
        "it is a copy of the same event in {first}, which came first",
    ),
}
"""Why events are left out: of several, and of a single one."""

_WHY_QUARANTINED = {
    "max_session_days": "it lasted max_session_days",
    "hook": "the hook quarantine_sessions says so",
    "by_hand": "someone put it in by hand",
}


def reason_in_words(
    reason: str,
    settings: PackageSettings,
    sessions: Sequence[SessionFacts] = (),
    *,
    of_one: bool = False,
) -> str:
    """Why events of these sessions are left out, as a part of a sentence, with what decides it."""
    words = _REASONS.get(reason, (reason, reason))[int(of_one)]
    late, cap = (
        _count(number, "day") for number in (settings.days_late_allowed, settings.max_session_days)
    )
    return words.format(late=late, cap=cap, first=_first_copies(sessions))


def _first_copies(sessions: Sequence[SessionFacts]) -> str:
    """Where the copies of these sessions' events are that came first."""
    found = {session for it in sessions for session in it.first_copies_in}
    return f"session {found.pop()}" if len(found) == 1 else "another session"


def quarantine_in_words(note: QuarantineNote | None) -> str:
    """Since when a session is in quarantine, by which run and why; empty: nobody noted it."""
    if note is None:
        return ""
    why = _WHY_QUARANTINED.get(note.reason, note.reason)
    return f" since {_at(note.since)}, by run {note.run_id}, as {why}"


def verdict_on(told: Explanation, settings: PackageSettings) -> Verdict:
    """What became of it, and what to do where something can be done."""
    if told.furthest is None:
        text = f"No run of {told.package} has happened yet: `windrow run` makes the tables."
        return Verdict(Fate.NO_RUN, text)
    if _is_stored(told):
        return Verdict(Fate.IN_TABLES, " ".join(_in_tables(told, settings)))
    if not any(it.events or it.is_known or it.is_quarantined for it in told.sessions):
        return Verdict(Fate.NOT_FOUND, _not_found(told))
    return _not_stored(told, settings)


def _is_stored(told: Explanation) -> bool:
    """Whether a table has rows of the id; or of the session that takes the event in."""
    is_own = any(it.rows for it in told.tables if it.value == told.id)
    if is_own or told.kind is not Kind.EVENT:
        return is_own
    if _missed(told) or not any(it.taken and not _is_past_end(it) for it in told.sessions):
        return False
    return any(it.rows for it in told.tables)


def _is_past_end(it: SessionFacts) -> bool:
    """Whether events came after their session had been quarantined."""
    return bool(it.is_quarantined and it.end and it.last_collected and it.last_collected > it.end)


# --- in the tables ---------------------------------------------------------------------------


def _in_tables(told: Explanation, settings: PackageSettings) -> Iterator[str]:
    own = [it for it in told.tables if it.rows and it.value == told.id]
    names = ", ".join(it.table.rpartition(".")[2] for it in own or told.tables if it.rows)
    if own:
        text = f"{_subject(told)} is in the tables: {names}"
    else:
        text = f"{_subject(told)} counts in its session, which is in {names}"
    if told.runs:
        newest = told.runs[0]
        text += f"; last processed by run {newest.run_id}, {_at(newest.finished_at)}"
    yield f"{text}."
    left_out = _left_out(told)
    if left_out and told.kind is not Kind.EVENT:
        events = _count(sum(it.events for it in told.sessions), "event")
        yield f"Of {events} that were found, these are left out: {_parts(told, settings)}."
    if told.kind is Kind.SESSION and any(it.is_quarantined for it in told.sessions):
        since = _since(told.sessions)
        yield f"It is quarantined{since}: later events of it are left out."
    waiting = _waiting(told)
    if waiting is not None and told.kind is not Kind.EVENT:
        yield f"Events collected after {_at(waiting)} are not consumed yet: the next run does that."
    late = sum(it.arriving for it in told.sessions if _is_committed_since(told, it))
    if late and told.kind is not Kind.EVENT:
        yield f"Loaded since the last run: {_count(late, 'event')}, which the next one takes in."


# --- not in the tables -----------------------------------------------------------------------


def _not_found(told: Explanation) -> str:
    assert told.looked_at is not None
    noun = told.kind.noun.lower()
    where = "no event has this id" if told.kind is Kind.EVENT else f"no event of this {noun}"
    first, last = (f"{at:%Y-%m-%d}" for at in (told.looked_at.first, told.looked_at.last))
    return (
        f"Not found: {where} in the days that were looked at, {first} to {last} "
        f"({told.looked_at.because}); {_OTHER_DAYS}."
    )


def _not_stored(told: Explanation, settings: PackageSettings) -> Verdict:
    sessions = told.sessions
    subject, by = _subject(told), f"by {told.package}"
    events, taken = sum(it.events for it in sessions), sum(it.taken for it in sessions)
    newest = max((it.last_collected for it in sessions if it.last_collected), default=None)
    if events and not taken:
        why = _why(told, settings)
        return Verdict(Fate.LEFT_OUT, f"{subject} is left out {by}: {why}.")
    if newest is not None and newest < _midnight(settings.start_date):
        text = f"{subject} is left out {by}: collected {_at(newest)}, before start_date"
        return Verdict(Fate.LEFT_OUT, f"{text}, {settings.start_date}.")
    if any(it.is_quarantined for it in sessions):
        it = "it" if told.kind is Kind.SESSION else "its session"
        text = f"{subject} is left out {by}: {it} is quarantined{_since(sessions)}"
        return Verdict(Fate.LEFT_OUT, f"{text}, and takes in no more events.")
    if events and (waiting := _waiting(told)) is not None:
        text = f"{subject} waits: collected {_at(newest)}, and models have come to {_at(waiting)}"
        return Verdict(Fate.WAITING, f"{text}. The next runs take it in.")
    if missed := _missed(told):
        return _on_missed(told, missed, settings)
    if not events:
        text = f"{subject} was processed, but there is neither an event nor a row of it on the days"
        return Verdict(Fate.WITHOUT_ROW, f"{text} that were looked at; {_OTHER_DAYS}.")
    if told.row_per and not any(it.begins_row for it in sessions):
        text = f"{subject} was taken in {by}, but none of its events makes a row: the sessions"
        return Verdict(Fate.LEFT_OUT, f"{text} table has {told.row_per}.")
    text = f"{subject} was taken in {by}, but no table that was looked at has a row of it"
    return Verdict(
        Fate.WITHOUT_ROW, f"{text}. `windrow status` tells whether models lag or failed."
    )


def _on_missed(told: Explanation, missed: SessionFacts, settings: PackageSettings) -> Verdict:
    """It is there, and its time is consumed, but no run has seen it."""
    assert missed.first_collected is not None
    assert missed.last_collected is not None
    assert told.furthest is not None
    when = f"collected {_at(missed.last_collected)}"
    if missed.last_loaded is not None:
        when += f", loaded {_at(missed.last_loaded)}"
    hours = settings.lookback_window_hours
    if missed.last_collected >= told.furthest - timedelta(hours=hours):
        text = f"{_subject(told)} waits: {when}, after the last run, and within its look-back"
        return Verdict(Fate.WAITING, f"{text}. The next run takes it in.")
    if missed.arriving:
        text = f"{_subject(told)} waits: {when}, after the last run"
        option = f"events.new_by is {told.new_by}"
        return Verdict(Fate.WAITING, f"{text}. The next run takes it in ({option}).")
    last = missed.last_collected + timedelta(days=1)
    return Verdict(
        Fate.MISSED,
        f"{_subject(told)} was missed by {told.package}: {when}, when runs had consumed that time "
        f"(lookback_window_hours is {hours}). `windrow rerun --from "
        f"{missed.first_collected:%Y-%m-%d} --to {last:%Y-%m-%d}` takes it in.",
    )


def _missed(told: Explanation) -> SessionFacts | None:
    """Usable events whose time is consumed, but that no run has seen.

    Their session is not known, or a single one was loaded after the last run that covers its time
    had begun, or the source says that they were committed since.
    """
    begun = told.runs[0].started_at if told.runs else None
    for it in told.sessions:
        if not it.taken or it.session is None:
            continue
        is_late = begun is not None and it.last_loaded is not None and it.last_loaded > begun
        is_new = (told.kind is Kind.EVENT and is_late) or _is_committed_since(told, it)
        if not it.is_known or is_new:
            return it
    return None


def _is_committed_since(told: Explanation, it: SessionFacts) -> bool:
    """Whether events came after the last run; load times tell that only to half an hour."""
    return told.new_by == "commit" and it.arriving > 0


def _waiting(told: Explanation) -> datetime | None:
    """Up to where models have come, if events were found behind that."""
    until = told.consumed or told.furthest
    newest = [it.last_collected for it in told.sessions if it.taken and it.last_collected]
    return until if until is not None and newest and max(newest) > until else None


# --- words -----------------------------------------------------------------------------------


def _subject(told: Explanation) -> str:
    return f"{told.kind.noun} {told.id}"


def _why(told: Explanation, settings: PackageSettings) -> str:
    reasons = _left_out(told)
    if told.kind is Kind.EVENT:
        words = (reason_in_words(it, settings, told.sessions, of_one=True) for it in reasons)
        return " and ".join(words)
    events = sum(it.events for it in told.sessions)
    if [*reasons.values()] == [events]:
        (reason,) = reasons
        each = f"each of its {_count(events, 'event')}" if events > 1 else "its one event"
        return f"{each} is, because {reason_in_words(reason, settings, told.sessions, of_one=True)}"
    return f"of its {_count(events, 'event')}, {_parts(told, settings)}"


def _parts(told: Explanation, settings: PackageSettings) -> str:
    parts = [
        f"{number:,} {reason_in_words(it, settings, told.sessions)}"
        for it, number in _left_out(told).items()
    ]
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))


def _since(sessions: Sequence[SessionFacts]) -> str:
    notes = [it.quarantine for it in sessions if it.is_quarantined]
    return quarantine_in_words(notes[0]) if len(notes) == 1 else ""


def _left_out(told: Explanation) -> dict[str, int]:
    found: dict[str, int] = {}
    for it in told.sessions:
        for reason, number in it.left_out.items():
            found[reason] = found.get(reason, 0) + number
    return found


def _midnight(day: date) -> datetime:
    return datetime.combine(day, datetime.min.time(), UTC)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def _at(moment: datetime | None) -> str:
    return "" if moment is None else f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S}"
