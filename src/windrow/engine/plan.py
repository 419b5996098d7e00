"""What a run would do, worked out without writing anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from pyspark.errors import PySparkException
from pyspark.sql import functions as F

from windrow.atomic.source import Source, check_columns, check_readable, open_source
from windrow.columns.timestamps import from_micros, micros
from windrow.config import PackageSettings
from windrow.engine.intake.session_events import scan
from windrow.engine.workspace import Workspace
from windrow.errors import ConfigError
from windrow.models.foundation import SESSION_ID
from windrow.models.model import Model
from windrow.models.selection import downstream
from windrow.models.selection import select as selected
from windrow.state import manifest
from windrow.state.limits import Limits, State, past_gap, run_limits, why_inverted

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
    catch_up: Plan | None = None
    """What would be done, beside this plan, for models that lag behind the others."""
    rerun: tuple[datetime, datetime] | None = None
    """The whole past window that was asked for, of which this plan is a step."""
    reads: ReadEstimate | None = None
    """What of the source lies in the window; None when it was not asked for or cannot be told."""


def chosen_models(ws: Workspace, select: str | None, exclude: str | None) -> list[Model]:
    """The models to run: those selected, or else those of the option `models_to_run`, or all."""
    return selected(ws.meant_models, select or ws.settings.models_to_run or None, exclude)


def parted(ws: Workspace, models: Sequence[Model]) -> tuple[list[Model], list[Model]]:
    """The models that stand where the furthest one does, and those that lag behind them.

    A model that gathers rows of one that lags is among both: it has its own, and takes the other's.
    With `replay: exclusive`, and in the reference, the former wait for the latter: none is parted.
    """
    if ws.settings.replay == "exclusive" or ws.settings.compat:
        return list(models), []
    removed = set(ws.settings.models_to_remove)
    found = manifest.positions(ws.tables, ws.manifest)
    positions = {name: at for name, at in found.items() if name not in removed}
    tracked = [name for member in models for name in member.tracked_names]
    ahead = max((positions[name] for name in tracked if name in positions), default=None)
    if ahead is None:
        return list(models), []
    behind = [m for m in models if any(positions.get(n) != ahead for n in m.tracked_names)]
    # What is rebuilt from tables that are caught up is rebuilt after that.
    lagging = [m for m in downstream(models, behind) if m in behind or not m.tracked_names]
    live = [member for member in models if member not in lagging]
    if not any(member.tracked_names for member in live):
        return list(models), []
    names = {member.name for member in lagging}
    return live, [m for m in models if m in lagging or names & set(m.gathers)]


def next_plan(ws: Workspace, source: Source, models: Sequence[Model], now: datetime) -> Plan:
    """What the next run over these models does, and what it does beside that for those that lag."""
    live, lagging = parted(ws, models)
    if not lagging:
        return make_plan(ws, source, models, now)
    catch_up = make_plan(ws, source, models, now, only=lagging)
    return replace(make_plan(ws, source, live, now), catch_up=catch_up)


def make_plan(
    ws: Workspace,
    source: Source,
    models: Sequence[Model],
    now: datetime,
    *,
    only: Sequence[Model] | None = None,
) -> Plan:
    """State, limits and models of the next run over these models, or over `only` some of them."""
    tracked = tuple(name for member in models for name in member.tracked_names)
    positions = manifest.positions(ws.tables, ws.manifest)
    limits = _limits(ws, positions, tracked, now)
    plan = Plan(
        package=ws.name,
        target=ws.target,
        now=now,
        limits=limits,
        models=tuple(models if only is None else only),
        tracked=tracked,
        positions={name: positions[name] for name in tracked if name in positions},
    )
    if limits.is_inverted:
        if limits.state is State.NEW_MODEL:
            raise ConfigError(f"packages.{ws.package.name}.start_date: {why_inverted(limits)}")
        return replace(plan, nothing_because=why_inverted(limits))
    return plan if ws.settings.compat else _over_gap(ws, source, plan)


def next_limits(ws: Workspace, models: Sequence[Model], now: datetime) -> Limits:
    """The limits of the next run over those of the models that do not lag; looks at no event."""
    live, _ = parted(ws, models)
    tracked = [name for member in live for name in member.tracked_names]
    return _limits(ws, manifest.positions(ws.tables, ws.manifest), tracked, now)


def _limits(
    ws: Workspace, positions: Mapping[str, datetime], tracked: Sequence[str], now: datetime
) -> Limits:
    return run_limits(
        positions,
        tracked,
        start_date=ws.settings.start_date,
        backfill_limit_days=ws.settings.backfill_limit_days,
        lookback_window_hours=ws.settings.lookback_window_hours,
        now=now,
    )


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
    events = scan(source, ws.foundation, first, last, ws.foundation.columns(ws.settings)).where(
        ws.foundation.is_usable(ws.settings)
    )
    quarantined = ws.quarantined_sessions()
    if quarantined is not None:
        is_same = F.col(ws.foundation.session) == quarantined[SESSION_ID]
        events = events.join(quarantined, is_same, how="left_anti")
    return from_micros(events.agg(micros(F.min(time))).collect()[0][0])


def with_reads(plan: Plan, source: Source, settings: PackageSettings) -> Plan:
    """The plan with an estimate of what it reads: files that hold the window and its sessions."""
    earliest = plan.limits.lower - timedelta(days=settings.max_session_days)
    beside = plan.catch_up and with_reads(plan.catch_up, source, settings)
    reads = _estimate(source, earliest, plan.limits.upper)
    return replace(plan, reads=reads, catch_up=beside)


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


def readable_source(ws: Workspace, models: Sequence[Model]) -> Source:
    """The events, after reading one of them: what a run must know before it writes anything."""
    source = checked_source(ws, models)
    check_readable(source)
    return source


def checked_source(ws: Workspace, models: Sequence[Model]) -> Source:
    """The events, after making sure that every column the models need is there."""
    foundation = ws.foundation
    source = open_source(
        ws.spark,
        ws.events,
        time_column=ws.settings.session_timestamp,
        reshape=foundation.reshapes,
    )
    source = replace(source.with_nulls(foundation.may_lack), kept=ws.kept_events)
    needed = dict.fromkeys(
        (*foundation.columns(ws.settings), *foundation.reads), "every run needs it"
    )
    made = foundation.made
    for member in models:
        for column in member.event_columns_for(ws.settings_of(member)) or ():
            if column not in made:
                needed.setdefault(column, f"model '{member.name}' needs it")
    for column in set(needed) & set(ws.options_of_columns):
        needed[column] = f"{ws.options_of_columns[column]} asks for it"
    check_columns(source, needed)
    return source
