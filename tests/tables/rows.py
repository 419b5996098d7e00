"""Small frames of orders and their rows, for the tests of tables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from literal_rows import literal_rows
from windrow.tables import DELETED, TableName

ORDERS = TableName("derived", "orders")
COLUMNS = {"order_id": "string", "day": "date", "amount": "int", "note": "string"}


def orders(spark: SparkSession, *rows: tuple[Any, ...], columns: str = "") -> DataFrame:
    """A frame of (order_id, day, amount, note), or of the named columns."""
    names = columns.split() or list(COLUMNS)
    types = {**COLUMNS, DELETED: "boolean"}
    raw = ", ".join(f"{n} {'string' if n == 'day' else types.get(n, 'string')}" for n in names)
    frame = literal_rows(spark, rows, raw)
    return frame.select(*(F.col(n).cast(types.get(n, "string")) for n in names))


def stored(frame: DataFrame) -> list[tuple[Any, ...]]:
    """The frame's rows in a fixed order, dates as text."""
    rows: Iterable[tuple[Any, ...]] = (
        tuple(str(v) if hasattr(v, "isoformat") else v for v in row) for row in frame.collect()
    )
    return sorted(rows, key=repr)
