"""Making single manifests anew, while models keep their rows and, but for one manifest, their way.

The SQL packages drop such a table and fill it from the next window, so that sessions which go on
lose their start. Here what can be known is known again at once: sessions from the events that were
taken in, the quarantine from the sessions. Only forgetting how far models came is forgetting.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from windrow.columns.timestamps import micros, plus_days
from windrow.engine.events import readable_source
from windrow.engine.holding import Seen, end, held, settle
from windrow.engine.intake import lifecycle
from windrow.engine.intake.record import judged_over_long, quarantine_sessions
from windrow.engine.intake.session_events import scan
from windrow.engine.lost_state import refuse_lost_sessions
from windrow.engine.privileges import refuse_unwritable
from windrow.engine.refresh import refuse_unallowed
from windrow.engine.steps import Listener, Step, say_nothing
from windrow.engine.workspace import Workspace
from windrow.errors import UsageError, did_you_mean
from windrow.models.base_names import (
    INCREMENTAL_MANIFEST,
    LIFECYCLE_MANIFEST,
    MANIFESTS,
    QUARANTINED_SESSIONS,
    manifest_named,
)
from windrow.models.foundation import SESSION_ID, USER_ID, Foundation
from windrow.state.leases import Intent, Kind, Lease
from windrow.state.runs import Outcome, new_run_id
from windrow.state.undo import beginning_of
from windrow.tables import TableName
from windrow.tables.frames import frame_of, measured


@dataclass(frozen=True)
class RefreshedManifest:
    """One manifest, and how many rows it had and has."""

    name: str
    """Without the package's prefix."""
    table: TableName
    rows_before: int
    rows: int


@dataclass(frozen=True)
class RefreshedManifests:
    """The manifests of a package that were made anew."""

    package: str
    target: str
    run_id: str
    start_date: datetime
    """Where models begin whose positions are forgotten."""
    manifests: tuple[RefreshedManifest, ...]
    undone: tuple[str, ...] = ()
    """Runs that had been killed and were undone first."""


def refresh_manifests(
    ws: Workspace, names: Sequence[str], *, now: datetime, listener: Listener = say_nothing
) -> RefreshedManifests:
    """Make the named manifests anew, all in one go; tables of models stay as they are.

    Refused like a full refresh: outside dev it must be asked for twice.
    """
    chosen = _chosen(ws, names)
    listed = ", ".join(table.name for table in chosen.values())
    refuse_unallowed(
        ws, f"Making {listed} anew on target '{ws.target}' would drop what runs have noted there."
    )
    refuse_unwritable(ws, ())
    seen = settle(ws, listener)
    if not ws.tables.exists(ws.manifest):
        raise UsageError(f"No run of {ws.name} has happened yet: `windrow run` makes the tables.")
    if seen.positions and not {INCREMENTAL_MANIFEST, LIFECYCLE_MANIFEST} & {*chosen}:
        refuse_lost_sessions(ws)
    # What takes long comes first: nothing is written yet, and nobody has to wait.
    lives = _lives(ws, chosen, seen, listener) if LIFECYCLE_MANIFEST in chosen else None
    before = {name: _count(ws, table) for name, table in chosen.items()}
    with held(ws, new_run_id(now), Intent(kind=Kind.REFRESH), seen) as lease:
        # The manifest's commits must not decide that this happened: its row in the ledger does.
        with ws.tables.commits_of(beginning_of(lease.run_id)):
            _write(ws, chosen, lives, lease, now)
        tables = [ws.manifest, *ws.protected[1:], ws.quarantine_notes]
        end(ws, lease, Outcome.REFRESHED, clock=now, table_versions=ws.versions_of(tables))
    made = tuple(
        RefreshedManifest(name, table, before[name], _count(ws, table))
        for name, table in chosen.items()
    )
    start = ws.settings.begins_at
    return RefreshedManifests(ws.name, ws.target, lease.run_id, start, made, seen.undone)


def manifests_on(foundation: Foundation) -> tuple[str, ...]:
    """The manifests that a base has."""
    is_there = {
        INCREMENTAL_MANIFEST: True,
        LIFECYCLE_MANIFEST: foundation.has_sessions,
        QUARANTINED_SESSIONS: foundation.has_quarantine,
    }
    return tuple(name for name in MANIFESTS if is_there[name])


def _chosen(ws: Workspace, names: Sequence[str]) -> dict[str, TableName]:
    """Manifest -> its table, of those that are named; each must be one that the package has."""
    there = manifests_on(ws.foundation)
    meant = {word: manifest_named(word) for word in names}
    for word, name in meant.items():
        if name not in there:
            raise UsageError(
                f"Package '{ws.name}' has no manifest '{word}'.{did_you_mean(word, there)} "
                f"It has: {', '.join(there)}."
            )
    if not meant:
        raise UsageError(f"Which manifest? One of: {', '.join(there)}.")
    tables = {
        INCREMENTAL_MANIFEST: ws.manifest,
        LIFECYCLE_MANIFEST: ws.lifecycle,
        QUARANTINED_SESSIONS: ws.quarantine,
    }
    return {name: tables[name] for name in there if name in meant.values()}


