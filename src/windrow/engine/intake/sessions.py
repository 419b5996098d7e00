"""The sessions that a window touches."""

from __future__ import annotations

from dataclasses import dataclass, field

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from windrow.atomic.misfits import refuse_misfits
from windrow.atomic.source import Source
from windrow.columns.timestamps import from_micros, literal, micros
from windrow.engine.intake import lifecycle, session_events
from windrow.engine.intake.values import Sessions
from windrow.engine.workspace import Workspace
from windrow.models.foundation import SESSION_ID, USER_ID, is_of_app, is_on_time
from windrow.state.limits import Limits, State
from windrow.tables.frames import materialize
from windrow.tables.observed import Observed


@dataclass(frozen=True)
class _Window:
    """What is learnt of the window's events while their sessions are looked for."""

    unreadable: Observed = field(default_factory=Observed)
    read: Observed = field(default_factory=Observed)
    taken: Observed = field(default_factory=Observed)


def find_sessions(ws: Workspace, source: Source, limits: Limits) -> Sessions:
    settings = ws.settings
    known = ws.known_sessions()
    is_replay = limits.state is not State.RERUN and _is_replay(known, limits)
    window = _Window()
    if is_replay:
        new = known.limit(0).drop("start_tstamp_date")
    else:
        usable = _usable_events(ws, source, limits, window)
        new = lifecycle.sessions_with_new_events(usable, settings)

    earlier = lifecycle.earlier_rows(known, limits, settings)
    continued = materialize(lifecycle.continued(new, earlier, ws.foundation, settings))
    begun = continued.agg(
        F.count(F.lit(1)),
        F.collect_set("start_tstamp_date"),
        F.count_if(lifecycle.is_over_long(settings)),
    ).collect()[0]
    has_rows = begun[0] > 0
    refuse_misfits(window.unreadable.figures(has_rows=has_rows))
    this_runs = materialize(lifecycle.sessions_this_run(continued, known, limits, settings))
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
    taken = window.taken.figures(has_rows=has_rows)
    reached = taken.pop("reached", None)
    found = window.read.figures(has_rows=has_rows) | taken
    counts |= {f"window_{name}": number for name, number in found.items()}
    return Sessions(
        this_run=this_runs,
        continued=continued,
        first=from_micros(lives[1]),
        last=from_micros(lives[2]),
        days=tuple(lives[3]),
        reached=from_micros(reached),
        started_on=tuple(begun[1]),
        counts=counts,
    )


def _usable_events(ws: Workspace, source: Source, limits: Limits, window: _Window) -> DataFrame:
    """The window's usable events of sessions that are not quarantined; the others are counted."""
    settings, foundation = ws.settings, ws.foundation
    scanned = session_events.scan(
        source,
        foundation,
        limits.lower,
        limits.upper,
        foundation.columns(settings),
        unreadable=window.unreadable,
    )
    in_session = F.col(foundation.session).isNotNull()
    reasons = {
        "without_session": ~in_session,
        "absurd_time": in_session & ~foundation.has_possible_times(settings),
        "too_late": in_session & ~F.coalesce(is_on_time(settings), F.lit(False)),
        "other_app": in_session & ~F.coalesce(is_of_app(settings), F.lit(False)),
    }
    if foundation.platforms:
        reasons["other_platform"] = in_session & ~F.coalesce(
            foundation.is_of_platform(), F.lit(False)
        )
    counted = {reason: F.count_if(is_so) for reason, is_so in reasons.items()}
    read = window.read.over(scanned, {"events": F.count(F.lit(1)), **counted})
    usable = read.where(foundation.is_usable(settings)).select(
        F.col(foundation.session).alias(SESSION_ID),
        F.col(foundation.user).alias(USER_ID),
        "event_id",
        F.col(settings.session_timestamp).alias("tstamp"),
    )
    return _without_quarantined(usable, ws.quarantined_sessions(), window.taken)


def _without_quarantined(
    events: DataFrame, quarantined: DataFrame | None, taken: Observed
) -> DataFrame:
    """The events that are left, measured: how far they reach, and how many are not left."""
    if quarantined is None:
        return taken.over(events, {"reached": micros(F.max("tstamp"))})
    marked = events.join(
        quarantined.withColumn("is_quarantined", F.lit(True)), SESSION_ID, how="left"
    )
    is_left = F.col("is_quarantined").isNull()
    measures = {
        "reached": micros(F.max(F.when(is_left, F.col("tstamp")))),
        "quarantined": F.count_if(~is_left),
    }
    return taken.over(marked, measures).where(is_left).drop("is_quarantined")


def _is_replay(known: DataFrame, limits: Limits) -> bool:
    """True when sessions beyond the window are known: all of the window was seen before."""
    later = (F.col("start_tstamp_date") >= F.lit(limits.upper.date())) & (
        F.col("start_tstamp") >= literal(limits.upper)
    )
    return not known.where(later).limit(1).isEmpty()
