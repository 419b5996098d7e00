"""What a package stands on: which events it takes, and whose sessions and users they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, StringType

from windrow.atomic.source import Reshaped
from windrow.columns.expressions import columns_in
from windrow.columns.rules import column
from windrow.columns.timestamps import literal, plus_days
from windrow.config import ATOMIC, IdentifierSource, PackageSettings, flat
from windrow.tables import Columns

SESSION_ID = "session_id"
USER_ID = "session_user"
"""What the engine calls a session's id and its user's, whatever the package's tables call them."""
EARLIEST_TIME = datetime(1990, 1, 1, tzinfo=UTC)
DAYS_AHEAD = 3
"""An event that happened before the former, or so long after it was collected, has an absurd time.

Measured against the event itself and not the clock, so that it is the same in every run.
"""


@dataclass(frozen=True)
class Identifier:
    """How an id is found in an event: a SQL expression, or the first known of several places."""

    sources: tuple[IdentifierSource, ...]
    sql: str | None = None

    @property
    def reads(self) -> tuple[str, ...]:
        """The event columns it is found in."""
        if self.sql is None:
            return tuple(source.column for source in self.sources)
        return tuple(columns_in(self.sql))

    def is_just(self, name: str) -> bool:
        """True when it is simply that column."""
        return self.sql is None and self.sources == (flat(name),)

    def of(self, events: DataFrame) -> Column:
        """The id as a column of these events."""
        if self.sql is not None:
            return F.expr(self.sql).cast("string")
        return F.coalesce(*(_value(events, source) for source in self.sources))


def _value(events: DataFrame, source: IdentifierSource) -> Column:
    if source.table == ATOMIC:
        return F.col(source.field).cast("string")
    kind = events.schema[source.table].dataType
    if isinstance(kind, StringType):
        return F.get_json_object(source.table, f"$[0].{source.field}")
    entity = F.col(source.table)
    first = F.get(entity, F.lit(0)) if isinstance(kind, ArrayType) else entity
    return first.getField(source.field).cast("string")


