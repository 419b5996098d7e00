"""Files and bytes of a run that has not been made: what of each table it would read and write.

What is read follows from the days of the window, and from the formats' own lists of files. What is
written cannot be known before: it is what the last run of the same kind wrote.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from pyspark.sql import DataFrame, SparkSession

from windrow.atomic.source import Source
from windrow.config import EventsSource
from windrow.engine.destination import Destination
from windrow.engine.workspace import Workspace
from windrow.models.model import Model
from windrow.state.limits import Limits
from windrow.state.runs import RunRecord
from windrow.tables import FileSizes
from windrow.tables.days import DayRange
from windrow.tables.file_sizes import files_of, iceberg_files
from windrow.tables.refusals import REFUSALS
from windrow.tables.sql import quoted_parts

_NEWEST_COMMITS = 10
"""The last run's are among them, with upkeep and a command's second run after it."""
_AT_ONCE = 4
_DAY = timedelta(days=1)


@dataclass(frozen=True)
class TableVolume:
    """What of one table a run would read and write."""

    table: str
    reads: FileSizes | None = None
    """The files on the days that the run touches; None: none of its own, or not to be told."""
    writes: FileSizes | None = None
    """What the last such run wrote; None: there was none, or it did not write there."""


@dataclass(frozen=True)
class Volumes:
    """What a run would read and write, table by table, the events aside."""

    tables: tuple[TableVolume, ...]
    like: str | None
    """The run that wrote what this one is taken to write; None: there was none like it."""


def event_files(
    spark: SparkSession, place: EventsSource | None, source: Source, first: datetime, last: datetime
) -> FileSizes | None:
    """The files of the events that a stretch of collector time may lie in."""
    # Lines have no time before they are read, so that all are.
    rows = source.rows_between(first, last) if source.lines is None else source.lines
    found = files_of(rows)
    if found is not None or place is None:
        return found
    try:
        return iceberg_files(_list_of_files(spark, place), source.time_column, [(first, last)])
    except REFUSALS:
        # Not Iceberg either: a view, perhaps.
        return None


def _list_of_files(spark: SparkSession, place: EventsSource) -> DataFrame:
    if place.table is not None:
        return spark.table(f"{quoted_parts(place.table)}.files")
    return spark.read.format("iceberg").load(f"{place.path}#files")


def table_volumes(
    ws: Workspace, limits: Limits, models: Sequence[Model], runs: Iterable[RunRecord]
) -> Volumes:
    """What a run over a window would read and write of the tables that its models have."""
    like = _last_like_it(runs, limits, models)
    sessions = [ws.lifecycle_destination] if ws.foundation.has_sessions else []
    stored = [member for member in models if member.kind != "this_run"]
    # Those that are made anew as a whole are not read first.
    rebuilt = {ws.table(member) for member in stored if member.kind == "rebuilt"}
    look = partial(_volume, ws, limits, like, rebuilt)
    with ThreadPoolExecutor(max_workers=_AT_ONCE) as pool:
        found = pool.map(look, [*sessions, *map(ws.destination, stored)])
        return Volumes(tuple(found), None if like is None else like.run_id)


def _last_like_it(
    runs: Iterable[RunRecord], limits: Limits, models: Sequence[Model]
) -> RunRecord | None:
    """The newest run in the same state of the same models, whose rows are stored."""
    names = {member.full_name for member in models}
    for run in runs:
        is_alike = run.is_alike(limits.state.value, names)
        if is_alike and run.outcome.is_kept and not run.only_sessions:
            return run
    return None


def _volume(
    ws: Workspace,
    limits: Limits,
    like: RunRecord | None,
    rebuilt: Iterable[object],
    destination: Destination,
) -> TableVolume:
    table = destination.table
    if not ws.tables.exists(table):
        return TableVolume(str(table), reads=FileSizes(0, 0))
    reads = None
    if table not in rebuilt:
        columns = ws.tables.columns(table)
        day = destination.day_column(columns)
        days = touched_days(limits, like, table.name)
        reads = ws.tables.files_on(table, day if day in columns else None, days)
    writes = None
    if like is not None:
        for commit in ws.tables.history(table, newest=_NEWEST_COMMITS):
            if commit.run_id == like.run_id and commit.bytes_added is not None:
                added = FileSizes(commit.files_added or 0, commit.bytes_added)
                writes = added if writes is None else writes + added
    return TableVolume(str(table), reads, writes)


def touched_days(limits: Limits, like: RunRecord | None, table: str) -> list[DayRange]:
    """The window's days, and as old ones as the last such run wrote to before its own window.

    Sessions go on from the days before, and users lie where their first visit does.
    """
    window = DayRange(limits.lower.date(), limits.upper.date())
    if like is None or like.lower_limit is None:
        return [window]
    before = like.lower_limit.date() - _DAY
    older = [
        DayRange(it.first, min(it.last, before))
        for it in like.written_days.get(table, ())
        if it.first <= before
    ]
    return [*older, window]
