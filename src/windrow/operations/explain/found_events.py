"""The events with an id, judged by the rules by which a run takes events in or leaves them out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from windrow.atomic.source import Source
from windrow.columns.conditions import any_of
from windrow.columns.timestamps import from_micros
from windrow.engine.intake import columns_read, lifecycle, session_events
from windrow.engine.intake.copies import NTH_COPY, copies_in_other_sessions, first_copies
from windrow.engine.key_days import KeyDays, keyed_sessions
from windrow.engine.model_run import event_columns
from windrow.engine.workspace import Workspace
from windrow.models.foundation import SESSION_ID, USER_ID
from windrow.operations.explain.values import Kind, SessionFacts, Stretch
from windrow.state.records import collect_together
from windrow.tables.frames import adding, few, frame_of, materialize, measured

MOST_SESSIONS = 20
"""Of a user who has more, the newest are told of."""

_LOADED = "load_tstamp"
_COPY = "copy_elsewhere"
_PAST_CAP = "past_cap"


@dataclass(frozen=True)
class Found:
    """Events with an id, judged."""

    events: DataFrame
    """Session, time, what each reason says of an event, and whether it can begin a row."""
    number: int
    """How many events there are."""
    reasons: tuple[str, ...]
    time: str
    """The column of their collector time, or what stands for it."""


def column_of(ws: Workspace, kind: Kind) -> str | None:
    """The column of the package's events that holds ids of this kind; None: it has none."""
    foundation = ws.foundation
    if kind is Kind.EVENT:
        return "event_id"
    if kind is Kind.PAGE_VIEW:
        return foundation.view
    if not foundation.has_sessions:
        return None
    return foundation.session if kind is Kind.SESSION else foundation.user


def find_events(ws: Workspace, source: Source, kind: Kind, id: str, where: Stretch) -> Found:
    """The events of a stretch of time that have the id, each with what every rule says of it."""
    column = column_of(ws, kind)
    assert column is not None
    return _find(ws, source, where, lambda events: events.where(F.col(column) == F.lit(id)))


def with_copies(ws: Workspace, source: Source, found: Found, where: Stretch) -> Found:
    """The events that were found, and all in other sessions that have the id of one of them."""
    ids = few(found.events.select("event_id").distinct(), found.number)
    return _find(ws, source, where, lambda events: events.join(ids, "event_id", how="left_semi"))


def _find(
    ws: Workspace,
    source: Source,
    where: Stretch,
    are_meant: Callable[[DataFrame], DataFrame],
) -> Found:
    settings, foundation = ws.settings, ws.foundation
    owner = ws.sessions_model
    asked = () if owner is None else event_columns(ws, [owner])
    wanted = columns_read(ws, source, asked)
    if _LOADED in source.adapted:
        wanted = list(dict.fromkeys((*wanted, _LOADED)))
    scanned = session_events.scan(source, foundation, where.first, where.last, wanted)
    events = are_meant(adding(scanned, foundation.adds()))
    reasons = {**foundation.left_out(settings), **_beyond_the_filter(ws)}
    session = F.col(foundation.session) if foundation.has_sessions else F.lit(None)
    begins_row = None if owner is None else ws.package.begins_row
    judged = events.select(
        "event_id",
        "etl_tstamp",
        settings.session_timestamp,
        session.cast("string").alias(foundation.session),
        F.to_date("derived_tstamp" if foundation.has_sessions else "collector_tstamp").alias("day"),
        (F.col(_LOADED) if _LOADED in wanted else F.lit(None).cast("timestamp")).alias("loaded"),
        (F.lit(True) if begins_row is None else begins_row()).alias("begins_row"),
        *(is_so.alias(f"is_{reason}") for reason, is_so in reasons.items()),
    )
    events, size = measured(judged, {"events": F.count(F.lit(1))})
    return Found(events, size["events"], tuple(reasons), settings.session_timestamp)


def _beyond_the_filter(ws: Workspace) -> dict[str, Column]:
    """What leaves out events of sessions that are taken in: the base, and the package's models."""
    stays: Mapping[str, Column] = {}
    if ws.foundation.keeps is not None:
        stays = {"not_kept": ws.foundation.keeps()}
    if ws.sessions_model is not None:
        stays = {**stays, **ws.package.filters(ws.settings, ws.hooks)}
    return {reason: ~F.coalesce(it, F.lit(False)) for reason, it in stays.items()}


def lives_of(ws: Workspace, key_days: KeyDays, sessions: DataFrame, at_most: int) -> DataFrame:
    """Session, user, start, end, and whether it is at its cap or quarantined, of those known.

    `sessions`: a frame of their ids, of which there are `at_most` so many. They are looked up where
    a run would look them up.
    """
    known = ws.known_sessions()
    keyed = keyed_sessions(ws)
    if key_days.covers(keyed):
        known = known.where(key_days.bound(keyed, sessions, [SESSION_ID], at_most=at_most))
    ids = few(sessions, at_most)
    # The reference may store a session twice.
    found = (
        known.join(ids, SESSION_ID, how="left_semi")
        .withColumn("is_at_cap", lifecycle.is_over_long(ws.settings))
        .groupBy(SESSION_ID)
        .agg(
            F.max(USER_ID).alias(USER_ID),
            F.min("start_tstamp").alias("start_tstamp"),
            F.max("end_tstamp").alias("end_tstamp"),
            F.bool_or("is_at_cap").alias("is_at_cap"),
        )
    )
    quarantined = ws.quarantined_sessions()
    if quarantined is None:
        return materialize(found.withColumn("is_quarantined", F.lit(False)))
    inside = quarantined.join(ids, SESSION_ID, how="left_semi").distinct()
    # Someone may have put a session there that no run has seen yet.
    marked = inside.withColumn("is_quarantined", F.lit(True))
    return materialize(
        found.join(few(marked, at_most), SESSION_ID, how="full").fillna(False, ["is_quarantined"])
    )


