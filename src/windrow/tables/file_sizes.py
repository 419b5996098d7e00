"""How many files reading something takes, and how large they are, before any is read."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, time
from functools import reduce
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, DateType, StructType

from windrow.columns.timestamps import literal
from windrow.tables.days import DayRange
from windrow.tables.refusals import REFUSALS
from windrow.tables.seam import FileSizes
from windrow.tables.sql import quoted

_NO_FILES = ("LocalTableScanExec", "EmptyRelationExec")
"""What Spark plans where it knows that there is nothing to read."""
_BOUNDS = "readable_metrics"

Stretch = tuple[datetime, datetime]
"""The first and the last moment."""


def files_of(rows: DataFrame) -> FileSizes | None:
    """The files that Spark would open for these rows; None where that cannot be told.

    Those that folders and statistics leave: Spark's plan has them. A Spark Connect client does not
    see the plan, and has to look at the rows instead.
    """
    planned = _planned(rows)
    return _by_row(rows) if planned is None else planned


def _planned(rows: DataFrame) -> FileSizes | None:
    frame: Any = getattr(rows, "_jdf", None)
    if frame is None:
        return None
    try:
        leaves = frame.queryExecution().executedPlan().collectLeaves()
        found = FileSizes(0, 0)
        for number in range(leaves.size()):
            leaf = leaves.apply(number)
            kind = leaf.getClass().getSimpleName()
            if kind in _NO_FILES:
                continue
            if kind != "FileSourceScanExec":
                return None
            chosen = leaf.selectedPartitions()
            found += FileSizes(int(chosen.totalNumberOfFiles()), int(chosen.totalFileSize()))
    except REFUSALS:
        # Another Spark, whose plans have other words.
        return None
    return found


def _by_row(rows: DataFrame) -> FileSizes | None:
    try:
        files = rows.select("_metadata.file_path", "_metadata.file_size").distinct()
    except PySparkException:
        # Not every source tells which file a row comes from.
        return None
    found = files.agg(F.count(F.lit(1)), F.sum("file_size")).collect()[0]
    return FileSizes(found[0], found[1] or 0)


def stretch_of(days: DayRange) -> Stretch:
    """The days as moments, in UTC."""
    return (
        datetime.combine(days.first, time.min, UTC),
        datetime.combine(days.last, time.max, UTC),
    )


def iceberg_files(files: DataFrame, column: str | None, stretches: Sequence[Stretch]) -> FileSizes:
    """Of the files that an Iceberg table's own list has, those that can hold such rows."""
    if column is not None:
        overlaps = [_overlaps(files.schema, column, it) for it in stretches]
        files = files.where(reduce(Column.__or__, overlaps, F.lit(False)))
    found = files.agg(F.count(F.lit(1)), F.sum("file_size_in_bytes")).collect()[0]
    return FileSizes(found[0], found[1] or 0)


def _overlaps(schema: StructType, column: str, stretch: Stretch) -> Column:
    """True for files that may hold rows of a stretch; what is not known of a file may be."""
    if kind := _field(schema, "partition", column):
        value = F.col(f"partition.{quoted(column)}")
        return _is_within(value, value, kind, stretch)
    if kind := _field(schema, _BOUNDS, column, "lower_bound"):
        bounds = f"{_BOUNDS}.{quoted(column)}"
        lower, upper = F.col(f"{bounds}.lower_bound"), F.col(f"{bounds}.upper_bound")
        return _is_within(lower, upper, kind, stretch)
    return F.lit(True)


def _is_within(lower: Column, upper: Column, kind: DataType, stretch: Stretch) -> Column:
    is_date = isinstance(kind, DateType)
    first, last = (F.lit(it.date()) if is_date else literal(it).cast(kind) for it in stretch)
    return F.coalesce((upper >= first) & (lower <= last), F.lit(True))


def _field(kind: DataType, *path: str) -> DataType | None:
    """The type of a field of a struct of structs; None where there is none."""
    for name in path:
        if not isinstance(kind, StructType) or name not in kind.names:
            return None
        kind = kind[name].dataType
    return kind
