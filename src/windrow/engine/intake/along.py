"""Sessions that come along with others, where these have events that were loaded late.

A late event can tell that stored rows of another session are not as one run over all events would
have made them. Two things of a session depend on other sessions:

- an id that several sessions have, such as a page view's, belongs to the one that had it first;
- what is known of a user is known from all of the user's sessions, and a session whose earliest
  event was late may turn out to be another user's.

So the sessions that hold such an id come along, and all sessions of a user who has lost one. They
are processed whole, like the others. Nothing follows from that for further sessions, as no event of
theirs is new.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from windrow.columns.timestamps import from_micros, literal, micros
from windrow.engine.destination import on_days_of
from windrow.engine.intake.values import Intake, Sessions, days_of_lives
from windrow.engine.workspace import Workspace
from windrow.models.foundation import SESSION_ID, USER_ID
from windrow.models.model import Model
from windrow.state.limits import Limits
from windrow.tables.days import day_ranges
from windrow.tables.frames import few, materialize, measured


def sessions_along(
    ws: Workspace, sessions: Sessions, intake: Intake, limits: Limits, models: Sequence[Model]
) -> Sessions | None:
    """The run's sessions, and those that come along with them; None: none does."""
    looks = list(_looks(ws, intake, models))
    if not looks or not intake.counts["events"]:
        return None
    found = reduce(DataFrame.union, looks).distinct()
    others, size = measured(
        found.join(sessions.this_run, SESSION_ID, how="left_anti"), {"sessions": F.count(F.lit(1))}
    )
    if not size["sessions"]:
        return None
    end = F.col("end_tstamp")
    if not limits.state.is_past:
        # What lies behind the window is for later runs.
        end = F.least(end, literal(limits.upper)).alias("end_tstamp")
    along = ws.known_sessions().join(few(others, size["sessions"]), SESSION_ID, how="left_semi")
    every = sessions.this_run.unionByName(
        along.select(SESSION_ID, USER_ID, "start_tstamp", end).where("start_tstamp <= end_tstamp")
    )
    this_run, lives = measured(
        every,
        {
            "sessions": F.count(F.lit(1)),
            "first": micros(F.min("start_tstamp")),
            "last": micros(F.max("end_tstamp")),
            "days": F.collect_set(F.to_date("start_tstamp")),
            "lived_on": F.collect_set(F.struct(F.to_date("start_tstamp"), F.to_date("end_tstamp"))),
        },
    )
    number = lives["sessions"] - sessions.counts["sessions"]
    return replace(
        sessions,
        this_run=this_run,
        first=from_micros(lives["first"]),
        last=from_micros(lives["last"]),
        days=tuple({*sessions.days, *lives["days"]}),
        # They may have lived long before, or after.
        lived_on=day_ranges(days_of_lives(lives["lived_on"])),
        counts={**sessions.counts, "sessions": lives["sessions"], "sessions_along": number},
    )


def users_made_anew(ws: Workspace, intake: Intake, models: Sequence[Model]) -> DataFrame | None:
    """Users who had one of the sessions, and have it no more; None where that changes nothing."""
    has_readers = any(member.carries_users_on for member in models)
    if not ws.foundation.has_one_user_per_session or not has_readers or intake.former is None:
        return None
    users = materialize(intake.former)
    return None if users.isEmpty() else users


def _looks(ws: Workspace, intake: Intake, models: Sequence[Model]) -> Iterator[DataFrame]:
    """Frames of ids of sessions; those of the run may be among them."""
    days = max(1, ws.settings.upsert_lookback_days)
    around = intake.days_around(before=days, after=days)
    for member in models:
        is_of_events = {*member.key} <= {*intake.events.columns}
        if member.has_ids_of_several and is_of_events and ws.tables.exists(ws.table(member)):
            rows = ws.tables.read(ws.table(member))
            ids = intake.events.select(*member.key).distinct()
            holding = on_days_of(rows, ws.destination(member), around).join(ids, [*member.key])
            yield holding.select(F.col(ws.foundation.session).alias(SESSION_ID))
    if intake.made_anew is not None:
        users = intake.made_anew.select(F.col(ws.foundation.user).alias(USER_ID))
        yield ws.known_sessions().join(few(users, intake.most_users), USER_ID).select(SESSION_ID)
