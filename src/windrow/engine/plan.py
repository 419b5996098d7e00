"""What a run would do, worked out without writing anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from windrow.atomic.source import Source
from windrow.columns.timestamps import from_micros, micros
from windrow.engine.holding import Seen
from windrow.engine.intake import SHARED
from windrow.engine.intake.session_events import scan
from windrow.engine.late import Late, look_for_late
from windrow.engine.lost_state import (
    newest_event,
    refuse_ahead_of_source,
    refuse_left_behind,
    refuse_lost_state,
)
from windrow.engine.news import EventTimes, News, look_at_times, news_since, why_nothing
from windrow.engine.options import RunOptions
from windrow.engine.refresh import NOTHING_FRESH, Fresh, fresh_start
from windrow.engine.replaced_rows import looked_back
from windrow.engine.unbounded import unbounded
from windrow.engine.volumes import Volumes, event_files, table_volumes
from windrow.engine.workspace import Workspace
from windrow.errors import ConfigError
from windrow.models.base_names import without_base
from windrow.models.foundation import SESSION_ID
from windrow.models.model import Model
from windrow.models.selection import downstream
from windrow.models.selection import select as selected
from windrow.state.limits import MICROSECOND, Limits, State, past_gap, run_limits, why_inverted
from windrow.state.runs import RunRecord
from windrow.tables import FileSizes


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
    only: tuple[str, ...] = ()
    """The sessions that are processed, of a past window; empty: all of it."""
    fresh: Fresh = NOTHING_FRESH
    """What is forgotten and emptied first."""
    manifest: Mapping[str, datetime] = field(default_factory=dict)
    """All positions that the run finds, of models that take no part too."""
    times: EventTimes | None = None
    """The window's events by the hour; None when nobody looked."""
    settled_until: datetime | None = None
    """Before this, the window has just what the last run took in: sessions without a later event
    are left alone. None: every session of the window is processed again."""
    unbounded: Mapping[str, str] = field(default_factory=dict)
    """The project's own models whose cost grows with history, and why."""
    looks_back: Mapping[str, int] = field(default_factory=dict)
    """Models whose ids come back in other sessions, and how many days back these are found."""
    late: tuple[Plan, ...] = ()
    """What would be done, beside this plan, for events from before its window, loaded since."""
    arrived: DataFrame | None = None
    """Of a plan for late events: the stored rows that were loaded since."""
    late_events: int = 0
    """Of such a plan: how many usable events are late."""
    source_version: str | None = None
    """What the events were at when they were looked at; None: nobody did, or a later part will."""
    notes: tuple[str, ...] = ()
    """What whoever runs the package should know of the look at the events."""
    reads: FileSizes | None = None
    """The files of the events that it may open, at most; None when nobody asked or it cannot be
    told."""
    volumes: Volumes | None = None
    """What it would read and write of its tables; None when nobody asked."""

    @property
    def settled_sentence(self) -> str | None:
        """In words, which sessions of the window are left alone; None: none are."""
        if self.settled_until is None:
            return None
        return (
            f"Nothing from before {self.settled_until:%Y-%m-%d %H:%M:%S} is new: "
            "sessions without a later event stay as they are"
        )

    @property
    def window_events(self) -> int | None:
        """How many events the look for sessions finds; None when nobody counted."""
        if self.times is None:
            return None
        return self.times.count_since(self.settled_until or self.limits.lower)


def chosen_models(ws: Workspace, options: RunOptions) -> list[Model]:
    """The models to run: those selected, or else those of the option `models_to_run`, or all."""
    return selected(ws.meant_models, options.select or _models_to_run(ws), options.exclude)


def _models_to_run(ws: Workspace) -> str | None:
    """The option, without the tables of the base that a listing of the SQL packages has too."""
    listed = ws.settings.models_to_run.strip()
    found = without_base(listed)
    if listed and not found:
        raise ConfigError(
            f"packages.{ws.package.name}.models_to_run: '{listed}' names tables of the base alone, "
            "and no model. Add models that `windrow ls` lists, or leave the option out."
        )
    return found or None