@dataclass(frozen=True)
class Foundation:
    """A package's base: its identifiers, its filters, and what every event of it carries."""

    session: str = "domain_sessionid"
    """The column that says an event's session, in events and in derived tables."""
    user: str = "domain_userid"
    """The column that says whose session it is."""
    session_from: Identifier = Identifier((flat("domain_sessionid"),))
    user_from: Identifier = Identifier((flat("domain_userid"),))
    recorded_session: str = "session_id"
    recorded_user: str = "domain_userid"
    """What the manifests call the two."""
    view: str | None = None
    """The column that says to which page or screen view an event belongs; None: there is none."""
    has_sessions: bool = True
    """False: a run takes in the window's events and nothing else."""
    has_quarantine: bool = True
    quarantine_table: str | None = None
    """The quarantine's own name, where it is not the package's usual one."""
    has_one_user_per_session: bool = True
    """True: every event of a session gets the session's user. False: each keeps its own."""
    begins_at_recorded_start: bool = False
    """True: `compat` leaves out events from before the start that the lifecycle has."""
    keeps_originals: bool = False
    """True: the event's own session and user stay, as `original_<column>`."""
    platforms: tuple[str, ...] = ()
    """Platforms whose events are taken; empty means all."""
    reads: tuple[str, ...] = ()
    """Event columns that `adds` and `keeps` need."""
    may_lack: tuple[str, ...] = ()
    """Those of them that are null when the events table has no such column."""
    adds: Callable[[], dict[str, Column]] = lambda: {}
    """Columns that every event of a run gets."""
    adds_in_session: Callable[[], dict[str, Column]] = lambda: {}
    """Columns that look at a session's other events too; only models that use them pay for it."""
    reshapes: Callable[[DataFrame], Reshaped] | None = None
    """Makes columns of the stored events; None: entities get the shapes that windrow knows."""
    keeps: Callable[[], Column] | None = None
    """Of the events of a run's sessions, those that models see; None means all.

    Over standard columns, so that the source can leave the others unread.
    """
    counts: Callable[[], dict[str, Column]] = lambda: {}
    """What to count among the events of a run, for its result."""

    def with_own_identifiers(self, settings: PackageSettings) -> Foundation:
        """The base with the identifiers that the project configures in place of the package's."""
        return replace(
            self,
            session_from=_configured(
                self.session_from, settings.session_identifiers, settings.session_sql
            ),
            user_from=_configured(self.user_from, settings.user_identifiers, settings.user_sql),
        )

    @property
    def made(self) -> frozenset[str]:
        """The columns that events get here and do not come with."""
        originals = (self.session, self.user) if self.keeps_originals else ()
        return frozenset(
            (*self.adds(), *self.adds_in_session(), *(f"original_{name}" for name in originals))
        )

    def columns(self, settings: PackageSettings) -> tuple[str, ...]:
        """The event columns that finding sessions and their events needs."""
        sessions = (
            (*self.session_from.reads, *self.user_from.reads, "derived_tstamp")
            if self.has_sessions
            else ("collector_tstamp",)
        )
        names = (
            *("event_id", "etl_tstamp", settings.session_timestamp),
            *sessions,
            *(("dvce_created_tstamp", "dvce_sent_tstamp") if settings.has_late_limit else ()),
            *(("app_id",) if settings.app_id else ()),
            *(("platform",) if self.platforms else ()),
        )
        return tuple(dict.fromkeys(names))

    def identified(self, events: DataFrame) -> DataFrame:
        """The events with the session and user columns that the package gives them."""
        if not self.has_sessions:
            return events
        found = {
            name: source.of(events)
            for name, source in ((self.session, self.session_from), (self.user, self.user_from))
            if not source.is_just(name)
        }
        kept = {
            f"original_{name}": F.col(name)
            for name in (self.session, self.user)
            if self.keeps_originals and name in events.columns
        }
        return events.alias("e").withColumns(found | kept) if found or kept else events

    def filters(self, settings: PackageSettings) -> dict[str, Column]:
        """The standard event filter: the reason to leave events out -> true for those that stay.

        In a session, at a time that can be, sent in time, and of a wanted app and platform. What is
        not known to be true is left out too.
        """
        in_session = {"without_session": F.col(self.session).isNotNull()}
        of_platform = {"other_platform": F.col("platform").isin(*self.platforms)}
        return {
            **(in_session if self.has_sessions else {}),
            "absurd_time": self.has_possible_times(settings),
            "too_late": is_on_time(settings),
            "other_app": is_of_app(settings),
            **(of_platform if self.platforms else {}),
        }

    def is_usable(self, settings: PackageSettings) -> Column:
        """True for events that pass every filter."""
        return reduce(Column.__and__, self.filters(settings).values())

    def left_out(self, settings: PackageSettings) -> dict[str, Column]:
        """Reason -> true for events that are left out for it, perhaps among other reasons.

        One without a session is left out for that alone.
        """
        unfit = {
            reason: ~F.coalesce(stays, F.lit(False))
            for reason, stays in self.filters(settings).items()
        }
        without_session = unfit.pop("without_session", None)
        if without_session is None:
            return unfit
        others = {reason: ~without_session & is_so for reason, is_so in unfit.items()}
        return {"without_session": without_session, **others}

    def has_possible_times(self, settings: PackageSettings) -> Column:
        """False for an event whose times are unknown or absurd; the reference takes those too."""
        if settings.compat:
            return F.lit(True)
        collected = F.col(settings.session_timestamp)
        happened = F.col("derived_tstamp" if self.has_sessions else "collector_tstamp")
        earliest = literal(EARLIEST_TIME)
        is_possible = (
            (collected >= earliest)
            & (happened >= earliest)
            & (happened <= plus_days(collected, DAYS_AHEAD))
        )
        return F.coalesce(is_possible, F.lit(False))

    @property
    def lifecycle(self) -> Columns:
        """The columns of the lifecycle manifest."""
        return {
            self.recorded_session: column("string", "Id of the session."),
            self.recorded_user: column(
                "string", "The session's user: that of its earliest event that has one."
            ),
            "start_tstamp": column("timestamp", "Collector time of the session's earliest event."),
            "end_tstamp": column(
                "timestamp",
                "Collector time of its latest event, at most `max_session_days` after the start.",
            ),
            "start_tstamp_date": column("date", "Day of `start_tstamp` in UTC."),
        }

    @property
    def quarantine(self) -> Columns:
        """The columns of the quarantine."""
        return {
            self.recorded_session: column(
                "string",
                "Id of a session that takes in no more events, as it lasted `max_session_days` or "
                "the hook `quarantine_sessions` says so.",
            )
        }

    def as_recorded(self, rows: DataFrame) -> DataFrame:
        """Sessions under the names that the package's manifests use."""
        return rows.withColumnsRenamed(
            {SESSION_ID: self.recorded_session, USER_ID: self.recorded_user}
        )

    def from_record(self, rows: DataFrame) -> DataFrame:
        """Rows of the manifests under the engine's own names."""
        return rows.withColumnsRenamed(
            {self.recorded_session: SESSION_ID, self.recorded_user: USER_ID}
        )


def _configured(
    default: Identifier, sources: tuple[IdentifierSource, ...], sql: str | None
) -> Identifier:
    if sql is not None:
        return Identifier(sources, sql)
    return Identifier(sources) if sources else default


def is_on_time(settings: PackageSettings) -> Column:
    """False for an event sent too long after it was made.

    Server-side events carry no device times: their delay is unknown, which is not late. The
    reference drops them.
    """
    if not settings.has_late_limit:
        return F.lit(True)
    delay_limit = F.make_dt_interval(F.lit(settings.days_late_allowed))
    on_time = F.col("dvce_sent_tstamp") <= F.col("dvce_created_tstamp") + delay_limit
    return on_time if settings.compat else F.coalesce(on_time, F.lit(True))


def is_of_app(settings: PackageSettings) -> Column:
    """True for events of the configured applications, or of any when none is configured."""
    return F.col("app_id").isin(*settings.app_id) if settings.app_id else F.lit(True)
