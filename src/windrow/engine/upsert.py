"""This run's rows into a derived table: by key, exactly bounded, in at most one commit.

First a narrow look at the stored rows says on which days rows to be replaced lie, and how many
rows those days have. No stored row with one of the keys can lie on another day. Where the rows are
a good part of their days, the days are written anew; where a few lie in many large days, the rows
are merged into them. When there is nothing to replace, the rows are simply appended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import reduce
from typing import Literal

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from windrow.engine.destination import Destination, condition, stored_rows
from windrow.tables import DELETED, Tables
from windrow.tables.days import DayRange, day_ranges
from windrow.tables.frames import few, join_by, materialize, measured
from windrow.tables.observed import Observed

Join = Callable[[DataFrame, DataFrame, Sequence[str], str], DataFrame]
"""Rows, others, the columns to join by, and how."""

_STORED_DAY = "windrow_day"
"""The day of a stored row, beside its key, which may have a column `day`."""

_STORED_AT, _IS_STORED = "windrow_stored_at", "windrow_is_stored"
"""Of a row's key, where it is stored; beside all columns that the row may have."""

_NO_DAY = date(1970, 1, 1)
"""Stands for the one day of a table that has none."""

_FEW_ROWS = 200_000
"""So many rows are written anew in less time than a merge takes to find what it may leave."""
_MANY_STORED = 20_000
"""So many stored rows are sorted and sent about in more time than it takes to send keys to them."""
_MOST_KEYS = 500_000
"""Of page views, sessions and users at once so many, and no more, are sent to where rows lie."""
_STORED_PER_CHANGED = 20
"""A merge is dearer by the row: it pays where at most one row in so many changes."""


@dataclass(frozen=True)
class Replaced:
    """Which stored rows the run's rows stand for, beside those with the same key.

    Rows of the table whose `columns` are in `values` are replaced whole: those the run no longer
    brings are deleted.
    """

    columns: tuple[str, ...]
    values: DataFrame
    at_most: int | None = None
    """How many values there can be; None: nobody knows."""


@dataclass(frozen=True)
class Amended:
    """Stored rows of which some columns change: their keys, their days, and those columns."""

    rows: DataFrame
    days: tuple[date | None, ...]

    def applied_to(self, stored: DataFrame, key: Sequence[str]) -> DataFrame:
        """Stored rows, amended where they are meant."""
        names = {name: f"windrow_{name}" for name in self.rows.columns if name not in key}
        amendments = self.rows.withColumnsRenamed(names).withColumn("windrow_amended", F.lit(True))
        is_meant = F.col("windrow_amended")
        return join_by(stored, amendments, key, "left").select(
            *(
                F.when(is_meant, F.col(names[name])).otherwise(F.col(name)).alias(name)
                if name in names
                else F.col(name)
                for name in stored.columns
            )
        )

    def whole(self, stored: DataFrame, key: Sequence[str]) -> DataFrame:
        """Those of the stored rows that change, with all their columns."""
        meant = join_by(stored, self.rows.select(*key), key, "left_semi")
        return self.applied_to(meant, key)


@dataclass(frozen=True)
class Touched:
    """The days on which rows to be replaced lie; None among them: those rows have no day."""

    days: tuple[date | None, ...]
    stored: int
    """How many rows these days have."""
    changed: int
    """How many of those are replaced, or at most."""

    @classmethod
    def without_days(cls, stored: int, changed: int) -> Touched:
        """Of a table that has no days."""
        return cls((_NO_DAY,) if changed else (), stored, changed)


