"""Events that were loaded late: from before the window, and added to the source since the last run.

A run's window is one of collector time. What was committed since the version of the source that
the last run saw, and is older than the window, would be seen by nobody. Its sessions are processed
whole in a run of their own beside the other, as a release from quarantine is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from windrow.atomic.arrivals import Arrived, history_of
from windrow.atomic.source import Source, reading_events
from windrow.columns.timestamps import literal
from windrow.engine.intake.session_events import scan
from windrow.engine.workspace import Workspace
from windrow.models.foundation import SESSION_ID
from windrow.models.model import Model
from windrow.state.covering import consumed_versions
from windrow.state.limits import Limits, State, late_limits


@dataclass(frozen=True)
class LateStep:
    """A stretch of days that late events are of, no longer than a run may be."""

    limits: Limits
    arrived: DataFrame
    """The stored rows that were added to the source, of other days too."""
    events: int
    """How many usable ones there are of these days."""


@dataclass(frozen=True)
class Late:
    """What a look at the source's history found."""

    version: str | None = None
    """What the source is at; None: collector time alone decides what is new."""
    steps: tuple[LateStep, ...] = ()
    notes: tuple[str, ...] = ()
    """Why not all can be told, if that is so."""


NOTHING_LATE = Late()


def look_for_late(
    ws: Workspace,
    source: Source,
    limits: Limits,
    models: Sequence[Model],
    *,
    is_beside: bool = False,
) -> Late:
    """The late events of a run with these limits over these models, if the source can tell.

    `is_beside`: the models lag and the others do not wait for them. Where they do wait, and in the
    reference, collector time decides.
    """
    is_live = is_beside or limits.state in (State.FIRST_RUN, State.STANDARD)
    if ws.events is None or ws.settings.compat or not is_live or limits.is_inverted:
        return NOTHING_LATE
    # Where the window begins at the start date, nothing is older.
    before = None if limits.progress is None else limits.lower
    version, arrived = _arrived(ws, source, models, before)
    notes = (arrived.notice,) if arrived.notice else ()
    if arrived.rows is None:
        return Late(version, notes=notes)
    by_day = _late_events(ws, source.holding(arrived.rows), limits.lower)
    steps = late_limits(
        by_day, before=limits.lower, backfill_limit_days=ws.settings.backfill_limit_days
    )
    return Late(
        version,
        tuple(LateStep(it, arrived.rows, _number_in(by_day, it)) for it in steps),
        notes,
    )


def waiting_rows(
    ws: Workspace, source: Source, models: Sequence[Model], before: datetime
) -> DataFrame | None:
    """Stored rows that were added since these models' last run, where that makes them new.

    Those from before a moment are among them; where load times decide, so are some that came
    shortly before that run. None: there are none, or collector time decides.
    """
    if ws.events is None or ws.settings.compat:
        return None
    return _arrived(ws, source, models, before)[1].rows


def _arrived(
    ws: Workspace, source: Source, models: Sequence[Model], before: datetime | None
) -> tuple[str | None, Arrived]:
    """What the source is at, and what came since these models took in late events.

    `before`: only what may hold events from before that moment; None: nothing is so old.
    """
    assert ws.events is not None
    history = history_of(ws.spark, ws.events, source)
    if history is None:
        return None, Arrived()
    names = [member.full_name for member in models if member.tracked_names]
    consumed = {} if before is None else consumed_versions(ws.runs, ws.lease_name, names)
    oldest = next(iter(consumed.values()), None)
    version = source.version if ws.events.new_by == "commit" else history.version(oldest)
    if version is None or oldest is None or before is None:
        return version, Arrived()
    return version, history.since(oldest, until=version, before=before)


def _number_in(by_day: dict[date, int], limits: Limits) -> int:
    first, last = limits.lower.date(), limits.upper.date()
    return sum(number for day, number in by_day.items() if first <= day <= last)


def _late_events(ws: Workspace, arrived: Source, before: datetime) -> dict[date, int]:
    """How many usable events of each day, from the start date to before a moment, are there."""
    foundation, settings = ws.foundation, ws.settings
    columns = foundation.columns(settings)
    events = scan(arrived, foundation, settings.begins_at, before, columns).where(
        foundation.is_usable(settings) & (F.col(settings.session_timestamp) < literal(before))
    )
    quarantined = ws.quarantined_sessions()
    if quarantined is not None:
        is_same = F.col(foundation.session) == quarantined[SESSION_ID]
        events = events.join(quarantined, is_same, how="left_anti")
    by_day = events.groupBy(F.to_date(settings.session_timestamp).alias("day")).count()
    with reading_events():
        return {row["day"]: row["count"] for row in by_day.collect()}
