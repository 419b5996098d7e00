"""The quarantine, and beside it why each session is there, since when and by whom.

The quarantine itself has one column, as the SQL packages have it. What else there is to know is in
`snowplow_<package>_quarantine_notes`, which is made when the first session is noted.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from windrow.columns.rules import column
from windrow.columns.timestamps import literal
from windrow.engine.workspace import Workspace
from windrow.models.foundation import SESSION_ID
from windrow.tables import DELETED, Columns
from windrow.tables.frames import frame_of


class Reason(StrEnum):
    """Why a session is in quarantine."""

    OVER_LONG = "max_session_days"
    HOOK = "hook"
    BY_HAND = "by_hand"


QUARANTINE_NOTES: Columns = {
    "session_id": column("string", "Id of the quarantined session."),
    "reason": column(
        "string",
        "Why: `max_session_days` (it lasted so long), `hook` (`quarantine_sessions` says so) or "
        "`by_hand` (`windrow quarantine add`).",
    ),
    "since": column("timestamp", "Clock of the run that quarantined it."),
    "run_id": column("string", "Id of that run."),
    "start_tstamp": column("timestamp", "Start of the session, as it was known then."),
    "end_tstamp": column("timestamp", "End of the session, as it was known then."),
}


def note_sessions(
    ws: Workspace, sessions: DataFrame, reason: Column, *, run_id: str, now: datetime
) -> None:
    """Remember why these sessions, with start and end, are put into quarantine."""
    notes = sessions.select(
        F.col(ws.foundation.recorded_session).alias("session_id"),
        reason.alias("reason"),
        literal(now).alias("since"),
        F.lit(run_id).alias("run_id"),
        "start_tstamp",
        "end_tstamp",
    )
    ws.tables.create(ws.quarantine_notes, QUARANTINE_NOTES)
    ws.tables.append(ws.quarantine_notes, notes)


def newest_notes(ws: Workspace) -> DataFrame:
    """The newest note on each session; someone may have taken one out without windrow."""
    columns = ("since", "reason", "run_id", "start_tstamp", "end_tstamp")
    is_there = ws.tables.exists(ws.quarantine_notes)
    found = (
        ws.tables.read(ws.quarantine_notes)
        if is_there
        else frame_of(ws.spark, [], QUARANTINE_NOTES)
    )
    notes = found.withColumnRenamed("session_id", SESSION_ID)
    newest = notes.groupBy(SESSION_ID).agg(F.max(F.struct(*columns)).alias("note"))
    return newest.select(SESSION_ID, "note.*")


def take_out(ws: Workspace, sessions: Sequence[str]) -> None:
    """Take sessions out of the quarantine, and forget why they were there.

    By a merge: a table that was overwritten with no rows has no history before that, and could not
    be rolled back.
    """
    places = {ws.quarantine: ws.foundation.recorded_session, ws.quarantine_notes: "session_id"}
    for table, session in places.items():
        if ws.tables.exists(table):
            columns = {session: "string", DELETED: "boolean"}
            gone = frame_of(ws.spark, [[it, True] for it in sessions], columns)
            ws.tables.merge(table, gone, key=(session,), insert=False)
