"""How far each model has come. Read first, committed last: that decides that a run happened."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from windrow.columns.rules import column
from windrow.columns.timestamps import from_micros, micros, sql_text
from windrow.tables import DELETED, Columns, TableName, Tables
from windrow.tables.frames import frame_of

MANIFEST: Columns = {
    "model": column("string", "Name of the model."),
    "last_success": column("timestamp", "Greatest collector time that the model has consumed."),
}


def positions(tables: Tables, manifest: TableName) -> dict[str, datetime]:
    """Model -> the greatest collector time it has consumed. No table is no position."""
    if not tables.exists(manifest):
        return {}
    rows = tables.read(manifest).select("model", micros(F.col("last_success"))).collect()
    found = {row[0]: from_micros(row[1]) for row in rows}
    return {model: instant for model, instant in found.items() if instant is not None}


def advanced(
    before: Mapping[str, datetime], models: Iterable[str], reached: datetime | None
) -> dict[str, datetime]:
    """The positions that change when these models have consumed events up to `reached`.

    A position never moves back.
    """
    if reached is None:
        return {}
    return {model: reached for model in models if model not in before or before[model] < reached}


def commit(
    spark: SparkSession,
    tables: Tables,
    manifest: TableName,
    changed: Mapping[str, datetime],
) -> None:
    """Store the changed positions in one commit."""
    if not changed:
        return
    rows = [(model, sql_text(instant)) for model, instant in sorted(changed.items())]
    tables.merge(manifest, frame_of(spark, rows, MANIFEST), key=["model"])


def forget(
    spark: SparkSession, tables: Tables, manifest: TableName, models: Iterable[str]
) -> list[str]:
    """Remove the named models' rows; returns the names that had one."""
    known = set(positions(tables, manifest))
    found = sorted(known & set(models))
    if found:
        rows = [(name, True) for name in found]
        gone = frame_of(spark, rows, {"model": "string", DELETED: "boolean"})
        tables.merge(manifest, gone, key=["model"])
    return found
