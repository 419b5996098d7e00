"""Every event of the run's sessions, each once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from windrow.atomic.misfits import refuse_misfits
from windrow.atomic.source import Source
from windrow.columns.timestamps import from_micros, micros
from windrow.engine.intake import session_events
from windrow.engine.intake.values import Intake, Sessions
from windrow.engine.workspace import Workspace
from windrow.models.foundation import SESSION_ID, USER_ID, Foundation
from windrow.tables.frames import materialize
from windrow.tables.observed import Observed

_NEVER = (datetime(9999, 1, 2, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC))
"""A window that ends before it begins: no session means no event, and no file is read."""


def gather_events(
    ws: Workspace, source: Source, sessions: Sessions, event_columns: Iterable[str] | None
) -> Intake:
    """Every usable event of the sessions, each once, with the user of its session."""
    settings, foundation = ws.settings, ws.foundation
    wanted = columns_read(ws, source, event_columns)
    first, last = sessions.first or _NEVER[0], sessions.last or _NEVER[1]
    unreadable = Observed()
    keeps = None if foundation.keeps is None else foundation.keeps()
    scanned = session_events.scan(
        source, foundation, first, last, wanted, keeps=keeps, unreadable=unreadable
    )
    found = session_events.events_of_sessions(scanned, sessions.this_run, foundation, settings)
    added = found.withColumns(foundation.adds()).drop(*_read_for_foundation_only(ws, event_columns))
    events = session_events.first_copies(
        added, [foundation.session], settings.session_timestamp
    ).persist()
    seen = _seen_sessions(ws, events)
    totals = _totals(seen, foundation)
    bad = unreadable.figures(has_rows=bool(totals["events"]))
    refuse_misfits(bad)
    one_user = events.drop("copies", USER_ID)
    if totals["mixed"] and foundation.has_one_user_per_session:
        one_user = session_events.with_session_user(one_user, seen.where("is_mixed"), foundation)
    ids = events.select(F.count_distinct("event_id")).collect()[0][0]
    has_copies = ids < (totals["events"] or 0)
    unique = _without_copies(ws, one_user, events) if has_copies else one_user

    counts = dict(sessions.counts)
    counts |= {name: totals[f"with_{name}"] or 0 for name in foundation.counts()}
    counts["events"] = ids
    counts["duplicates"] = (totals["copies"] or 0) - ids
    counts |= counts_of_malformed(source, bad)
    with_users = materialize(_with_users(sessions.this_run, seen))
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
        users=materialize(users.where(F.col(foundation.user).isNotNull()).distinct()),
        events=unique.withColumns(foundation.adds_in_session()),
        reached=reached,
        days=tuple({*(totals["days"] or ()), *sessions.days, *_days_of_moved(sessions.continued)}),
        started_on=sessions.started_on,
        counts=counts,
        cached=events,
    )


def _totals(seen: DataFrame, foundation: Foundation) -> Row:
    """What the events of all sessions add up to."""
    return seen.agg(
        F.sum("events").alias("events"),
        F.sum("copies").alias("copies"),
        F.count_if("is_mixed").alias("mixed"),
        micros(F.max("last")).alias("reached"),
        F.array_distinct(F.flatten(F.collect_set("days"))).alias("days"),
        *(F.sum(f"with_{name}").alias(f"with_{name}") for name in foundation.counts()),
    ).collect()[0]


def _without_copies(ws: Workspace, wanted: DataFrame, events: DataFrame) -> DataFrame:
    """The events, but those whose first copy lies in another session of the run."""
    foundation = ws.foundation
    copies = session_events.copies_in_other_sessions(events, foundation, ws.settings)
    repeated = F.broadcast(materialize(copies))
    return wanted.join(repeated, ["event_id", foundation.session], how="left_anti")


def counts_of_malformed(source: Source, unreadable: Mapping[str, int]) -> dict[str, int]:
    """How many entities could not be read, in all and of each kind; of the events read."""
    found = source.malformed_entities(unreadable)
    by_entity = {f"malformed_{name}": number for name, number in found.items() if number}
    return {"malformed_entities": sum(found.values()), **by_entity} if found else {}


def columns_read(ws: Workspace, source: Source, asked: Iterable[str] | None) -> list[str]:
    """What must be read of each event: no column that no model asks for."""
    needed = (*ws.foundation.columns(ws.settings), *ws.foundation.reads)
    made = ws.foundation.made
    wanted = source.adapted if asked is None else asked
    return list(dict.fromkeys((*needed, *(name for name in wanted if name not in made))))


def _read_for_foundation_only(ws: Workspace, asked: Iterable[str] | None) -> list[str]:
    """Columns that no model asks for: once the base has taken what it needs, they take up room."""
    if asked is None:
        return []
    kept = {*asked, ws.foundation.session, ws.foundation.user}
    return [name for name in ws.foundation.reads if name not in kept]


def _seen_sessions(ws: Workspace, events: DataFrame) -> DataFrame:
    """One row per session that has events: what they add up to, and whose it is."""
    settings, foundation = ws.settings, ws.foundation
    user = session_events.user_of_session(foundation, settings)
    return materialize(
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