def upsert(
    tables: Tables,
    destination: Destination,
    rows: DataFrame,
    *,
    replaced: Replaced | None = None,
    search: Sequence[DayRange] | None = None,
    keeps: Literal["new", "earliest", "latest"] = "new",
    days: Iterable[date | None] | None = None,
    number: int | None = None,
    amended: Amended | None = None,
    as_merged: bool = False,
    touched: Touched | None = None,
) -> None:
    """Bring the run's rows into the table in at most one commit.

    `rows` are settled and unique by key; `search`: days on which rows to be replaced can lie;
    `keeps`: which of a stored and a new row stays, by the destination's date; `days` and `number`:
    on which days `rows` lie and how many they are, where that is known; `amended`: stored rows that
    change too, unless they are replaced; `as_merged`: of a key that is stored several times each
    row is replaced, and one that is not known is no other one's equal, as in a plain merge; else it
    is that of any other such row; `touched`: what a look at the stored rows has found, where one
    was made before.
    """
    key, join = destination.key, _plain_join if as_merged else join_by
    if amended is not None and search is not None:
        search = (*search, *day_ranges(day for day in amended.days if day is not None))
    stored = stored_rows(tables, destination, search)
    day = destination.day_column(dict(stored.dtypes))
    if keeps != "new":
        rows, left, same = _winners(stored, rows, destination, keeps, join)
        if replaced is None and amended is None:
            if not left:
                return
            # Nothing that is stored has one of the keys.
            touched = touched if same else Touched((), 0, 0)
    if touched is None:
        touched = look(stored, key, day, replaced, rows, amended, join, number=number)
    if not touched.days:
        tables.append(destination.table, rows, days=number_of_days(tables, destination, days))
        return
    if not _can_be_written_anew(tables, destination, stored, rows, touched):
        near = _near(stored, day, touched)
        if amended is not None:
            others = _without(amended.whole(near, key), rows, key, replaced, join)
            rows = materialize(rows.unionByName(others.select(*rows.columns)))
        _merge(tables, destination, rows, replaced, touched, near, join)
        return
    where, on = "true", set[date | None]()
    if day is not None:
        written = _days_of(rows, day) if days is None else days
        also = () if amended is None else amended.days
        on = {*touched.days, *written, *also}
        where = _on(day, dict(stored.dtypes)[day], on)

    has_many = touched.stored > _MANY_STORED

    def anew(old: DataFrame) -> DataFrame:
        kept = _without(old, rows, key, replaced, join, number=number, is_sent=has_many)
        if amended is not None:
            kept = amended.applied_to(kept, key)
        return kept.unionByName(_as_often(rows, old, key) if as_merged else rows)

    tables.rewrite(
        destination.table, where, anew, days=number_of_days(tables, destination, on or None)
    )


def number_of_days(
    tables: Tables, destination: Destination, days: Iterable[date | None] | None
) -> int | None:
    """In how many partitions rows of these days lie; None: days are not what the table is by."""
    if days is None or len(tables.partitions(destination.table)) != 1:
        return None
    (by,) = tables.partitions(destination.table)
    is_day = by in (destination.date, f"{destination.date}_date")
    return len({*days}) if is_day else None


def replace_rows(
    tables: Tables, destination: Destination, rows: DataFrame, days: Sequence[DayRange]
) -> None:
    """The same where it is known on which days the rows, and those of their keys, lie.

    The days are whole partitions, and no row is without one.
    """
    day = destination.day_column(dict(rows.dtypes))
    assert day is not None
    tables.rewrite(
        destination.table,
        condition(day, dict(rows.dtypes)[day], days, or_null=False),
        lambda old: _without(old, rows, destination.key, None, _plain_join).unionByName(rows),
        days=number_of_days(tables, destination, (it for them in days for it in them.days())),
    )


def look(
    stored: DataFrame,
    key: Sequence[str],
    day: str | None,
    replaced: Replaced | None,
    rows: DataFrame | None = None,
    amended: Amended | None = None,
    join: Join = join_by,
    *,
    number: int | None = None,
) -> Touched:
    """Which days hold rows that go or change.

    Those that the run's rows stand for; `rows` None: what is replaced holds their keys too.
    `number`: of the rows, where it is known. Keys are sent to where stored rows lie.
    """
    by = list(replaced.columns) if replaced else []
    on_day = F.to_date(day) if day else F.lit(_NO_DAY)
    narrow = stored.select(*dict.fromkeys([*key, *by]), on_day.alias(_STORED_DAY))
    own = [] if rows is None or by == list(key) else [rows]
    own += [] if amended is None else [amended.rows]
    hits = []
    if own:
        keys = reduce(DataFrame.union, (it.select(*key) for it in own))
        same = keys.distinct().withColumn("windrow_same", F.lit(1))
        if number is not None and amended is None:
            same = few(same, number)
        narrow, hits = join(narrow, same, key, "left"), [F.col("windrow_same")]
    if replaced is not None:
        values = replaced.values.select(*by).distinct().withColumn("windrow_gone", F.lit(1))
        if replaced.at_most is not None:
            values = few(values, replaced.at_most)
        narrow, hits = narrow.join(values, by, how="left"), [*hits, F.col("windrow_gone")]
    hit = F.coalesce(*hits)
    found = narrow.groupBy(_STORED_DAY).agg(F.count(F.lit(1)), F.count(hit).alias("hits"))
    per_day = found.where("hits > 0").collect()
    return Touched(
        days=tuple(row[0] for row in per_day),
        stored=sum(row[1] for row in per_day),
        changed=sum(row[2] for row in per_day),
    )


