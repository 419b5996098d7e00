"""A derived table as the engine writes it: its key, its day, and whether it has what is wanted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame

from windrow.errors import RefusedError, TableError
from windrow.tables import Columns, Layout, TableName, TableNote, Tables
from windrow.tables.days import DayRange, at_times, on_days

_NO_LAYOUT = Layout()


@dataclass(frozen=True)
class Destination:
    """A derived table and how its rows are told apart and laid out."""

    table: TableName
    key: tuple[str, ...]
    date: str | None = None
    """The timestamp or date column whose days bound reads and merges."""

    def day_column(self, columns: Columns) -> str | None:
        """The column to bound by: the date that the table is partitioned by, if it has one."""
        if self.date is None:
            return None
        partition = f"{self.date}_date"
        return partition if partition in columns else self.date

    def partition(self, columns: Columns) -> list[str]:
        """The columns that a new table is laid out by unless a project says otherwise: its day."""
        day = self.day_column(columns)
        return [day] if day is not None and columns[day] == "date" else []


@dataclass(frozen=True)
class Prepared:
    """What was found or done when a table was made ready."""

    is_made: bool = False
    """There was none before."""
    has_new_key: bool = False
    """It has yet to note for good by which key its rows are told apart."""


def prepare(
    tables: Tables,
    destination: Destination,
    columns: Columns,
    *,
    layout: Layout = _NO_LAYOUT,
    is_rewritten: bool = False,
    is_emptied: bool = False,
    known_key: tuple[str, ...] | None = None,
) -> Prepared:
    """Make sure that the table exists with these columns.

    Types and the key can change only while the table has no rows, as after a full refresh, or with
    `is_rewritten`: all rows are about to be written anew. Another key is noted for as long as the
    run counts; the caller notes it for good once the run cannot be undone any more. With
    `is_emptied`, as a full refresh does, the table gets the layout that is wanted now.
    `known_key`: by which key a run before this one left it, if that is known: what the table has
    noted need not be asked for then.
    """
    table = destination.table
    if not tables.exists(table):
        tables.create(
            table,
            columns,
            key=destination.key,
            partition_by=layout.partition_by,
            cluster_by=layout.cluster_by,
        )
        return Prepared(is_made=True)
    stored = tables.columns(table)
    if known_key == destination.key and not is_emptied and columns.items() <= stored.items():
        return Prepared()
    other_types = {name: kind for name, kind in columns.items() if stored.get(name, kind) != kind}
    note = tables.note(table)
    if not (is_emptied or is_rewritten):
        _refuse_dropped(table, note, stored)
    is_other = bool(other_types) or _is_other_key(note.key, destination)
    if is_other and not is_rewritten and not tables.read(table).isEmpty():
        for name, wanted in other_types.items():
            raise TableError(
                f"{table}: column '{name}' is stored as {stored[name]} but the model now makes "
                f"{wanted}. A column's type cannot change in place: rebuild the table with "
                "--full-refresh."
            )
        raise TableError(_why_other_key(note.key, destination))
    if other_types:
        tables.retype(table, other_types)
    added = {name: kind for name, kind in columns.items() if name not in stored}
    if added:
        tables.add_columns(table, added)
    if destination.key and not note.columns >= {*columns}:
        tables.note_columns(table, {*note.columns, *columns})
    if is_emptied and tables.layout(table) != layout:
        tables.change_layout(table, layout)
    if note.key != destination.key:
        tables.note_key(table, destination.key)
    return Prepared(has_new_key=note.key != destination.key or not note.is_final)


def _refuse_dropped(table: TableName, note: TableNote, stored: Columns) -> None:
    """Stop at a column that is gone: made anew, it would be empty in every row stored before."""
    if dropped := sorted(note.columns - {*stored}):
        raise RefusedError(
            f"{table} has no column '{dropped[0]}' any more: something else has dropped it. Its "
            "values of rows that are not processed again would be lost in silence. Restore the "
            f"table, or rebuild it with `--full-refresh --select {table.name}`."
        )


def refuse_other_keys(tables: Tables, destinations: Sequence[Destination]) -> None:
    """Stop at a table whose rows were told apart by another key than its model has now."""
    for destination in destinations:
        table = destination.table
        if destination.key and tables.exists(table):
            key = tables.note(table).key
            if _is_other_key(key, destination):
                raise RefusedError(_why_other_key(key, destination))


def _is_other_key(stored: tuple[str, ...], destination: Destination) -> bool:
    """True when the model's key has changed; its order means nothing."""
    return bool(stored and destination.key) and set(stored) != set(destination.key)


def _why_other_key(stored: tuple[str, ...], destination: Destination) -> str:
    return (
        f"{destination.table}: its rows are told apart by {', '.join(stored)}, but the model's key "
        f"is now {', '.join(destination.key)}. Rows stored under the former key would not be found "
        "again: rebuild the table with --full-refresh."
    )


def stored_rows(
    tables: Tables, destination: Destination, search: Sequence[DayRange] | None
) -> DataFrame:
    """The stored rows on the days of a search, or all of them when the days are not known."""
    return on_days_of(tables.read(destination.table), destination, search)


def on_days_of(
    rows: DataFrame, destination: Destination, search: Sequence[DayRange] | None
) -> DataFrame:
    """Of a table's rows, now or as they were, those on the days of a search."""
    day = destination.day_column(dict(rows.dtypes))
    if search is None or day is None:
        return rows
    return rows.where(condition(day, dict(rows.dtypes)[day], search, or_null=True))


def condition(column: str, kind: str, ranges: Sequence[DayRange], *, or_null: bool) -> str:
    """A SQL condition that a date or timestamp column lies on one of the days."""
    lies_on = on_days if kind == "date" else at_times
    return lies_on(column, ranges, or_null=or_null)
