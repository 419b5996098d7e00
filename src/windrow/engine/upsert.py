"""This run's rows into a derived table: by key, exactly bounded.

First a narrow look at the stored rows says on which days rows to be replaced lie. Those days are
literal bounds of the merge, so it reads no other file, and no stored row with one of the keys can
lie outside them. When there is nothing to replace, the rows are simply appended.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from windrow.errors import RefusedError, TableError
from windrow.tables import DELETED, Columns, Layout, TableName, TableNote, Tables
from windrow.tables.days import DayRange, at_times, day_ranges, on_days
from windrow.tables.frames import materialize

_NO_LAYOUT = Layout()
_STORED_DAY = "windrow_day"
"""The day of a stored row, beside its key, which may have a column `day`."""


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
class Replaced:
    """Which stored rows the run's rows stand for, beside those with the same key.

    Rows of the table whose `columns` are in `values` are replaced whole: those the run no longer
    brings are deleted.
    """

    columns: tuple[str, ...]
    values: DataFrame


def prepare(
    tables: Tables,
    destination: Destination,
    columns: Columns,
    *,
    layout: Layout = _NO_LAYOUT,
    is_rewritten: bool = False,
    is_emptied: bool = False,
) -> bool:
    """Make sure that the table exists with these columns; true when it has yet to note its key.

    Types and the key can change only while the table has no rows, as after a full refresh, or with
    `is_rewritten`: all rows are about to be written anew. Another key is noted for as long as the
    run counts; the caller notes it for good once the run cannot be undone any more. With
    `is_emptied`, as a full refresh does, the table gets the layout that is wanted now.
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
        return False
    stored = tables.columns(table)
    other_types = {name: kind for name, kind in columns.items() if stored.get(name, kind) != kind}
    note = tables.note(table)
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
    return note.key != destination.key or not note.is_final


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
    return rows.where(_on(day, dict(rows.dtypes)[day], search, or_null=True))


def upsert(
    tables: Tables,
    destination: Destination,
    rows: DataFrame,
    *,
    replaced: Replaced | None = None,
    search: Sequence[DayRange] | None = None,
    keeps: Literal["new", "earliest", "latest"] = "new",
) -> None:
    """Bring the run's rows into the table in at most one commit.

    `rows` are settled and unique by key; `search`: days on which rows to be replaced can lie;
    `keeps`: which of a stored and a new row stays, by the destination's date.
    """
    key = list(destination.key)
    stored = stored_rows(tables, destination, search)
    day = destination.day_column(dict(stored.dtypes))
    at = destination.date if keeps != "new" else None
    old = materialize(_old_rows(stored, rows, key, replaced, day, at))
    days = [row[0] for row in old.select(_STORED_DAY).distinct().collect()]
    if not days:
        tables.append(destination.table, rows)
        return
    changes = rows
    if at is not None:
        changes = materialize(_winners(rows, old, key, at, is_earlier_kept=keeps == "earliest"))
    if replaced is not None:
        gone = old.select(*key).join(rows.select(*key), key, how="left_anti").distinct()
        changes = rows.withColumn(DELETED, F.lit(False)).unionByName(
            gone.withColumn(DELETED, F.lit(True)), allowMissingColumns=True
        )
    bound = None
    if day is not None:
        known = day_ranges(found for found in days if found is not None)
        kind = dict(stored.dtypes)[day]
        bound = _on(f"t.{day}", kind, known, or_null=None in days)
    tables.merge(destination.table, changes, key=key, bound=bound)


def _old_rows(
    stored: DataFrame,
    rows: DataFrame,
    key: list[str],
    replaced: Replaced | None,
    day: str | None,
    at: str | None,
) -> DataFrame:
    """Key and day of the stored rows that the run's rows stand for, and their date if asked for."""
    on_day = F.to_date(day) if day else F.lit("1970-01-01").cast("date")
    dated = [F.col(at).alias("stored_at")] if at else []
    narrow = stored.select(
        *dict.fromkeys([*key, *(replaced.columns if replaced else ())]),
        on_day.alias(_STORED_DAY),
        *dated,
    )
    found = narrow.join(rows.select(*key), key, how="left_semi")
    same_key = found.drop(*(set(replaced.columns) - set(key) if replaced else ()))
    if replaced is None:
        return same_key
    by = list(replaced.columns)
    whole = narrow.join(replaced.values.select(*by), by, how="left_semi").select(*key, _STORED_DAY)
    # When rows are replaced by their key itself, one look is enough.
    return whole if key == by else whole.union(same_key).distinct()


def _winners(
    rows: DataFrame, old: DataFrame, key: list[str], at: str, *, is_earlier_kept: bool
) -> DataFrame:
    """The run's rows that are stored: those with no better one in the table."""
    best = F.min("stored_at") if is_earlier_kept else F.max("stored_at")
    known = old.groupBy(*key).agg(best.alias("stored_at"))
    stored_at, new_at = F.col("stored_at"), F.col(at)
    is_worse = stored_at < new_at if is_earlier_kept else stored_at > new_at
    compared = rows.join(known, key, how="left")
    return compared.where(~F.coalesce(is_worse, F.lit(False))).select(*rows.columns)


def _on(column: str, kind: str, ranges: Sequence[DayRange], *, or_null: bool) -> str:
    condition = on_days if kind == "date" else at_times
    return condition(column, ranges, or_null=or_null)
