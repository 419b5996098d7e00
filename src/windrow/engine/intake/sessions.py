"""The sessions that a window touches."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from windrow.atomic.misfits import refuse_misfits
from windrow.atomic.source import Source
from windrow.columns.timestamps import from_micros, literal, micros, plus_days
from windrow.engine.intake import lifecycle, session_events
from windrow.engine.intake.values import Sessions, days_of_lives
from windrow.engine.key_days import KeyDays, keyed_sessions
from windrow.engine.workspace import Workspace
from windrow.models.foundation import SESSION_ID, USER_ID
from windrow.state.limits import Limits, State
from windrow.tables.days import day_ranges
from windrow.tables.frames import measured
from windrow.tables.observed import Observed


@dataclass(frozen=True)
class _Window:
    """What is learnt of the window's events while their sessions are looked for."""

    unreadable: Observed = field(default_factory=Observed)
    read: Observed = field(default_factory=Observed)
    taken: Observed = field(default_factory=Observed)


def find_sessions(
    ws: Workspace,
    source: Source,
    limits: Limits,
    key_days: KeyDays,
    only: Collection[str] = (),
) -> Sessions:
    settings = ws.settings
    is_meant = F.col(SESSION_ID).isin(*only) if only else F.lit(True)
    known = ws.known_sessions().where(is_meant)
    window = _Window()
    may_continue, is_late = known, limits.state is State.LATE
    if _is_replay(known, limits):
        new = known.limit(0).drop("start_tstamp_date")
    else:
        usable = _usable_events(ws, source, limits, window).where(is_meant)
        new = lifecycle.sessions_with_new_events(usable, settings)
        if is_late or key_days.covers(keyed_sessions(ws)):
            new, size = measured(new, {"sessions": F.count(F.lit(1))})
        if key_days.covers(keyed_sessions(ws)):
            on_days = key_days.bound(
                keyed_sessions(ws), new, [SESSION_ID], at_most=size["sessions"]
            )
            may_continue = known.where(on_days)
        if is_late:
            # The others of their days are none of this run's business.
            may_continue = may_continue.join(new.select(SESSION_ID), SESSION_ID, how="left_semi")
            known = may_continue

    earlier = lifecycle.earlier_rows(may_continue, limits, settings)
    is_moved = F.col("start_tstamp") < F.col("stored_start")
    life_before = F.struct(F.to_date("stored_start"), F.to_date("stored_end"))
    # Where there is a quarantine, sessions that reached their cap are in it.
    at_cap = None if ws.foundation.has_quarantine else Observed()
    continued, begun = measured(
        lifecycle.continued(new, earlier, ws.foundation, settings, at_cap=at_cap),
        {
            "sessions": F.count(F.lit(1)),
            "started_on": F.collect_set("start_tstamp_date"),
            "stored_on": F.collect_set(F.to_date("stored_start")),
            "moved": F.collect_set(F.when(is_moved, life_before)),
            "over_long": F.count_if(lifecycle.is_over_long(settings)),
        },
    )
    has_rows = begun["sessions"] > 0
    refuse_misfits(window.unreadable.figures(has_rows=has_rows))
    life = F.struct(F.to_date("start_tstamp"), F.to_date("end_tstamp"))
    this_runs, lives = measured(
        lifecycle.sessions_this_run(continued, known, limits, settings),
        {
            "sessions": F.count(F.lit(1)),
            "first": micros(F.min("start_tstamp")),
            "last": micros(F.max("end_tstamp")),
            "days": F.collect_set(F.to_date("start_tstamp")),
            "over_long": F.count_if(lifecycle.is_over_long(settings)),
            **({"lived_on": F.collect_set(life)} if is_late else {}),
        },
    )
    taken = window.taken.figures(has_rows=has_rows)
    reached = taken.pop("reached", None)
    found = window.read.figures(has_rows=has_rows) | taken
    counts = {"sessions_with_new_events": begun["sessions"], "sessions": lives["sessions"]}
    if not ws.foundation.has_quarantine:
        counts["capped"] = begun["over_long"]
    counts |= {f"window_{name}": number for name, number in found.items()}
    if "window_left_out" in counts:
        capped = [continued] if begun["over_long"] else []
        if at_cap is not None and at_cap.figures(has_rows=has_rows)["sessions"]:
            capped.append(earlier)
        counts["window_past_cap"] = sum(_past_cap(ws, source, limits, it) for it in capped)
        counts["window_left_out"] += counts["window_past_cap"]
        counts["window_left_out"] += counts.get("window_quarantined", 0)
    return Sessions(
        this_run=this_runs,
        continued=continued,
        first=from_micros(lives["first"]),
        last=from_micros(lives["last"]),
        days=(*lives["days"], *days_of_lives(begun["moved"])),
        lived_on=day_ranges(days_of_lives(lives.get("lived_on", ()))),
        reached=from_micros(reached),
        started_on=tuple(begun["started_on"]),
        stored_on=tuple(begun["stored_on"]),
        has_over_long=bool(begun["over_long"] or lives["over_long"]),
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
    reasons = foundation.left_out(settings)
    counted = {reason: F.count_if(is_so) for reason, is_so in reasons.items()}
    is_usable = foundation.is_usable(settings)
    counted["left_out"] = F.count_if(~F.coalesce(is_usable, F.lit(False)))
    read = window.read.over(scanned, {"events": F.count(F.lit(1)), **counted})
    usable = read.where(is_usable).select(
        F.col(foundation.session).alias(SESSION_ID),
        F.col(foundation.user).alias(USER_ID),
        "event_id",
        F.col(settings.session_timestamp).alias("tstamp"),
    )
    return _without_quarantined(usable, ws.quarantined_sessions(), window.taken)


def _past_cap(ws: Workspace, source: Source, limits: Limits, sessions: DataFrame) -> int:
    """How many of the window's usable events came after the cap of one of these sessions.

    Few sessions reach it, so that this is a look of its own, and rarely one.
    """
    settings, foundation = ws.settings, ws.foundation
    capped = sessions.where(lifecycle.is_over_long(settings)).select(
        F.col(SESSION_ID).alias(foundation.session), F.col("start_tstamp").alias("session_start")
    )
    events = session_events.scan(
        source, foundation, limits.lower, limits.upper, foundation.columns(settings)
    ).where(foundation.is_usable(settings))
    cap = plus_days(F.col("session_start"), settings.max_session_days)
    of_capped = events.join(capped, foundation.session, how="inner")
    return of_capped.where(F.col(settings.session_timestamp) > cap).count()


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
    """True when sessions beyond the window are known: all of the window was seen before.

    Where all models stand at one place, nothing was seen beyond it.
    """
    if limits.state.is_past or limits.state is State.STANDARD:
        return False
    later = (F.col("start_tstamp_date") >= F.lit(limits.upper.date())) & (
        F.col("start_tstamp") >= literal(limits.upper)
    )
    return not known.where(later).limit(1).isEmpty()
