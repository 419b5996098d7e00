"""Frozen values as rows of a table: each field says its column, type and rule once.

    @dataclass(frozen=True)
    class RunRecord:
        run_id: str = stored_as("string", "Id of the run.")
        clock: datetime | None = stored_as("timestamp", "The run's clock.", default=None)

A field that is such a value itself, `part_of(Holder)`, brings its own columns.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, Field, field, fields, is_dataclass
from datetime import date, datetime
from typing import Any, TypeVar

from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from windrow.columns.rules import column
from windrow.columns.timestamps import from_micros, micros, sql_text
from windrow.errors import TableError
from windrow.tables import Columns, TableName, Tables
from windrow.tables.frames import frame_of
from windrow.tables.sql import literal

Record = TypeVar("Record")


def stored_as(
    kind: str,
    rule: str,
    *,
    default: Any = MISSING,
    default_factory: Any = MISSING,
    read: Callable[[Any], Any] | None = None,
    write: Callable[[Any], Any] | None = None,
) -> Any:
    """A field with its column; `read` and `write` turn what is stored into the value and back."""
    metadata = {"column": column(kind, rule), "read": read, "write": write}
    return field(default=default, default_factory=default_factory, metadata=metadata)


def part_of(kind: type, *, default: Any = MISSING) -> Any:
    """A field whose value is a record itself, and lies in the same row."""
    return field(default=default, metadata={"record": kind})


def columns_of(record: type) -> Columns:
    """The columns of a table of such records."""
    return {it.name: it.metadata["column"] for it in _stored_fields(record)}


def frame_of_record(spark: SparkSession, record: Any) -> DataFrame:
    """The record as a frame of one row."""
    return frame_of(spark, [[*_values(record)]], columns_of(type(record)))


def sql_of_record(record: Any) -> dict[str, str]:
    """Column -> the record's value as a SQL expression."""
    columns = columns_of(type(record))
    return {
        name: _sql(value, kind)
        for (name, kind), value in zip(columns.items(), _values(record), strict=True)
    }


def _sql(value: Any, kind: str) -> str:
    if value is None or kind in ("string", "timestamp"):
        return f"cast({'null' if value is None else literal(value)} as {kind})"
    if isinstance(value, Mapping | list):
        return f"from_json({literal(json.dumps(value))}, {literal(kind)})"
    return f"cast({value} as {kind})"


def records_in(rows: DataFrame, kind: type[Record]) -> list[Record]:
    """The rows as records; columns that a table of an earlier version lacks are unknown."""
    return records_of(collect_together({"rows": rows})["rows"], kind)


def records_of(rows: Iterable[Row], kind: type[Record]) -> list[Record]:
    """The same of rows that `collect_together` gave."""
    return [_record(kind, row) for row in rows]


def collect_together(frames: Mapping[str, DataFrame]) -> dict[str, list[Row]]:
    """The rows of several small frames, in one query; instants come as microseconds."""
    if not frames:
        return {}
    packed = [rows.select(F.struct(*_plain_columns(rows)).alias(n)) for n, rows in frames.items()]
    together = packed[0]
    for rows in packed[1:]:
        together = together.unionByName(rows, allowMissingColumns=True)
    found: dict[str, list[Row]] = {name: [] for name in frames}
    for row in together.collect():
        name = next(name for name in frames if row[name] is not None)
        found[name].append(row[name])
    return found


def _plain_columns(rows: DataFrame) -> list[Column]:
    return [
        micros(F.col(name)).alias(name) if stored == "timestamp" else F.col(name)
        for name, stored in rows.dtypes
    ]


def prepare_table(
    tables: Tables, table: TableName, record: type, *, partition_by: tuple[str, ...] = ()
) -> None:
    """Make the records' table unless it exists; one made before a column was gets that column."""
    columns = columns_of(record)
    tables.create(table, columns, partition_by=partition_by)
    if missing := _missing(tables, table, columns):
        try:
            tables.add_columns(table, missing)
        except TableError:
            # Whoever added them in the meantime did what was asked for.
            if _missing(tables, table, columns):
                raise


def _missing(tables: Tables, table: TableName, columns: Columns) -> Columns:
    known = tables.columns(table)
    return {name: kind for name, kind in columns.items() if name not in known}


def _stored_fields(record: type) -> Iterator[Field[Any]]:
    for it in fields(record):
        if "record" in it.metadata:
            yield from _stored_fields(it.metadata["record"])
        elif "column" in it.metadata:
            yield it


def _values(record: Any) -> Iterator[Any]:
    for it in fields(record):
        value = getattr(record, it.name)
        if "record" in it.metadata:
            yield from _values(value)
        elif "column" in it.metadata:
            write = it.metadata["write"]
            yield _plain(value if write is None or value is None else write(value))


def _plain(value: Any) -> Any:
    """The value as JSON can say it."""
    if isinstance(value, datetime):
        return sql_text(value)
    if isinstance(value, date):
        return value.isoformat()
    if is_dataclass(value):
        return {it.name: _plain(getattr(value, it.name)) for it in fields(value)}
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value


def _record(kind: Any, row: Row) -> Any:
    stored, given = row.asDict(), dict[str, Any]()
    for it in fields(kind):
        if "record" in it.metadata:
            given[it.name] = _record(it.metadata["record"], row)
        elif "column" in it.metadata:
            found = stored.get(it.name)
            if found is not None:
                given[it.name] = _read(it, found)
            elif it.default is MISSING and it.default_factory is MISSING:
                given[it.name] = None
    return kind(**given)


def _read(it: Field[Any], found: Any) -> Any:
    if it.metadata["read"] is not None:
        return it.metadata["read"](found)
    return from_micros(found) if it.metadata["column"] == "timestamp" else found