def next_plan(
    ws: Workspace, seen: Seen, source: Source, options: RunOptions, now: datetime
) -> Plan:
    """What the next run does, and what it does beside that for models that lag; writes nothing."""
    models = chosen_models(ws, options)
    fresh = fresh_start(ws, models, seen.positions, options)
    positions = fresh.left_of(seen.positions)
    live, lagging = (models, []) if options.is_refresh else split_lagging(ws, models, positions)
    refuse_lost_state(ws, live + lagging, positions, now, is_after_undo=seen.is_after_undo)
    if not options.full_refresh:
        refuse_left_behind(ws, live + lagging, seen.left_behind())
    plan = replace(_plan(ws, source, live, positions, now, fresh.is_whole), fresh=fresh)
    plan = _with_news(ws, seen, source, plan, is_fresh=options.is_refresh)
    plan = _with_late(plan, look_for_late(ws, source, plan.limits, live))
    if not lagging:
        return plan
    # What lags comes to where the others will stand after this very run.
    expected = positions if plan.nothing_because else _expected(plan, positions)
    catch_up = _plan(ws, source, models, expected, now, fresh.is_whole, only=lagging)
    # Of the two, the first one that writes takes models out of the manifest, and says so.
    due = fresh if plan.nothing_because else NOTHING_FRESH
    late = look_for_late(ws, source, catch_up.limits, lagging, is_beside=True)
    catch_up = replace(_with_late(catch_up, late), manifest=positions, fresh=due)
    return replace(plan, catch_up=catch_up)


def _with_late(plan: Plan, late: Late) -> Plan:
    """The plan with a step beside it for each stretch of days that late events are of."""
    steps = [
        replace(
            plan,
            limits=step.limits,
            arrived=step.arrived,
            late_events=step.events,
            fresh=NOTHING_FRESH,
            nothing_because=None,
            gap=None,
            times=None,
            settled_until=None,
        )
        for step in late.steps
    ]
    if not steps:
        return replace(plan, source_version=late.version, notes=late.notes)
    # Whoever comes last says until where all is taken in.
    steps[-1] = replace(steps[-1], source_version=late.version)
    # The window's sessions may have late events too.
    return replace(plan, late=tuple(steps), notes=late.notes, settled_until=None)


def _with_news(ws: Workspace, seen: Seen, source: Source, plan: Plan, *, is_fresh: bool) -> Plan:
    """The plan after a look at the window's events; it does nothing if none of them is new."""
    limits = plan.limits
    if plan.nothing_because:
        return plan
    is_live = limits.state is State.STANDARD and not limits.is_cut_short
    times = look_at_times(source, limits, beyond=is_live)
    newest = times.newest if is_live else newest_event(source, plan.positions)
    refuse_ahead_of_source(ws, plan.positions, newest)
    if is_fresh:
        return replace(plan, times=times)
    news = news_since(ws, seen, plan.models, plan.positions, limits, times)
    return replace(
        plan,
        times=times,
        nothing_because=why_nothing(news, plan.models, limits, plan.now),
        settled_until=_settled_until(ws, plan, news),
    )


def _settled_until(ws: Workspace, plan: Plan, news: News | None) -> datetime | None:
    """Until where the window's sessions need not be processed again; None: they all are."""
    if news is None or news.since is None or news.since <= plan.limits.lower:
        return None
    # Who keeps the rows of a run wants those of all of its window.
    if ws.settings.keep_this_run or not ws.package.stands_alone(ws.settings):
        return None
    # Where events lay in several sessions, they will again: the look for them would be made twice.
    return None if news.run.counts.get(SHARED) else news.since


def next_lower(ws: Workspace, plan: Plan, moved: Mapping[str, datetime]) -> datetime:
    """Where the next run begins if this plan's models move as they do."""
    return _limits(ws, {**plan.positions, **moved}, plan.tracked, plan.now).lower


def split_lagging(
    ws: Workspace, models: Sequence[Model], positions: Mapping[str, datetime]
) -> tuple[list[Model], list[Model]]:
    """The models that stand where the furthest one does, and those that lag behind them.

    A model that gathers rows of one that lags is among both: it has its own, and takes the other's.
    With `replay: exclusive`, and in the reference, the former wait for the latter, so that none
    counts as lagging.
    """
    if ws.settings.replay == "exclusive" or ws.settings.compat:
        return list(models), []
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


def _expected(plan: Plan, positions: Mapping[str, datetime]) -> dict[str, datetime]:
    """The manifest as it will be at the most when the plan is carried out."""
    return {**positions, **dict.fromkeys(plan.tracked, plan.limits.upper)}


