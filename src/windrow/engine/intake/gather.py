"""From a run's limits to its sessions and its events: the base that every model stands on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta

from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as F

from windrow.atomic.source import Source
from windrow.columns.timestamps import from_micros, literal, micros
from windrow.engine.intake import lifecycle
from windrow.engine.intake import session_events as this_run
from windrow.engine.upsert import upsert
from windrow.engine.workspace import Workspace
from windrow.models.foundation import SESSION_ID, USER_ID, is_of_app, is_on_time
from windrow.state.limits import Limits, State
from windrow.tables.days import DayRange, day_ranges
from windrow.tables.frames import frame_of, settled

_NEVER = (datetime(9999, 1, 2, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC))
"""A window that ends before it begins: no session means no event, and no file is read."""


@dataclass(frozen=True)
class Sessions:
    """The sessions of a run, and what the look for them found."""

    this_run: DataFrame
    """Session, user, start_tstamp and end_tstamp of every session of the run."""
    continued: DataFrame
    """New lifecycle rows of the sessions that have events in the window."""
    first: datetime | None
    last: datetime | None
    """The first start and the last end; None when the window touches no session."""
    days: tuple[date, ...]
    """The days on which they start."""
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
    """Everyone who has one of these sessions, or had it until now."""
    events: DataFrame
    reached: datetime | None
    """The greatest collector time that was consumed."""
    days: tuple[date, ...]
    """The days on which rows of these sessions can lie, by the time of their events."""
    started_on: tuple[date, ...]
    """As `Sessions.started_on`: where the lifecycle rows of the run lie."""
    counts: dict[str, int]
    cached: DataFrame
    event_names: frozenset[str] | None = None
    """The names of the run's events; None when nobody asked."""

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
    if not ws.foundation.has_sessions:
        return _events_of_window(ws, source, limits, event_columns)
    sessions = _find_sessions(ws, source, limits)
    intake = _gather_events(ws, source, sessions, event_columns)
    if limits.state is State.RERUN:
        return replace(intake, days=(*intake.days, *_days_of_lives(ws, sessions)))
    return intake


def _find_sessions(ws: Workspace, source: Source, limits: Limits) -> Sessions:
    settings = ws.settings
    known = ws.known_sessions()
    is_replay = limits.state is not State.RERUN and _is_replay(known, limits)
    read, taken = Observation(), Observation()
    if is_replay:
        new = known.limit(0).drop("start_tstamp_date")
    else:
        usable = _usable_events(ws, source, limits, read).observe(
            taken, micros(F.max("tstamp")).alias("reached")
        )
        new = lifecycle.sessions_with_new_events(usable, settings)

    earlier = lifecycle.earlier_rows(known, limits, settings)
    continued = settled(lifecycle.continued(new, earlier, ws.foundation, settings))
    this_runs = settled(lifecycle.sessions_this_run(continued, known, limits, settings))
    begun = continued.agg(
        F.count(F.lit(1)),
        F.collect_set("start_tstamp_date"),
        F.count_if(lifecycle.is_over_long(settings)),
    ).collect()[0]
    counts = {"sessions_with_new_events": begun[0]}
    if not ws.foundation.has_quarantine:
        counts["capped"] = begun[2]
    lives = this_runs.agg(
        F.count(F.lit(1)),
        micros(F.min("start_tstamp")),
        micros(F.max("end_tstamp")),
        F.collect_set(F.to_date("start_tstamp")),
    ).collect()[0]
    counts["sessions"] = lives[0]
    if not is_replay:
        counts |= {f"window_{name}": value for name, value in read.get.items()}
    return Sessions(
        this_run=this_runs,
        continued=continued,
        first=from_micros(lives[1]),
        last=from_micros(lives[2]),
        days=tuple(lives[3]),
        reached=None if is_replay else from_micros(taken.get["reached"]),
        started_on=tuple(begun[1]),
        counts=counts,
    )


def _usable_events(ws: Workspace, source: Source, limits: Limits, read: Observation) -> DataFrame:
    """The window's usable events of sessions that are not quarantined; the others are counted."""
    settings, foundation = ws.settings, ws.foundation
    floor = lifecycle.window_floor(limits, settings)
    window = this_run.scan(source, foundation, floor, limits.upper, foundation.columns(settings))
    in_session = F.col(foundation.session).isNotNull()
    reasons = {
        "without_session": ~in_session,
        "too_late": in_session & ~F.coalesce(is_on_time(settings), F.lit(False)),
        "other_app": in_session & ~F.coalesce(is_of_app(settings), F.lit(False)),
    }
    if foundation.platforms:
        reasons["other_platform"] = in_session & ~F.coalesce(
            foundation.is_of_platform(), F.lit(False)
        )
    counted = window.observe(
        read,
        F.count(F.lit(1)).alias("events"),
        *(F.count_if(is_so).alias(reason) for reason, is_so in reasons.items()),
    )
    usable = counted.where(foundation.is_usable(settings)).select(
        F.col(foundation.session).alias(SESSION_ID),
        F.col(foundation.user).alias(USER_ID),
        "event_id",
        F.col(settings.session_timestamp).alias("tstamp"),
    )
    quarantined = ws.quarantined_sessions()
    if quarantined is None:
        return usable
    return usable.join(quarantined, SESSION_ID, how="left_anti")


