"""All that a report tells of a project: looked up in few queries, and kept as plain values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from windrow.columns.rules import column, rule_of
from windrow.engine.workspace import Workspace
from windrow.models.model import UNDECLARED, Model
from windrow.operations.status import PackageStatus, package_status
from windrow.state.records import collect_together
from windrow.tables import Columns
from windrow.tables.days import DayRange, at_times, on_days
from windrow.tables.sql import quoted

RUNS = 100
DAYS = 60
_COMMITS_OF_A_RUN = 3
"""As many as a table has from one run, or a few more."""
MOST_COUNTED = 8
"""Tables of a package whose rows are counted by day: a normalize project may have hundreds."""


@dataclass(frozen=True)
class TableFacts:
    """A model of a package, and the columns of its table."""

    model: Model
    columns: Columns
    """Those declared, with their rules, and those that only the stored table tells."""
    partition_by: tuple[str, ...] = ()


@dataclass(frozen=True)
class DailyRows:
    """How many rows a table has on each day of a stretch; days without rows are not there."""

    model: str
    rows: Mapping[date, int]


@dataclass(frozen=True)
class PackageOverview:
    """One package: where it stands, how its runs went, what its tables are and hold."""

    status: PackageStatus
    """With as many of the last runs as were asked for."""
    tables: tuple[TableFacts, ...]
    """All models, each after those it reads."""
    days: DayRange | None = None
    """The stretch whose rows were counted; None before the first run."""
    daily: tuple[DailyRows, ...] = ()
    with_day: int = 0
    """How many tables have a day; no more than MOST_COUNTED are counted."""
    written: Mapping[str, Mapping[str, int]] | None = None
    """Run -> table -> bytes that it wrote there; None where nobody asked for it."""
    steady: str | None = None
    """The model whose table has rows on every day, unless events are missing; None: there is
    none."""


@dataclass(frozen=True)
class Overview:
    """A project on one target, seen without writing anything."""

    project: str
    target: str
    format: str
    now: datetime
    """The clock that lags are told by."""
    packages: tuple[PackageOverview, ...]


def package_overview(
    ws: Workspace, now: datetime, *, runs: int, days: int, with_bytes: bool = False
) -> PackageOverview:
    """Look at one package: its status, its ledger, and the last days of its tables.

    With bytes, at the histories of its tables too: a query or two for each.
    """
    status = package_status(ws, now, last_runs=runs)
    stretch = _last_days(status.positions.values(), days)
    dated = _dated_models(ws)
    counted = dated[:MOST_COUNTED]
    return PackageOverview(
        status=status,
        tables=tuple(_facts(ws, member) for member in ws.meant_models),
        days=stretch,
        daily=() if stretch is None else _daily_rows(ws, counted, stretch),
        with_day=len(dated),
        written=_written_bytes(ws, newest=runs * _COMMITS_OF_A_RUN) if with_bytes else None,
        steady=next((m.name for m in counted if m.name == ws.package.sessions), None),
    )


def _written_bytes(ws: Workspace, newest: int) -> dict[str, dict[str, int]]:
    """How many bytes each run wrote into each table, as the formats' own histories have it."""
    models = [m for m in ws.meant_models if m.kind != "this_run"]
    names = [ws.table(m) for m in models if ws.tables.exists(ws.table(m))]
    with ThreadPoolExecutor(max_workers=4) as pool:
        histories = pool.map(lambda table: ws.tables.history(table, newest=newest), names)
    found: dict[str, dict[str, int]] = {}
    for table, commits in zip(names, histories, strict=True):
        for commit in commits:
            if commit.run_id is not None and commit.bytes_added is not None:
                of_run = found.setdefault(commit.run_id, {})
                of_run[table.name] = of_run.get(table.name, 0) + commit.bytes_added
    return found


def _last_days(reached: Iterable[datetime], days: int) -> DayRange | None:
    """The days up to the one that was reached: a clock far ahead of the data finds no rows."""
    last = max(reached, default=None)
    if last is None:
        return None
    return DayRange(last.date() - timedelta(days=days - 1), last.date())


def _facts(ws: Workspace, member: Model) -> TableFacts:
    declared = dict(member.columns_for(ws.settings_of(member)) or {})
    table = ws.table(member)
    if member.kind == "this_run" or not ws.tables.exists(table):
        return TableFacts(member, declared)
    # A schema, known without a query. What the model says of a column is newer than its comment.
    found = {
        it.name: column(
            it.dataType.simpleString(),
            rule_of(declared.get(it.name, UNDECLARED)) or it.metadata.get("comment", ""),
        )
        for it in ws.tables.read(table).schema.fields
    }
    own = {name: kind for name, kind in declared.items() if name not in found}
    return TableFacts(member, found | own, tuple(sorted(ws.tables.partitions(table))))


def _dated_models(ws: Workspace) -> list[Model]:
    """The models whose stored rows lie on days, the one of sessions first."""
    dated = [
        member
        for member in ws.meant_models
        if member.kind == "incremental" and member.date is not None and not member.is_state
    ]
    dated.sort(key=lambda member: member.name != ws.package.sessions)
    return [member for member in dated if ws.tables.exists(ws.table(member))]


def _daily_rows(
    ws: Workspace, members: Iterable[Model], stretch: DayRange
) -> tuple[DailyRows, ...]:
    """How many rows each table has by day, in one query; literal days keep other files unread."""
    counts = [it for member in members if (it := _by_day(ws, member, stretch)) is not None]
    if not counts:
        return ()
    together = reduce(DataFrame.unionByName, counts)
    found: dict[str, dict[date, int]] = {member.name: {} for member in members}
    for model, day, rows in collect_together({"rows": together})["rows"]:
        found[model][day] = rows
    return tuple(DailyRows(model, rows) for model, rows in found.items())


def _by_day(ws: Workspace, member: Model, stretch: DayRange) -> DataFrame | None:
    """None for a table that lost its day: the next run says what to do."""
    rows = ws.tables.read(ws.table(member))
    columns = dict(rows.dtypes)
    day = ws.destination(member).day_column(columns)
    if day is None or day not in columns:
        return None
    bound = on_days if columns[day] == "date" else at_times
    within = rows.where(bound(quoted(day), [stretch], or_null=False))
    counted = within.groupBy(F.to_date(F.col(day)).alias("day")).agg(F.count("*").alias("rows"))
    return counted.select(F.lit(member.name).alias("model"), "day", "rows")
