"""The events of a window, for a package without sessions."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from windrow.atomic.misfits import refuse_misfits
from windrow.atomic.source import Source
from windrow.columns.timestamps import from_micros, micros
from windrow.engine.intake import session_events
from windrow.engine.intake.copies import NTH_COPY, first_copies, has_any
from windrow.engine.intake.gather import columns_read, counts_of_malformed
from windrow.engine.intake.values import Intake
from windrow.engine.workspace import Workspace
from windrow.state.limits import Limits
from windrow.tables.frames import adding, frame_of, kept
from windrow.tables.observed import Observed

MOST_NAMES = 10_000
"""Of more names of events it is not asked which models look at none of them: all models run."""


def events_of_window(
    ws: Workspace,
    source: Source,
    limits: Limits,
    event_columns: Iterable[str] | None,
    settled: DataFrame | None = None,
) -> Intake | None:
    """Every usable event of the window, each once: the base of a package without sessions.

    `settled`: ids of events from before. None: one of them is a copy of one of these, and which of
    the two counts is not known here.
    """
    settings, foundation = ws.settings, ws.foundation
    wanted = columns_read(ws, source, event_columns)
    read, taken, unreadable = Observed(), Observed(), Observed()
    scanned = session_events.scan(
        source, foundation, limits.lower, limits.upper, wanted, unreadable=unreadable
    )
    reasons = foundation.left_out(settings)
    counted = {reason: F.count_if(is_so) for reason, is_so in reasons.items()}
    is_usable = foundation.is_usable(settings)
    counted["left_out"] = F.count_if(~F.coalesce(is_usable, F.lit(False)))
    measures = {"events": F.count(F.lit(1)), **counted}
    usable = read.over(scanned, measures).where(is_usable)
    meant = usable if foundation.keeps is None else usable.where(foundation.keeps())
    added = taken.over(adding(meant, foundation.adds()), {"events": F.count(F.lit(1))})
    cached = kept(first_copies(added, ["event_id"], "collector_tstamp"))
    events = cached.drop(NTH_COPY)
    name = F.col("event_name") if "event_name" in events.columns else F.lit(None).cast("string")
    totals = events.agg(
        F.count(F.lit(1)).alias("events"),
        micros(F.max(settings.session_timestamp)).alias("reached"),
        F.collect_set(F.to_date("collector_tstamp")).alias("days"),
        F.slice(F.collect_set(name), 1, MOST_NAMES + 1).alias("names"),
    ).collect()[0]
    has_rows = totals["events"] > 0
    if settled is not None and has_rows and has_any(settled, events):
        cached.unpersist()
        return None
    is_known = "event_name" in events.columns and len(totals["names"]) <= MOST_NAMES
    bad = unreadable.figures(has_rows=has_rows)
    refuse_misfits(bad)
    counts = {f"window_{name}": value for name, value in read.figures(has_rows=has_rows).items()}
    counts |= {
        "events": totals["events"],
        "duplicates": taken.figures(has_rows=has_rows)["events"] - totals["events"],
    }
    counts |= counts_of_malformed(source, bad)
    nobody = frame_of(ws.spark, [], foundation.lifecycle)
    users = nobody.select(F.col(foundation.recorded_user).alias(foundation.user))
    return Intake(
        sessions=foundation.from_record(nobody),
        found=None,
        users=users,
        everyone=users,
        events=events,
        reached=from_micros(totals["reached"]),
        days=tuple(totals["days"]),
        counts=counts,
        cached=cached,
        event_names=frozenset(totals["names"]) if is_known else None,
    )
