"""From a run's limits to its sessions and its events: the base that every model stands on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime

from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as F

from windrow import lifecycle, this_run
from windrow.columns.timestamps import from_micros, literal, micros
from windrow.days import DayRange, day_ranges
from windrow.events import Source, is_of_app, is_on_time
from windrow.frames import settled
from windrow.limits import Limits, State
from windrow.plan import is_usable
from windrow.upsert import upsert
from windrow.workspace import Workspace

_NEVER = (datetime(9999, 1, 2, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC))
"""A window that ends before it begins: no session means no event, and no file is read."""


@dataclass(frozen=True)
class Sessions:
    """The sessions of a run, and what the look for them found."""

    this_run: DataFrame
    """session_id, domain_userid, start_tstamp, end_tstamp of every session of the run."""
    continued: DataFrame
    """New lifecycle rows of the sessions that have events in the window."""
    first: datetime | None
    last: datetime | None
    """The first start and the last end; None when the window touches no session."""
    reached: datetime | None
    """The greatest collector time of a usable event in the window."""
    started_on: tuple[date, ...]
    """The days on which the continued sessions began."""
    counts: dict[str, int]


@dataclass(frozen=True)
class Intake:
    """This run's sessions and events, and what was found out on the way."""

    sessions: DataFrame
    """As `Sessions.this_run`, with the user ids that the events carry."""
    continued: DataFrame
    """As `Sessions.continued`."""
    users: DataFrame
    """domain_userid of everyone who has one of these sessions, or had it until now."""
    events: DataFrame
    reached: datetime | None
    """The greatest collector time that was consumed."""
    days: tuple[date, ...]
    """The days on which rows of these sessions can lie, by the time of their events."""
    started_on: tuple[date, ...]
    """As `Sessions.started_on`: where the lifecycle rows of the run lie."""
    counts: dict[str, int]
    cached: DataFrame

    def days_around(self, *, before: int, after: int) -> tuple[DayRange, ...]:
        """The run's days, each with so many before and after it."""
        return day_ranges(self.days, before=before, after=after)

    def release(self) -> None:
        """Let go of what was kept in memory."""
        self.cached.unpersist()


def take_in(
    ws: Workspace, source: Source, limits: Limits, event_columns: Iterable[str] | None
) -> Intake:
    """Find the sessions that the window touches, and gather their events."""
    sessions = _find_sessions(ws, source, limits)
    return _gather_events(ws, source, sessions, event_columns)


def _find_sessions(ws: Workspace, source: Source, limits: Limits) -> Sessions:
    settings = ws.settings
    known = ws.tables.read(ws.lifecycle)
    is_replay = _is_replay(known, limits)
    read, taken = Observation(), Observation()
    if is_replay:
        new = known.limit(0).drop("start_tstamp_date")
    else:
        usable = _usable_events(ws, source, limits, read).observe(
            taken, micros(F.max("tstamp")).alias("reached")
        )
        new = lifecycle.sessions_with_new_events(usable, settings)

    earlier = lifecycle.earlier_rows(known, limits, settings)
    continued = settled(lifecycle.continued(new, earlier, settings))
    this_runs = settled(lifecycle.sessions_this_run(continued, known, limits, settings))
    begun = continued.agg(F.count(F.lit(1)), F.collect_set("start_tstamp_date")).collect()[0]
    counts = {"sessions_with_new_events": begun[0]}
    lives = this_runs.agg(
        F.count(F.lit(1)), micros(F.min("start_tstamp")), micros(F.max("end_tstamp"))
    ).collect()[0]
    counts["sessions"] = lives[0]
    if not is_replay:
        counts |= {f"window_{name}": value for name, value in read.get.items()}
    return Sessions(
        this_run=this_runs,
        continued=continued,
        first=from_micros(lives[1]),
        last=from_micros(lives[2]),
        reached=None if is_replay else from_micros(taken.get["reached"]),
        started_on=tuple(begun[1]),
        counts=counts,
    )


def _usable_events(ws: Workspace, source: Source, limits: Limits, read: Observation) -> DataFrame:
    """The window's usable events of sessions that are not quarantined; the others are counted."""
    settings = ws.settings
    window = source.between(
        lifecycle.window_floor(limits, settings),
        limits.upper,
        [*this_run.BASE_COLUMNS, settings.session_timestamp],
    )
    in_session = F.col("domain_sessionid").isNotNull()
    counted = window.observe(
        read,
        F.count(F.lit(1)).alias("events"),
        F.count_if(~in_session).alias("without_session"),
        F.count_if(in_session & ~F.coalesce(is_on_time(settings), F.lit(False))).alias("too_late"),
        F.count_if(in_session & ~F.coalesce(is_of_app(settings), F.lit(False))).alias("other_app"),
    )
    quarantined = ws.tables.read(ws.quarantine)
    return (
        counted.where(is_usable(settings))
        .select(
            F.col("domain_sessionid").alias("session_id"),
            "domain_userid",
            "event_id",
            F.col(settings.session_timestamp).alias("tstamp"),
        )
        .join(quarantined, "session_id", how="left_anti")
    )


def _is_replay(known: DataFrame, limits: Limits) -> bool:
    """True when sessions beyond the window are known: all of the window was seen before."""
    later = (F.col("start_tstamp_date") >= F.lit(limits.upper.date())) & (
        F.col("start_tstamp") >= literal(limits.upper)
    )
    return not known.where(later).limit(1).isEmpty()


