"""Bringing a run's sessions into the lifecycle manifest and the quarantine."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from windrow.engine.intake import lifecycle
from windrow.engine.intake.values import Intake
from windrow.engine.upsert import upsert
from windrow.engine.workspace import Workspace
from windrow.models.foundation import SESSION_ID, USER_ID
from windrow.tables.days import day_ranges
from windrow.tables.frames import materialize


def record_sessions(ws: Workspace, intake: Intake) -> dict[str, int]:
    """Bring the sessions into the lifecycle manifest, and the over-long ones into quarantine.

    Gives what was counted on the way.
    """
    if not ws.foundation.has_sessions:
        return {}
    continued = intake.continued
    users = intake.sessions.select(SESSION_ID, F.col(USER_ID).alias("user_of_events"))
    rows = materialize(
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
    return {"quarantined": _quarantine(ws, intake, rows)} if ws.foundation.has_quarantine else {}


def _quarantine(ws: Workspace, intake: Intake, recorded: DataFrame) -> int:
    """Quarantine the sessions that are over-long now; gives how many are new there."""
    is_over_long = ws.hooks.column("quarantine_sessions", lifecycle.is_over_long(ws.settings))
    judged = ws.foundation.as_recorded(intake.sessions)
    if not ws.settings.compat:
        # Also sessions too old to be part of the run, which the reference forgets to judge.
        judged = judged.unionByName(recorded.select(*judged.columns))
    over_long = judged.where(is_over_long).select(ws.foundation.recorded_session).distinct()
    known = ws.tables.read(ws.quarantine)
    added = materialize(over_long.join(known, ws.foundation.recorded_session, how="left_anti"))
    number = added.count()
    if number:
        ws.tables.append(ws.quarantine, added)
    return number