def caught_up_to(catch_up: Plan, manifest: Mapping[str, datetime]) -> Plan:
    """The catch-up once the others have run: to where they came, and from what they left."""
    known = [manifest[name] for name in catch_up.tracked if name in manifest]
    ahead = max(known, default=catch_up.limits.upper)
    limits = catch_up.limits
    return replace(
        standing_at(catch_up, manifest),
        limits=replace(limits, upper=min(limits.upper, ahead), ceiling=min(limits.ceiling, ahead)),
    )


def standing_at(plan: Plan, manifest: Mapping[str, datetime]) -> Plan:
    """The plan once a run before it has moved positions."""
    known = {name: manifest[name] for name in plan.tracked if name in manifest}
    return replace(plan, positions=known, manifest=manifest)


def _plan(
    ws: Workspace,
    source: Source,
    models: Sequence[Model],
    positions: Mapping[str, datetime],
    now: datetime,
    is_whole: bool,
    *,
    only: Sequence[Model] | None = None,
) -> Plan:
    """State, limits and models of a run over these models, or over `only` some of them."""
    tracked = tuple(name for member in models for name in member.tracked_names)
    limits = _limits(ws, positions, tracked, now)
    plan = Plan(
        package=ws.name,
        target=ws.target,
        now=now,
        limits=limits,
        models=tuple(models if only is None else only),
        tracked=tracked,
        positions={name: positions[name] for name in tracked if name in positions},
        manifest=dict(positions),
        unbounded=unbounded(ws, models if only is None else only),
        looks_back=looked_back(ws, models if only is None else only),
    )
    if limits.is_inverted:
        if limits.state is State.NEW_MODEL:
            raise ConfigError(f"packages.{ws.package.name}.start_date: {why_inverted(limits)}")
        return replace(plan, nothing_because=why_inverted(limits))
    if ws.settings.compat:
        return plan
    quarantined = None if is_whole else ws.quarantined_sessions()
    return _over_gap(ws, source, plan, quarantined)


def _limits(
    ws: Workspace, positions: Mapping[str, datetime], tracked: Sequence[str], now: datetime
) -> Limits:
    settings = ws.settings
    return run_limits(
        positions,
        tracked,
        start_date=settings.start_date,
        backfill_limit_days=settings.backfill_limit_days,
        lookback_window_hours=settings.lookback_window_hours,
        now=now,
        looks_back_before_start=settings.compat,
    )


def _over_gap(ws: Workspace, source: Source, plan: Plan, quarantined: DataFrame | None) -> Plan:
    """The plan reaching to where events go on, when its window holds nothing new.

    The reference would read the same empty window for ever.
    """
    limits = plan.limits
    if not limits.is_cut_short:
        return plan
    after = limits.lower if limits.progress is None else limits.progress + MICROSECOND
    if first_usable_event(ws, source, after, limits.upper, quarantined) is not None:
        return plan
    found = first_usable_event(ws, source, limits.upper, limits.ceiling, quarantined)
    reaching = past_gap(limits, found, backfill_limit_days=ws.settings.backfill_limit_days)
    return replace(plan, limits=reaching, gap=None if found is None else (after, found))


def first_usable_event(
    ws: Workspace,
    source: Source,
    first: datetime,
    last: datetime,
    quarantined: DataFrame | None,
) -> datetime | None:
    """The earliest collector time, in a closed stretch, of an event that a run would take in."""
    time = ws.settings.session_timestamp
    events = scan(source, ws.foundation, first, last, ws.foundation.columns(ws.settings)).where(
        ws.foundation.is_usable(ws.settings)
    )
    if quarantined is not None:
        is_same = F.col(ws.foundation.session) == quarantined[SESSION_ID]
        events = events.join(quarantined, is_same, how="left_anti")
    return from_micros(events.agg(micros(F.min(time))).collect()[0][0])


def with_reads(
    ws: Workspace, plan: Plan, source: Source, runs: Sequence[RunRecord], *, with_bytes: bool
) -> Plan:
    """The plan with the files that hold the window and its sessions; with bytes, those of tables.

    `runs`: the last ones, newest first.
    """
    limits = plan.limits
    earliest = limits.lower - timedelta(days=ws.settings.max_session_days)
    beside = plan.catch_up and with_reads(ws, plan.catch_up, source, runs, with_bytes=with_bytes)
    is_asked = with_bytes and not plan.nothing_because
    return replace(
        plan,
        reads=event_files(ws.spark, ws.events, source, earliest, limits.upper),
        volumes=table_volumes(ws, limits, plan.models, runs) if is_asked else None,
        catch_up=beside,
    )