def _can_be_written_anew(
    tables: Tables, destination: Destination, stored: DataFrame, rows: DataFrame, touched: Touched
) -> bool:
    """Whether to write the touched days anew, which takes that they are whole partitions."""
    day = destination.day_column(dict(stored.dtypes))
    if day is not None and day not in tables.partitions(destination.table):
        return False
    if {*rows.columns} != {*stored.columns}:
        # What the rows do not have is to stay as it is.
        return False
    many = max(_FEW_ROWS, _STORED_PER_CHANGED * touched.changed)
    return touched.stored <= many


def _without(
    stored: DataFrame,
    rows: DataFrame,
    key: Sequence[str],
    replaced: Replaced | None,
    join: Join,
    *,
    number: int | None = None,
    is_sent: bool = False,
) -> DataFrame:
    """The stored rows that stay.

    `is_sent`: the stored rows stay where they are too, and what goes is sent to them, if it is
    known that there is not too much of it.
    """

    def sent(going: DataFrame, at_most: int | None) -> DataFrame:
        is_few = at_most is not None and at_most <= _MOST_KEYS
        return F.broadcast(going) if is_sent and is_few else going

    by = list(replaced.columns) if replaced else []
    if by != list(key):
        stored = join(stored, sent(rows.select(*key), number), key, "left_anti")
    if replaced is not None:
        values = sent(replaced.values.select(*by), replaced.at_most)
        stored = stored.join(values, by, how="left_anti")
    return stored


def _as_often(rows: DataFrame, stored: DataFrame, key: Sequence[str]) -> DataFrame:
    """The rows, each as often as its key is stored, and at least once."""
    copies = stored.select(*key)
    again = copies.join(rows, list(key)).select(*rows.columns)
    return again.unionByName(rows.join(copies, list(key), how="left_anti"))


def _merge(
    tables: Tables,
    destination: Destination,
    rows: DataFrame,
    replaced: Replaced | None,
    touched: Touched,
    near: DataFrame,
    join: Join,
) -> None:
    """Merge the rows in; stored ones that they stand for without having their key are deleted."""
    key, changes = list(destination.key), rows
    kinds = dict(near.dtypes)
    day = destination.day_column(kinds)
    if replaced is not None:
        by = list(replaced.columns)
        gone = near.join(replaced.values.select(*by), by, how="left_semi").select(*key)
        gone = materialize(join(gone, rows.select(*key), key, "left_anti"))
        changes = rows.withColumn(DELETED, F.lit(False)).unionByName(
            gone.withColumn(DELETED, F.lit(True)), allowMissingColumns=True
        )
    bound = None if day is None else _on(f"t.{day}", kinds[day], touched.days)
    nulls_match = join is join_by
    tables.merge(destination.table, changes, key=key, bound=bound, nulls_match=nulls_match)


def _near(stored: DataFrame, day: str | None, touched: Touched) -> DataFrame:
    """The stored rows on the days that are touched."""
    if day is None:
        return stored
    return stored.where(_on(day, dict(stored.dtypes)[day], touched.days))


def _winners(
    stored: DataFrame, rows: DataFrame, destination: Destination, keeps: str, join: Join
) -> tuple[DataFrame, int, int]:
    """The run's rows that are stored: those with no better one in the table.

    And how many these are, and how many of all had one there, be it better or not.
    """
    key, at = list(destination.key), destination.date
    assert at is not None
    is_earlier_kept = keeps == "earliest"
    best = F.min(at) if is_earlier_kept else F.max(at)
    same = join(stored.select(*key, at), rows.select(*key), key, "left_semi")
    known = same.groupBy(*key).agg(best.alias(_STORED_AT), F.lit(True).alias(_IS_STORED))
    stored_at, new_at = F.col(_STORED_AT), F.col(at)
    is_worse = stored_at < new_at if is_earlier_kept else stored_at > new_at
    looked = Observed()
    compared = looked.over(
        join(rows, known, key, "left"), {"stored": F.count_if(F.col(_IS_STORED))}
    )
    better = compared.where(~F.coalesce(is_worse, F.lit(False))).select(*rows.columns)
    settled, size = measured(better, {"rows": F.count(F.lit(1))})
    found = looked.figures(has_rows=bool(size["rows"]))
    return settled, size["rows"], found["stored"]


def _plain_join(rows: DataFrame, others: DataFrame, by: Sequence[str], how: str) -> DataFrame:
    """A join in which what is not known equals nothing."""
    return rows.join(others, list(by), how=how)


def _days_of(rows: DataFrame, day: str) -> list[date | None]:
    return [row[0] for row in rows.select(F.to_date(day)).distinct().collect()]


def _on(day: str, kind: str, days: Iterable[date | None]) -> str:
    known = {*days}
    ranges = day_ranges(found for found in known if found is not None)
    return condition(day, kind, ranges, or_null=None in known)
