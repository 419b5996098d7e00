"""Every event of the run's sessions, each once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from windrow.atomic.misfits import refuse_misfits
from windrow.atomic.source import Source
from windrow.columns.timestamps import from_micros, micros
from windrow.engine.intake import session_events
from windrow.engine.intake.copies import (
    NTH_COPY,
    copies_in_other_sessions,
    first_copies,
    ids_in_several_sessions,
)
from windrow.engine.intake.values import Intake, Sessions
from windrow.engine.workspace import Workspace
from windrow.models.foundation import SESSION_ID, USER_ID, Foundation
from windrow.tables.frames import adding, few, join_by, kept, measured
from windrow.tables.observed import Observed

_NEVER = (datetime(9999, 1, 2, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC))
"""A window that ends before it begins: no session means no event, and no file is read."""


def gather_events(
    ws: Workspace,
    source: Source,
    sessions: Sessions,
    event_columns: Iterable[str] | None,
    settled: DataFrame | None = None,
) -> Intake | None:
    """Every usable event of the sessions, each once, with the user of its session.

    `settled`: events that are not taken in unless they are of these sessions. None: another session
    has a copy of one of this run's among them, and which of the two counts is not known here.
    """
    settings, foundation = ws.settings, ws.foundation
    wanted = columns_read(ws, source, event_columns)
    first, last = sessions.first or _NEVER[0], sessions.last or _NEVER[1]
    unreadable, read = Observed(), Observed()
    keeps = None if foundation.keeps is None else foundation.keeps()
    scanned = session_events.scan(
        source, foundation, first, last, wanted, keeps=keeps, unreadable=unreadable
    )
    usable = adding(scanned.where(foundation.is_usable(settings)), foundation.adds())
    narrowed = usable.drop(*_read_for_foundation_only(ws, event_columns))
    found = session_events.events_of_sessions(narrowed, sessions.this_run, foundation, settings)
    with_copies = read.over(found, {"events": F.count(F.lit(1))})
    cached = kept(first_copies(with_copies, [foundation.session], settings.session_timestamp))
    events = cached.drop(NTH_COPY)
    filtered = _filtered(ws, events)
    lives, totals = measured(
        _with_users(ws, sessions.this_run, _seen_sessions(ws, events, filtered)),
        {**_totals(foundation), **{name: F.sum(name) for name in filtered}},
    )
    has_events = bool(totals["events"])
    bad = unreadable.figures(has_rows=has_events)
    refuse_misfits(bad)
    unique = events
    if totals["mixed"] and foundation.has_one_user_per_session:
        mixed = lives.where("is_mixed")
        unique = session_events.with_session_user(unique, mixed, totals["mixed"], foundation)
    elsewhere = _copies_elsewhere(ws, events, sessions, settled)
    if elsewhere is None:
        cached.unpersist()
        return None
    if elsewhere.number:
        by = ["event_id", foundation.session]
        unique = unique.join(few(elsewhere.copies, elsewhere.number), by, how="left_anti")

    counts = dict(sessions.counts)
    counts |= {name: totals[name] or 0 for name in filtered}
    counts |= {name: totals[f"with_{name}"] or 0 for name in foundation.counts()}
    counts["events"] = (totals["events"] or 0) - elsewhere.number
    counts["duplicates"] = read.figures(has_rows=has_events)["events"] - counts["events"]
    counts |= counts_of_malformed(source, bad)
    reached = from_micros(totals["reached"])
    if not settings.compat:
        # Events of sessions past their cap are consumed too, though they lead to no row.
        reached = max(filter(None, (reached, sessions.reached)), default=None)
    everyone = _users_in(lives, "whose", foundation)
    return Intake(
        sessions=lives.select(SESSION_ID, USER_ID, "start_tstamp", "end_tstamp"),
        found=sessions,
        # The reference looks at the users of its lifecycle only: of those whom other events name,
        # rows are not made, or stay as they were.
        users=_users_in(lives, "recorded", foundation) if settings.compat else everyone,
        everyone=everyone,
        most_users=totals["users"] or 0,
        former=_users_in(lives.where(~_is_same_user()), "recorded", foundation),
        events=adding(unique, foundation.adds_in_session()),
        reached=reached,
        days=tuple({*(totals["days"] or ()), *sessions.days}),
        counts=counts,
        cached=cached,
    )


@dataclass(frozen=True)
class _Elsewhere:
    """Which of the sessions' events count in other sessions."""

    copies: DataFrame
    """Event id and session."""
    number: int