def _is_replay(known: DataFrame, limits: Limits) -> bool:
    """True when sessions beyond the window are known: all of the window was seen before."""
    later = (F.col("start_tstamp_date") >= F.lit(limits.upper.date())) & (
        F.col("start_tstamp") >= literal(limits.upper)
    )
    return not known.where(later).limit(1).isEmpty()


def _gather_events(
    ws: Workspace, source: Source, sessions: Sessions, event_columns: Iterable[str] | None
) -> Intake:
    """Every usable event of the sessions, each once, with the user of its session."""
    settings, foundation = ws.settings, ws.foundation
    wanted = columns_read(ws, source, event_columns)
    first, last = sessions.first or _NEVER[0], sessions.last or _NEVER[1]
    malformed = Observation()
    keeps = None if foundation.keeps is None else foundation.keeps()
    scanned = this_run.scan(
        source, foundation, first, last, wanted, keeps=keeps, malformed=malformed
    )
    found = this_run.events_of_sessions(scanned, sessions.this_run, foundation, settings)
    added = found.withColumns(foundation.adds()).drop(*_read_for_base_only(ws, event_columns))
    events = this_run.first_copies(
        added, [foundation.session], settings.session_timestamp
    ).persist()
    seen = _seen_sessions(ws, events)
    totals = seen.agg(
        F.sum("events").alias("events"),
        F.sum("copies").alias("copies"),
        F.count_if("is_mixed").alias("mixed"),
        micros(F.max("last")).alias("reached"),
        F.array_distinct(F.flatten(F.collect_set("days"))).alias("days"),
        *(F.sum(f"with_{name}").alias(f"with_{name}") for name in foundation.counts()),
    ).collect()[0]
    one_user = events.drop("copies", USER_ID)
    if totals["mixed"] and foundation.has_one_user_per_session:
        one_user = this_run.with_session_user(one_user, seen.where("is_mixed"), foundation)
    ids = events.select(F.count_distinct("event_id")).collect()[0][0]
    unique = one_user
    if ids < (totals["events"] or 0):
        repeated = settled(this_run.copies_in_other_sessions(events, foundation, settings))
        unique = one_user.join(
            F.broadcast(repeated), ["event_id", foundation.session], how="left_anti"
        )

    counts = dict(sessions.counts)
    counts |= {name: totals[f"with_{name}"] or 0 for name in foundation.counts()}
    counts["events"] = ids
    counts["duplicates"] = (totals["copies"] or 0) - ids
    if set(wanted) & set(source.malformed):
        counts["malformed_entities"] = sum(malformed.get.values())
    with_users = settled(_with_users(sessions.this_run, seen))
    # The lifecycle still says whose the sessions were when they were last processed.
    users = (
        with_users.select(USER_ID)
        .union(sessions.this_run.select(USER_ID))
        .union(seen.select(F.explode("users")))
        .select(F.col(USER_ID).alias(foundation.user))
    )
    reached = from_micros(totals["reached"])
    if not settings.compat:
        # Events of sessions past their cap are consumed too, though they lead to no row.
        reached = max(filter(None, (reached, sessions.reached)), default=None)
    return Intake(
        sessions=with_users,
        continued=sessions.continued,
        users=settled(users.where(F.col(foundation.user).isNotNull()).distinct()),
        events=unique.withColumns(foundation.adds_in_session()),
        reached=reached,
        days=tuple({*(totals["days"] or ()), *sessions.days, *_days_of_moved(sessions.continued)}),
        started_on=sessions.started_on,
        counts=counts,
        cached=events,
    )


def _events_of_window(
    ws: Workspace, source: Source, limits: Limits, event_columns: Iterable[str] | None
) -> Intake:
    """Every usable event of the window, each once: the base of a package without sessions."""
    settings, foundation = ws.settings, ws.foundation
    wanted = columns_read(ws, source, event_columns)
    read, malformed = Observation(), Observation()
    floor = lifecycle.window_floor(limits, settings)
    scanned = this_run.scan(source, foundation, floor, limits.upper, wanted, malformed=malformed)
    on_time = F.coalesce(is_on_time(settings), F.lit(False))
    of_app = F.coalesce(is_of_app(settings), F.lit(False))
    measures = (
        F.count(F.lit(1)).alias("events"),
        F.count_if(~on_time).alias("too_late"),
        F.count_if(~of_app).alias("other_app"),
    )
    usable = scanned.observe(read, *measures).where(foundation.is_usable(settings))
    kept = usable if foundation.keeps is None else usable.where(foundation.keeps())
    added = kept.withColumns(foundation.adds())
    events = this_run.first_copies(added, ["event_id"], "collector_tstamp").persist()
    has_names = "event_name" in events.columns
    totals = events.agg(
        F.count(F.lit(1)).alias("events"),
        F.sum("copies").alias("copies"),
        micros(F.max(settings.session_timestamp)).alias("reached"),
        F.collect_set(F.to_date("collector_tstamp")).alias("days"),
        F.collect_set("event_name" if has_names else F.lit(None).cast("string")).alias("names"),
    ).collect()[0]
    # Where no event is left, Spark drops the part of its plan that would have counted them.
    has_events = totals["events"] > 0
    window = read.get if has_events else scanned.agg(*measures).collect()[0].asDict()
    counts = {f"window_{name}": value for name, value in window.items()}
    counts |= {
        "events": totals["events"],
        "duplicates": (totals["copies"] or 0) - totals["events"],
    }
    if has_events and set(wanted) & set(source.malformed):
        counts["malformed_entities"] = sum(malformed.get.values())
    nobody = frame_of(ws.spark, [], foundation.lifecycle)
    return Intake(
        sessions=foundation.from_record(nobody),
        continued=foundation.from_record(nobody),
        users=nobody.select(F.col(foundation.recorded_user).alias(foundation.user)),
        events=events.drop("copies"),
        reached=from_micros(totals["reached"]),
        days=tuple(totals["days"]),
        started_on=(),
        counts=counts,
        cached=events,
        event_names=frozenset(totals["names"]) if has_names else None,
    )


