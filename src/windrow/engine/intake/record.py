"""Bringing a run's sessions into the lifecycle manifest and the quarantine."""

from __future__ import annotations

from datetime import datetime

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from windrow.engine.intake import lifecycle
from windrow.engine.intake.values import Intake, Sessions
from windrow.engine.quarantine import Reason, note_sessions
from windrow.engine.upsert import number_of_days, replace_rows, upsert
from windrow.engine.workspace import Workspace
from windrow.models.foundation import SESSION_ID, USER_ID
from windrow.tables.days import day_ranges
from windrow.tables.frames import materialize, measured

_MOST_IN_ONE_FILE = 100_000
"""So many ids are written anew in the time that it takes to add a file."""


def record_sessions(ws: Workspace, intake: Intake, *, run_id: str, now: datetime) -> dict[str, int]:
    """Bring the sessions into the lifecycle manifest, and the over-long ones into quarantine.

    Gives what was counted on the way.
    """
    found = intake.found
    if found is None:
        return {}
    users = intake.sessions.select(SESSION_ID, F.col(USER_ID).alias("user_of_events"))
    rows = ws.foundation.as_recorded(
        found.continued.join(users, SESSION_ID, how="left").withColumn(
            USER_ID, F.coalesce("user_of_events", USER_ID)
        )
    ).select(*ws.foundation.lifecycle)
    if intake.counts["sessions_with_new_events"]:
        _record(ws, found, rows)
    if not ws.foundation.has_quarantine:
        return {}
    new = _over_long(ws, intake, rows, has_over_long=found.has_over_long)
    return {"quarantined": 0 if new is None else quarantine_sessions(ws, new, run_id, now)}


def _record(ws: Workspace, found: Sessions, rows: DataFrame) -> None:
    """The look for the sessions has seen which of them are stored, and where."""
    table = ws.lifecycle_destination
    if not found.stored_on:
        number = number_of_days(ws.tables, table, found.started_on)
        ws.tables.append(table.table, rows, days=number)
    elif "start_tstamp_date" not in ws.tables.partitions(table.table):
        upsert(ws.tables, table, materialize(rows), search=day_ranges(found.stored_on))
    else:
        days = day_ranges([*found.stored_on, *found.started_on])
        replace_rows(ws.tables, table, rows, days)


def _over_long(
    ws: Workspace, intake: Intake, recorded: DataFrame, *, has_over_long: bool
) -> DataFrame | None:
    """The sessions that are to be quarantined now, and whether by their length; None: none is."""
    by_length = lifecycle.is_over_long(ws.settings)
    is_by_length_alone = ws.hooks.column("quarantine_sessions", by_length) is by_length
    if is_by_length_alone and not has_over_long:
        return None
    judged = ws.foundation.as_recorded(intake.sessions)
    if not ws.settings.compat:
        # Also sessions too old to be part of the run, which the reference forgets to judge.
        judged = judged.unionByName(recorded.select(*judged.columns))
    return judged_over_long(ws, judged)


def judged_over_long(ws: Workspace, sessions: DataFrame) -> DataFrame:
    """Of sessions as they are recorded those that belong into quarantine, and whether by length."""
    by_length = lifecycle.is_over_long(ws.settings)
    return (
        sessions.where(ws.hooks.column("quarantine_sessions", by_length))
        .groupBy(ws.foundation.recorded_session)
        .agg(
            F.min("start_tstamp").alias("start_tstamp"),
            F.max("end_tstamp").alias("end_tstamp"),
            F.bool_or(by_length).alias("is_by_length"),
        )
    )


def quarantine_sessions(ws: Workspace, over_long: DataFrame, run_id: str, now: datetime) -> int:
    """Quarantine the sessions that are not there yet; gives how many they are."""
    known = ws.tables.read(ws.quarantine)
    new = over_long.join(known, ws.foundation.recorded_session, how="left_anti")
    added, figures = measured(new, {"sessions": F.count(F.lit(1))})
    if figures["sessions"]:
        _add_to_quarantine(ws, added.select(ws.foundation.recorded_session))
        by_length, by_hook = (F.lit(it.value) for it in (Reason.OVER_LONG, Reason.HOOK))
        reason = F.when(F.col("is_by_length"), by_length).otherwise(by_hook)
        note_sessions(ws, added, reason, run_id=run_id, now=now)
    return int(figures["sessions"])


def _add_to_quarantine(ws: Workspace, sessions: DataFrame) -> None:
    """Add to the quarantine; while it is small it stays one file, as every run reads all of it."""
    stored = ws.tables.read(ws.quarantine).count()
    if not 0 < stored <= _MOST_IN_ONE_FILE:
        ws.tables.append(ws.quarantine, sessions)
        return
    ws.tables.rewrite(ws.quarantine, "true", lambda old: old.unionByName(sessions).coalesce(1))