def _copies_elsewhere(
    ws: Workspace, events: DataFrame, sessions: Sessions, settled: DataFrame | None
) -> _Elsewhere | None:
    """The events whose first copy is another session's; None: that may be one left alone."""
    foundation, one = ws.foundation, {"events": F.count(F.lit(1))}
    shared, found = measured(ids_in_several_sessions(events, foundation, settled), one)
    if not found["events"]:
        return _Elsewhere(shared, 0)
    same = few(shared, found["events"])
    if settled is not None:
        of_run = sessions.this_run.select(F.col(SESSION_ID).alias(foundation.session))
        with_copies = join_by(settled, same, ["event_id"], "left_semi")
        if not with_copies.join(of_run, foundation.session, how="left_anti").isEmpty():
            return None
    with_copies = join_by(events, same, ["event_id"], "left_semi")
    copies, counted = measured(copies_in_other_sessions(with_copies, foundation, ws.settings), one)
    return _Elsewhere(copies, counted["events"])


def _totals(foundation: Foundation) -> dict[str, Column]:
    """What the events of all sessions add up to."""
    return {
        "events": F.sum("events"),
        "mixed": F.count_if("is_mixed"),
        "reached": micros(F.max("last")),
        "users": F.sum(F.size("whose")),
        "days": F.array_distinct(F.flatten(F.collect_set("days"))),
        **{f"with_{name}": F.sum(f"with_{name}") for name in foundation.counts()},
    }


def _filtered(ws: Workspace, events: DataFrame) -> dict[str, Column]:
    """Count -> true for events of the sessions that models leave out, such as those of bots.

    Only where the columns tell that models ask for.
    """
    found = {}
    for reason, stays in ws.package.filters(ws.settings, ws.hooks).items():
        with suppress(AnalysisException):
            _ = events.select(stays).schema
            found[f"filtered_{reason}"] = ~F.coalesce(stays, F.lit(False))
    return found


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


def _seen_sessions(ws: Workspace, events: DataFrame, filtered: Mapping[str, Column]) -> DataFrame:
    """One row per session that has events: what they add up to, and whose it is."""
    settings, foundation = ws.settings, ws.foundation
    return events.groupBy(F.col(foundation.session).alias(SESSION_ID)).agg(
        F.count(F.lit(1)).alias("events"),
        F.max(settings.session_timestamp).alias("last"),
        F.collect_set(F.to_date("derived_tstamp")).alias("days"),
        F.collect_set(foundation.user).alias("users"),
        *(F.count_if(is_so).alias(f"with_{name}") for name, is_so in foundation.counts().items()),
        *(F.count_if(is_so).alias(name) for name, is_so in filtered.items()),
        *(
            value.alias(name)
            for name, value in session_events.named_users(foundation, settings).items()
        ),
    )


def _with_users(ws: Workspace, sessions: DataFrame, seen: DataFrame) -> DataFrame:
    """The sessions with the user id that their events carry, and everyone whose they are or were.

    The lifecycle still says whose the sessions were when they were last processed.
    """
    of_session = session_events.user_of_session(ws.settings)
    nobody = F.array().cast("array<string>")
    whose = F.array_union(F.coalesce("users", nobody), F.array(of_session[USER_ID], USER_ID))
    return sessions.join(seen, SESSION_ID, how="left").withColumns(
        {"whose": whose, "recorded": F.array(USER_ID), **of_session}
    )


def _is_same_user() -> Column:
    """Whether a session is whose it was when it was last processed."""
    return F.col("recorded").getItem(0).eqNullSafe(F.col(USER_ID))


def _users_in(lives: DataFrame, column: str, foundation: Foundation) -> DataFrame:
    users = lives.select(F.explode(column).alias(foundation.user))
    return users.where(F.col(foundation.user).isNotNull()).distinct()