def columns_read(ws: Workspace, source: Source, asked: Iterable[str] | None) -> list[str]:
    """What must be read of each event: no column that no model asks for."""
    needed = (*ws.foundation.columns(ws.settings), *ws.foundation.reads)
    made = ws.foundation.made
    wanted = source.adapted if asked is None else asked
    return list(dict.fromkeys((*needed, *(name for name in wanted if name not in made))))


def _read_for_base_only(ws: Workspace, asked: Iterable[str] | None) -> list[str]:
    """Columns that no model asks for: once the base has taken what it needs, they take up room."""
    if asked is None:
        return []
    kept = {*asked, ws.foundation.session, ws.foundation.user}
    return [name for name in ws.foundation.reads if name not in kept]


def _seen_sessions(ws: Workspace, events: DataFrame) -> DataFrame:
    """One row per session that has events: what they add up to, and whose it is."""
    settings, foundation = ws.settings, ws.foundation
    user = this_run.user_of_session(foundation, settings)
    return settled(
        events.groupBy(F.col(foundation.session).alias(SESSION_ID)).agg(
            F.count(F.lit(1)).alias("events"),
            F.sum("copies").alias("copies"),
            F.max(settings.session_timestamp).alias("last"),
            F.collect_set(F.to_date("derived_tstamp")).alias("days"),
            F.collect_set(foundation.user).alias("users"),
            *(
                F.count_if(is_so).alias(f"with_{name}")
                for name, is_so in foundation.counts().items()
            ),
            *(value.alias(name) for name, value in user.items()),
        )
    )


def _with_users(sessions: DataFrame, seen: DataFrame) -> DataFrame:
    """The sessions with the user id that their events carry."""
    users = seen.select(SESSION_ID, F.col(USER_ID).alias("user_of_events"))
    return sessions.join(users, SESSION_ID, how="left").select(
        SESSION_ID,
        F.coalesce("user_of_events", USER_ID).alias(USER_ID),
        "start_tstamp",
        "end_tstamp",
    )


def _days_of_lives(ws: Workspace, sessions: Sessions) -> list[date]:
    """Every day on which rows of the sessions can have been stored.

    A past window is often processed again because its events were mended: rows may lie where no
    event is any more.
    """
    if sessions.first is None or sessions.last is None:
        return []
    first = sessions.first - timedelta(days=max(1, ws.settings.days_late_allowed))
    days = (sessions.last.date() - first.date()).days
    return [first.date() + timedelta(days=number) for number in range(days + 1)]


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
    if not ws.foundation.has_sessions:
        return
    continued = intake.continued
    users = intake.sessions.select(SESSION_ID, F.col(USER_ID).alias("user_of_events"))
    rows = settled(
        ws.foundation.as_recorded(
            continued.join(users, SESSION_ID, how="left").withColumn(
                USER_ID, F.coalesce("user_of_events", USER_ID)
            )
        ).select(*ws.foundation.lifecycle)
    )
    if intake.counts["sessions_with_new_events"]:
        stored_on = continued.select(F.to_date("stored_start").alias("day")).distinct().collect()
        search = day_ranges(row["day"] for row in stored_on if row["day"] is not None)
        upsert(ws.tables, ws.lifecycle_destination, rows, search=search)
    if ws.foundation.has_quarantine:
        _quarantine(ws, intake, rows)


def _quarantine(ws: Workspace, intake: Intake, recorded: DataFrame) -> None:
    is_over_long = ws.hooks.column("quarantine_sessions", lifecycle.is_over_long(ws.settings))
    judged = ws.foundation.as_recorded(intake.sessions)
    if not ws.settings.compat:
        # Also sessions too old to be part of the run, which the reference forgets to judge.
        judged = judged.unionByName(recorded.select(*judged.columns))
    over_long = judged.where(is_over_long).select(ws.foundation.recorded_session).distinct()
    known = ws.tables.read(ws.quarantine)
    added = settled(over_long.join(known, ws.foundation.recorded_session, how="left_anti"))
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
