"""The rows of an id that derived tables have now, looked for on the days on which they can lie."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F

from windrow.columns.timestamps import from_micros, micros
from windrow.engine.destination import condition
from windrow.engine.key_days import KeyDays, keyed_by_user, models_by_user
from windrow.engine.workspace import Workspace
from windrow.models.model import Model
from windrow.operations.explain.values import TableRows
from windrow.state.records import collect_together
from windrow.state.runs import RunRecord
from windrow.tables import Columns
from windrow.tables.days import DayRange, day_ranges
from windrow.tables.frames import frame_of
from windrow.tables.sql import quoted


@dataclass(frozen=True)
class Look:
    """A table to look into: for which value of which column, and under which bound."""

    model: Model
    column: str
    value: str
    columns: Columns
    day: str | None
    bound: str | None
    """A condition on the day; None: all of its files are looked into."""

    def found_in(self, rows: DataFrame) -> DataFrame:
        """How many rows there are, the first of them and the last."""
        row = F.struct(*(self._plain(name) for name in self.shown))
        return self.matching(rows).agg(
            F.count(F.lit(1)).alias("rows"), F.min(row).alias("first"), F.max(row).alias("last")
        )

    def matching(self, rows: DataFrame) -> DataFrame:
        """Those of the table's rows, as they are or as they were, that are meant."""
        meant = rows.where(F.col(quoted(self.column)) == F.lit(self.value))
        return meant if self.bound is None else meant.where(self.bound)

    @property
    def shown(self) -> list[str]:
        """The columns that tell a row from others: when it was first, so that rows are in order."""
        date = self.model.date
        dated = [date] if date is not None and date in self.columns else []
        day = [self.day] if self.day is not None else []
        return list(dict.fromkeys((*dated, *self.model.key, *day)))

    def _plain(self, name: str) -> Column:
        column = F.col(quoted(name))
        return (micros(column) if self.columns[name] == "timestamp" else column).alias(name)

    def sample(self, row: Row) -> dict[str, Any]:
        """A row as it was found, with instants."""
        is_instant = {name for name in self.shown if self.columns[name] == "timestamp"}
        return {
            name: from_micros(value) if name in is_instant else value
            for name, value in row.asDict().items()
        }

    def day_of(self, row: Mapping[str, Any]) -> date | None:
        """The day on which a row lies."""
        at = None if self.day is None else row[self.day]
        return at.date() if isinstance(at, datetime) else at


def looks_on_days(
    ws: Workspace, column: str, value: str, days: Sequence[date], *, only: Model | None = None
) -> Iterator[Look]:
    """Into every table that has the column, on some days: rows of the events in question lie there.

    A table without days is left out, unless the column is its key: nothing says where to look.
    """
    ranges = day_ranges(days, before=1, after=1)
    for member in ws.meant_models:
        if member.kind == "this_run" or (only is not None and member is not only):
            continue
        if (plain := _look(ws, member, column, value)) is None:
            continue
        if plain.day is not None:
            kind = plain.columns[plain.day]
            bound = condition(quoted(plain.day), kind, ranges, or_null=True)
            yield _bounded(plain, bound)
        elif member.key == (column,):
            yield plain


def looks_by_user(ws: Workspace, key_days: KeyDays, user: str) -> Iterator[Look]:
    """Into the tables that runs look users up in, on the days that are known of the user."""
    column = ws.foundation.user
    keys = frame_of(ws.spark, [[user]], {column: "string"})
    looked_up = models_by_user(ws)
    for member in ws.meant_models:
        plain = _look(ws, member, column, user)
        if plain is None or member.kind == "this_run":
            continue
        keyed = keyed_by_user(ws, member) if member in looked_up else None
        if keyed is not None and key_days.covers(keyed):
            yield _bounded(plain, key_days.bound(keyed, keys, [column], at_most=1))
        elif keyed is not None or member.key == (column,):
            # As a run does as long as nobody knows where the user's rows lie.
            yield plain


def _look(ws: Workspace, member: Model, column: str, value: str) -> Look | None:
    table = ws.table(member)
    if not ws.tables.exists(table):
        return None
    columns = ws.tables.columns(table)
    if column not in columns:
        return None
    return Look(member, column, value, columns, ws.destination(member).day_column(columns), None)


def _bounded(look: Look, bound: str) -> Look:
    return Look(look.model, look.column, look.value, look.columns, look.day, bound)


def rows_found(ws: Workspace, looks: Sequence[Look]) -> list[tuple[Look, TableRows]]:
    """What there is, all tables in one query."""
    frames = {
        f"look{number}": look.found_in(ws.tables.read(ws.table(look.model)))
        for number, look in enumerate(looks)
    }
    rows = collect_together(frames)
    found = []
    for number, look in enumerate(looks):
        (row,) = rows[f"look{number}"]
        ends = [look.sample(it) for it in (row["first"], row["last"]) if it is not None]
        samples = ends[:1] if ends[:1] == ends[1:] else ends
        table = str(ws.table(look.model))
        found.append((look, TableRows(table, look.column, look.value, row["rows"], tuple(samples))))
    return found


def last_writer(look: Look, rows: TableRows, runs: Sequence[RunRecord]) -> str | None:
    """Of these runs, newest first, the last that wrote to the day of the last row."""
    day = look.day_of(rows.samples[-1]) if rows.samples else None
    name = look.model.full_name

    def wrote(ranges: Sequence[DayRange]) -> bool:
        return day is not None and any(it.first <= day <= it.last for it in ranges)

    return next((run.run_id for run in runs if wrote(run.written_days.get(name, ()))), None)