def _gather_events(
    ws: Workspace, source: Source, sessions: Sessions, event_columns: Iterable[str] | None
) -> Intake:
    """Every usable event of the sessions, each once, with one user id per session."""
    settings, time = ws.settings, ws.settings.session_timestamp
    wanted = _event_columns(ws, source, event_columns)
    first, last = sessions.first or _NEVER[0], sessions.last or _NEVER[1]
    malformed = Observation()
    scanned = source.between(first, last, wanted, malformed=malformed).withColumn(
        "page_view_id", this_run.page_view_id()
    )
    found = this_run.events_of_sessions(scanned, sessions.this_run, settings)
    once = this_run.first_copy_in_session(found, settings)
    events = this_run.with_session_user(once, settings).persist()
    totals = events.agg(
        F.count(F.lit(1)).alias("events"),
        F.sum("copies").alias("copies"),
        F.count_distinct("event_id").alias("ids"),
        micros(F.max(time)).alias("reached"),
        F.collect_set(F.to_date("derived_tstamp")).alias("days"),
    ).collect()[0]
    unique = events.drop("copies")
    counts = dict(sessions.counts)
    counts["events"] = totals["ids"]
    counts["duplicates"] = (totals["copies"] or 0) - totals["ids"]
    if set(wanted) & set(source.malformed):
        counts["malformed_entities"] = sum(malformed.get.values())
    if totals["ids"] < totals["events"]:
        repeated = this_run.copies_in_other_sessions(events, settings)
        unique = unique.join(repeated, ["event_id", "domain_sessionid"], how="left_anti")

    with_users = settled(_with_users(sessions.this_run, unique))
    # The lifecycle still says whose the sessions were when they were last processed.
    users = with_users.select("domain_userid").union(sessions.this_run.select("domain_userid"))
    reached = from_micros(totals["reached"])
    if not settings.compat:
        # Events of sessions past their cap are consumed too, though they lead to no row.
        reached = max(filter(None, (reached, sessions.reached)), default=None)
    return Intake(
        sessions=with_users,
        continued=sessions.continued,
        users=settled(users.where(F.col("domain_userid").isNotNull()).distinct()),
        events=unique,
        reached=reached,
        days=tuple({*totals["days"], *_days_of_moved(sessions.continued)}),
        started_on=sessions.started_on,
        counts=counts,
        cached=events,
    )


def _event_columns(ws: Workspace, source: Source, asked: Iterable[str] | None) -> list[str]:
    """What must be read of each event: no column that no model asks for."""
    base = (*this_run.BASE_COLUMNS, ws.settings.session_timestamp, *ws.package.reads)
    wanted = source.adapted if asked is None else asked
    return list(dict.fromkeys((*base, *(name for name in wanted if name != "page_view_id"))))


def _with_users(sessions: DataFrame, events: DataFrame) -> DataFrame:
    """The sessions with the user id that their events carry."""
    users = events.groupBy(F.col("domain_sessionid").alias("session_id")).agg(
        F.max("domain_userid").alias("user_of_events")
    )
    return sessions.join(users, "session_id", how="left").select(
        "session_id",
        F.coalesce("user_of_events", "domain_userid").alias("domain_userid"),
        "start_tstamp",
        "end_tstamp",
    )


def _days_of_moved(continued: DataFrame) -> list[date]:
    """Days of the life that sessions had before a late event moved their start.

    The cap moves with the start, and rows stored under the old one may lie on days that no event
    of this run has.
    """
    moved = continued.where(F.col("start_tstamp") < F.col("stored_start"))
    days = moved.select(
        F.explode(F.sequence(F.to_date("stored_start"), F.to_date("stored_end"))).alias("day")
    )
    return [row["day"] for row in days.distinct().collect()]


def record_sessions(ws: Workspace, intake: Intake) -> None:
    """Bring the sessions into the lifecycle manifest, and the over-long ones into quarantine."""
    continued = intake.continued
    users = intake.sessions.select("session_id", F.col("domain_userid").alias("user_of_events"))
    rows = settled(
        continued.join(users, "session_id", how="left")
        .withColumn("domain_userid", F.coalesce("user_of_events", "domain_userid"))
        .select(*lifecycle.LIFECYCLE)
    )
    if intake.counts["sessions_with_new_events"]:
        stored_on = continued.select(F.to_date("stored_start").alias("day")).distinct().collect()
        search = day_ranges(row["day"] for row in stored_on if row["day"] is not None)
        upsert(ws.tables, ws.lifecycle_destination, rows, search=search)

    is_over_long = ws.hooks.column("quarantine_sessions", lifecycle.is_over_long(ws.settings))
    judged = intake.sessions
    if not ws.settings.compat:
        # Also sessions too old to be part of the run, which the reference forgets to judge.
        judged = judged.unionByName(rows.select(*judged.columns))
    over_long = judged.where(is_over_long).select("session_id").distinct()
    known = ws.tables.read(ws.quarantine)
    added = settled(over_long.join(known, "session_id", how="left_anti"))
    intake.counts["quarantined"] = added.count()
    if intake.counts["quarantined"]:
        ws.tables.append(ws.quarantine, added)


def reached_by(intake: Intake, limits: Limits, *, compat: bool) -> datetime | None:
    """How far the models that succeeded have come.

    A catch-up whose window ended where the leading models stand ends the catching up, even when
    the newest event is no longer selected; the reference would go on for ever.
    """
    is_catching_up = limits.state in (State.NEW_MODEL, State.OUT_OF_SYNC)
    if is_catching_up and limits.upper == limits.ceiling and not compat:
        return limits.upper
    return intake.reached