def _count(ws: Workspace, table: TableName) -> int:
    return ws.tables.read(table).count() if ws.tables.exists(table) else 0


def _write(
    ws: Workspace,
    chosen: Collection[str],
    lives: DataFrame | None,
    lease: Lease,
    now: datetime,
) -> None:
    ws.prepare_manifests()
    if lives is not None:
        ws.tables.rewrite(ws.lifecycle, "true", lambda _: lives)
    if QUARANTINED_SESSIONS in chosen:
        for table in (ws.quarantine, ws.quarantine_notes):
            if ws.tables.exists(table):
                ws.tables.restore(table, None)
        sessions = ws.tables.read(ws.lifecycle)
        over_long = judged_over_long(ws, sessions.drop("start_tstamp_date"))
        quarantine_sessions(ws, over_long, lease.run_id, now)
    if INCREMENTAL_MANIFEST in chosen:
        ws.tables.restore(ws.manifest, None)


def _lives(ws: Workspace, chosen: Collection[str], seen: Seen, listener: Listener) -> DataFrame:
    """The rows of the lifecycle manifest as the events tell them; none where all begins anew.

    Rows stay that the events cannot tell: of sessions from before the first event there is, and of
    those in quarantine, whose later events do not count.
    """
    none = frame_of(ws.spark, [], ws.foundation.lifecycle)
    known = ws.foundation.from_record(
        ws.tables.read(ws.lifecycle) if ws.tables.exists(ws.lifecycle) else none
    )
    furthest = max(seen.positions.values(), default=None)
    if furthest is None or INCREMENTAL_MANIFEST in chosen:
        return none
    listener(Step("sessions", "started", detail="Looking for all sessions in the events"))
    new, figures = measured(
        _sessions_in(_events_until(ws, furthest), ws),
        {"first": micros(F.min("start_tstamp"))},
    )
    inside = None if QUARANTINED_SESSIONS in chosen else ws.quarantined_sessions()
    quarantined = known.limit(0) if inside is None else _of(known, inside)
    first = figures["first"]
    is_older = F.lit(True) if first is None else micros(F.col("start_tstamp")) < F.lit(first)
    older = known.where(is_older).join(quarantined, SESSION_ID, how="left_anti")
    new = new.join(quarantined, SESSION_ID, how="left_anti")
    carried_on = lifecycle.continued(new, older, ws.foundation, ws.settings)
    columns = [SESSION_ID, USER_ID, "start_tstamp", "end_tstamp", "start_tstamp_date"]
    kept = older.unionByName(quarantined).join(carried_on, SESSION_ID, how="left_anti")
    rows, found = measured(
        carried_on.select(*columns).unionByName(kept.select(*columns)),
        {"sessions": F.count(F.lit(1))},
    )
    listener(Step("sessions", "done", rows=found["sessions"]))
    return ws.foundation.as_recorded(rows).select(*ws.foundation.lifecycle)


def _of(known: DataFrame, sessions: DataFrame) -> DataFrame:
    return known.join(sessions.distinct(), SESSION_ID, how="left_semi")


def _events_until(ws: Workspace, last: datetime) -> DataFrame:
    """The usable events that runs may have taken in, as the look for sessions takes them.

    `is_seen`: whether models see the event too.
    """
    settings, foundation = ws.settings, ws.foundation
    source = readable_source(ws, ())
    keeps, columns = F.lit(True), foundation.columns(settings)
    if foundation.keeps is not None:
        keeps, columns = foundation.keeps(), (*columns, *foundation.reads)
    scanned = scan(source, foundation, settings.begins_at, last, dict.fromkeys(columns))
    return scanned.where(foundation.is_usable(settings)).select(
        F.col(foundation.session).alias(SESSION_ID),
        F.col(foundation.user).alias(USER_ID),
        "event_id",
        F.col(settings.session_timestamp).alias("tstamp"),
        keeps.alias("is_seen"),
    )


def _sessions_in(events: DataFrame, ws: Workspace) -> DataFrame:
    """The sessions of the events, each with the user that runs would say.

    That is whom the events name that models see, up to the cap; where these name nobody, whom the
    others name. With `compat` it is of all events.
    """
    named = F.when(
        F.col("is_seen") & F.col(USER_ID).isNotNull(), F.struct("tstamp", "event_id", USER_ID)
    )
    found = lifecycle.sessions_with_new_events(events, ws.settings, first_seen=F.min(named))
    if not ws.settings.compat:
        cap = plus_days(F.col("start_tstamp"), ws.settings.max_session_days)
        seen = F.when(F.col("first_seen.tstamp") <= cap, F.col("first_seen").getField(USER_ID))
        found = found.withColumn(USER_ID, F.coalesce(seen, USER_ID))
    return found.drop("first_seen")
