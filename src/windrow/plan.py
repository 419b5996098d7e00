"""What a run would do, worked out without writing anything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from pyspark.errors import PySparkException
from pyspark.sql import functions as F

from windrow import manifest
from windrow.base import SESSION_ID
from windrow.columns.timestamps import from_micros, micros
from windrow.config import PackageSettings
from windrow.errors import ConfigError
from windrow.events import Source, check_columns, open_source
from windrow.limits import Limits, State, past_gap, run_limits, why_inverted
from windrow.model import Model
from windrow.selection import select as selected
from windrow.this_run import scan
from windrow.workspace import Workspace

_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True)
class ReadEstimate:
    """Files of the source, and their size."""

    files: int
    bytes: int


@dataclass(frozen=True)
class Plan:
    """The limits plus the models that would run."""

    package: str
    target: str
    now: datetime
    limits: Limits
    models: tuple[Model, ...]
    tracked: tuple[str, ...]
    positions: dict[str, datetime]
    nothing_because: str | None = None
    """Why the run would do nothing; None when there is something to do."""
    gap: tuple[datetime, datetime] | None = None
    """A stretch without usable events that the window reaches over."""
    reads: ReadEstimate | None = None
    """What of the source lies in the window; None when it was not asked for or cannot be told."""


def chosen_models(ws: Workspace, select: str | None, exclude: str | None) -> list[Model]:
    """The models to run: those selected, or else those of the option `models_to_run`, or all."""
    return selected(ws.models, select or ws.settings.models_to_run or None, exclude)


def make_plan(ws: Workspace, source: Source, models: Sequence[Model], now: datetime) -> Plan:
    """State, limits and models of the next run over these models."""
    tracked = tuple(name for member in models for name in member.tracked_names)
    positions = manifest.positions(ws.tables, ws.manifest)
    settings = ws.settings
    limits = run_limits(
        positions,
        tracked,
        start_date=settings.start_date,
        backfill_limit_days=settings.backfill_limit_days,
        lookback_window_hours=settings.lookback_window_hours,
        now=now,
    )
    plan = Plan(
        package=ws.package.name,
        target=ws.target,
        now=now,
        limits=limits,
        models=tuple(models),
        tracked=tracked,
        positions={name: positions[name] for name in tracked if name in positions},
    )
    if limits.is_inverted:
        if limits.state is State.NEW_MODEL:
            raise ConfigError(f"packages.{ws.package.name}.start_date: {why_inverted(limits)}")
        return replace(plan, nothing_because=why_inverted(limits))
    return plan if settings.compat else _over_gap(ws, source, plan)


def _over_gap(ws: Workspace, source: Source, plan: Plan) -> Plan:
    """The plan reaching to where events go on, when its window holds nothing new.

    The reference would read the same empty window for ever.
    """
    limits = plan.limits
    if not limits.is_cut_short:
        return plan
    after = limits.lower if limits.progress is None else limits.progress + _MICROSECOND
    if first_usable_event(ws, source, after, limits.upper) is not None:
        return plan
    found = first_usable_event(ws, source, limits.upper, limits.ceiling)
    reaching = past_gap(limits, found, backfill_limit_days=ws.settings.backfill_limit_days)
    return replace(plan, limits=reaching, gap=None if found is None else (after, found))


def first_usable_event(
    ws: Workspace, source: Source, first: datetime, last: datetime
) -> datetime | None:
    """The earliest collector time, in a closed stretch, of an event that a run would take in."""
    time = ws.settings.session_timestamp
    events = scan(source, ws.base, first, last, ws.base.columns(ws.settings)).where(
        ws.base.is_usable(ws.settings)
    )
    quarantined = ws.quarantined_sessions()
    if quarantined is not None:
        is_same = F.col(ws.base.session) == quarantined[SESSION_ID]
        events = events.join(quarantined, is_same, how="left_anti")
    return from_micros(events.agg(micros(F.min(time))).collect()[0][0])


def with_reads(plan: Plan, source: Source, settings: PackageSettings) -> Plan:
    """The plan with an estimate of what it reads: files that hold the window and its sessions."""
    earliest = plan.limits.lower - timedelta(days=settings.max_session_days)
    return replace(plan, reads=_estimate(source, earliest, plan.limits.upper))


def _estimate(source: Source, first: datetime, last: datetime) -> ReadEstimate | None:
    try:
        files = source.rows_between(first, last).select(
            "_metadata.file_path", "_metadata.file_size"
        )
    except PySparkException:
        # Not every source tells which file a row comes from.
        return None
    found = files.distinct().agg(F.count(F.lit(1)), F.sum("file_size")).collect()[0]
    return ReadEstimate(files=found[0], bytes=found[1] or 0)


def checked_source(ws: Workspace, models: Sequence[Model]) -> Source:
    """The events, after making sure that every column the models need is there."""
    source = open_source(ws.spark, ws.events, time_column=ws.settings.session_timestamp)
    options = ws.package.options_of_columns
    needed = {
        name: f"{options[name]} asks for it" if name in options else "every run needs it"
        for name in (*ws.base.columns(ws.settings), *ws.base.reads)
    }
    made = ws.base.made
    for member in models:
        for column in member.event_columns_for(ws.settings) or ():
            if column in made:
                continue
            option = options.get(column)
            reason = f"{option} asks for it" if option else f"model '{member.name}' needs it"
            needed.setdefault(column, reason)
    check_columns(source, needed)
    return source