def no_lives(ws: Workspace) -> DataFrame:
    """The lives of no session at all."""
    columns = {SESSION_ID: "string", USER_ID: "string"}
    columns |= dict.fromkeys(("start_tstamp", "end_tstamp"), "timestamp")
    columns |= dict.fromkeys(("is_at_cap", "is_quarantined"), "boolean")
    return frame_of(ws.spark, [], columns)


def sessions_in(ws: Workspace, found: Found) -> DataFrame:
    """The ids of the sessions that the events belong to."""
    session = F.col(ws.foundation.session)
    ids = found.events.where(session.isNotNull()).select(session.alias(SESSION_ID))
    return materialize(ids.distinct())


def sum_up(ws: Workspace, found: Found, lives: DataFrame) -> tuple[SessionFacts, ...]:
    """What the events and the lives of their sessions add up to, newest first; one more than told.

    What lies past a session's cap is left out too, and of an event that is in several sessions all
    but the first: for that, too, a run's own rules are asked.
    """
    settings, foundation = ws.settings, ws.foundation
    reasons = [*found.reasons, _PAST_CAP, _COPY]
    known = lives.withColumnsRenamed(
        {SESSION_ID: foundation.session, "start_tstamp": "session_start"}
    )
    joined = found.events.join(few(known, found.number), foundation.session, how="full")
    is_within = F.coalesce(session_events.is_within_life(foundation, settings), F.lit(True))
    judged = joined.withColumns({f"is_{_PAST_CAP}": ~is_within, f"is_{_COPY}": F.lit(False)})
    judged = _with_copies_elsewhere(ws, judged, [*found.reasons, _PAST_CAP], found.number)
    time = F.col(settings.session_timestamp)
    # A session may be known that has no event here.
    is_event = time.isNotNull()
    is_taken = is_event & ~_is_left_out(reasons)
    totals = judged.groupBy(foundation.session).agg(
        F.max(USER_ID).alias("user"),
        F.count_if(is_event).alias("events"),
        F.count_distinct("event_id").alias("different"),
        F.count_if(is_taken).alias("taken"),
        F.coalesce(F.bool_or(is_taken & F.col("begins_row")), F.lit(False)).alias("begins_row"),
        F.min(time).alias("first_collected"),
        F.max(time).alias("last_collected"),
        F.min("loaded").alias("first_loaded"),
        F.max("loaded").alias("last_loaded"),
        F.collect_set("day").alias("days"),
        F.max("session_start").alias("start"),
        F.max("end_tstamp").alias("end"),
        F.coalesce(F.bool_or("is_at_cap"), F.lit(False)).alias("is_at_cap"),
        F.coalesce(F.bool_or("is_quarantined"), F.lit(False)).alias("is_quarantined"),
        F.array_sort(F.collect_set("first_session")).alias("first_sessions"),
        *(F.count_if(is_event & F.col(f"is_{it}")).alias(f"for_{it}") for it in reasons),
    )
    newest = totals.orderBy(F.desc_nulls_last("last_collected")).limit(MOST_SESSIONS + 1)
    rows = collect_together({"sessions": newest})["sessions"]
    return tuple(
        SessionFacts(
            session=row[foundation.session],
            user=row["user"],
            events=row["events"],
            copies=max(0, row["events"] - row["different"]),
            left_out={it: row[f"for_{it}"] for it in reasons if row[f"for_{it}"]},
            first_copies_in=tuple(row["first_sessions"]),
            taken=row["taken"],
            begins_row=row["begins_row"],
            first_collected=from_micros(row["first_collected"]),
            last_collected=from_micros(row["last_collected"]),
            first_loaded=from_micros(row["first_loaded"]),
            last_loaded=from_micros(row["last_loaded"]),
            days=tuple(sorted(row["days"])),
            start=from_micros(row["start"]),
            end=from_micros(row["end"]),
            is_at_cap=row["is_at_cap"],
            is_quarantined=row["is_quarantined"],
        )
        for row in rows
    )


def _with_copies_elsewhere(
    ws: Workspace, judged: DataFrame, reasons: Sequence[str], at_most: int
) -> DataFrame:
    """The events, those marked whose first copy lies in another session, with that session."""
    if not ws.foundation.has_sessions:
        return judged.withColumn("first_session", F.lit(None).cast("string"))
    session = ws.foundation.session
    usable = judged.where(F.col("event_id").isNotNull() & ~_is_left_out(reasons))
    single = first_copies(usable, [session], ws.settings.session_timestamp).drop(NTH_COPY)
    copies = copies_in_other_sessions(single, ws.foundation, ws.settings)
    counts = single.join(copies, ["event_id", session], how="left_anti")
    firsts = counts.select("event_id", F.col(session).alias("first_session"))
    marked = copies.distinct().join(firsts, "event_id", how="inner")
    joined = judged.join(few(marked, at_most), ["event_id", session], how="left")
    return joined.withColumn(f"is_{_COPY}", F.col("first_session").isNotNull())


def _is_left_out(reasons: Sequence[str]) -> Column:
    return any_of([F.coalesce(f"is_{reason}", F.lit(False)) for reason in reasons])
