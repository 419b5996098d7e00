"""What is asked of explain, and what it found out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from typing import Any

from windrow.state.runs import RunRecord


class Kind(StrEnum):
    """What an id is the id of."""

    SESSION = "session"
    EVENT = "event"
    USER = "user"
    PAGE_VIEW = "page-view"

    @property
    def noun(self) -> str:
        """`Page view`, as a sentence begins."""
        return self.value.replace("-", " ").capitalize()


class Fate(StrEnum):
    """What became of what was asked for."""

    IN_TABLES = "in_tables"
    """Rows of it, or of the session that it is in, are in the derived tables."""
    LEFT_OUT = "left_out"
    """A rule leaves it out."""
    WAITING = "waiting"
    """The next runs take it in."""
    MISSED = "missed"
    """It came after the runs that took its time in."""
    WITHOUT_ROW = "without_row"
    """It was taken in, and no rule that we know of says why no table has a row."""
    NOT_FOUND = "not_found"
    """Neither among the events that were looked at nor in the tables."""
    NO_RUN = "no_run"
    """Nothing was processed yet."""


@dataclass(frozen=True)
class Stretch:
    """The closed stretch of collector time in which the events were looked at."""

    first: datetime
    last: datetime
    because: str
    """Why there."""


@dataclass(frozen=True)
class QuarantineNote:
    """Why a session is in quarantine, since when, and by which run."""

    reason: str
    since: datetime
    run_id: str


@dataclass(frozen=True)
class SessionFacts:
    """What is known of one session: by the events that were found, and by what is remembered."""

    session: str | None
    """None: the events have no session."""
    user: str | None = None
    events: int = 0
    """Events that were found, copies among them."""
    copies: int = 0
    """Of them, further copies of others in the same session."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Reason -> of them, how many are left out for it; one event may have several reasons."""
    first_copies_in: tuple[str, ...] = ()
    """The sessions that have the first copies of those that are left out as copies."""
    taken: int = 0
    """Of them, those that no reason leaves out."""
    begins_row: bool = False
    """Whether one of these gives the session a row in the sessions table."""
    first_collected: datetime | None = None
    last_collected: datetime | None = None
    first_loaded: datetime | None = None
    last_loaded: datetime | None = None
    """None: the events do not say."""
    arriving: int = 0
    """Of those taken, how many were loaded since the last run, as far as the source can tell."""
    days: tuple[date, ...] = ()
    """The days on which they happened."""
    start: datetime | None = None
    end: datetime | None = None
    """The session's life in the lifecycle manifest; None: it is not there."""
    is_at_cap: bool = False
    is_quarantined: bool = False
    quarantine: QuarantineNote | None = None
    """None: it is not in quarantine, or nobody noted why."""

    @property
    def is_known(self) -> bool:
        """Whether the lifecycle manifest has it."""
        return self.start is not None


@dataclass(frozen=True)
class RowChange:
    """What a run did to a table's rows of the id."""

    run_id: str
    added: int = 0
    removed: int = 0
    changed: int = 0
    columns: tuple[str, ...] = ()
    """Those in which rows changed; when a row was made is none of them."""


@dataclass(frozen=True)
class TableRows:
    """What a table has of the id."""

    table: str
    column: str
    """The column that was looked at."""
    value: str
    rows: int
    samples: tuple[Mapping[str, Any], ...] = ()
    """Date and key of the first of the rows, and of the last if there are several."""
    written_by: str | None = None
    """The last run that took the events in and wrote to the day of the last row."""
    changes: tuple[RowChange, ...] | None = ()
    """What the newest of the runs did, newest first; None: older versions of the table are gone."""


@dataclass(frozen=True)
class Verdict:
    """What became of it, in a sentence."""

    fate: Fate
    sentence: str


@dataclass(frozen=True)
class Explanation:
    """What one package knows of an id."""

    kind: Kind
    id: str
    package: str
    target: str
    consumed: datetime | None
    """Up to where every model that was meant has come; None: one of them has not begun."""
    furthest: datetime | None
    """Up to where the first of them has come; None: nothing was processed yet."""
    row_per: str = ""
    """What the sessions table has rows of; empty: there is no such table."""
    looked_at: Stretch | None = None
    """None: no event was looked at."""
    new_by: str = "collector"
    """What makes events new to the next run: `events.new_by`."""
    sessions: tuple[SessionFacts, ...] = ()
    has_more_sessions: bool = False
    """Whether only the newest sessions are told of."""
    runs: tuple[RunRecord, ...] = ()
    """The runs whose windows meet these events or sessions, newest first."""
    tables: tuple[TableRows, ...] = ()
    reasons: Mapping[str, str] = field(default_factory=dict)
    """Why events of these sessions are left out -> the same in words."""
    verdict: Verdict = Verdict(Fate.NOT_FOUND, "")
