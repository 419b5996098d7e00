"""How far each model has come. Read first, committed last: that decides that a run happened."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from windrow.columns.rules import column
from windrow.columns.timestamps import from_micros, sql_text
from windrow.state.records import collect_together
from windrow.tables import Columns, TableName, Tables
from windrow.tables.frames import frame_of

MANIFEST: Columns = {
    "model": column("string", "Name of the model."),
    "last_success": column("timestamp", "Greatest collector time that the model has consumed."),
}


def positions(tables: Tables, manifest: TableName) -> dict[str, datetime]:
    """Model -> the greatest collector time it has consumed. No table is no position."""
    rows = rows_of(tables, manifest)
    return {} if rows is None else positions_in(collect_together({"rows": rows})["rows"])


def positions_at(tables: Tables, manifest: TableName, version: str) -> dict[str, datetime]:
    """The positions that a version of the table had."""
    rows = tables.read(manifest, version=version).select(*MANIFEST)
    return positions_in(collect_together({"rows": rows})["rows"])


def rows_of(tables: Tables, manifest: TableName) -> DataFrame | None:
    """The manifest's rows; None before the first run."""
    if not tables.exists(manifest):
        return None
    return tables.read(manifest).select(*MANIFEST)


def positions_in(rows: Iterable[Row]) -> dict[str, datetime]:
    """The positions that collected rows hold."""
    found = {row["model"]: from_micros(row["last_success"]) for row in rows}
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
    """Store the changed positions in one commit.

    The table is as small as the number of models: writing it anew is quicker than a merge.
    """
    if not changed:
        return
    rows = [(model, sql_text(instant)) for model, instant in sorted(changed.items())]
    moved = frame_of(spark, rows, MANIFEST)
    is_moved = F.coalesce(F.col("model").isin(*changed), F.lit(False))
    tables.rewrite(manifest, "true", lambda stored: stored.where(~is_moved).unionByName(moved))


def forget(
    spark: SparkSession, tables: Tables, manifest: TableName, models: Iterable[str]
) -> list[str]:
    """Remove the named models' rows; returns the names that had one."""
    known = set(positions(tables, manifest))
    found = sorted(known & set(models))
    if found:
        is_gone = F.coalesce(F.col("model").isin(*found), F.lit(False))
        tables.rewrite(manifest, "true", lambda stored: stored.where(~is_gone))
    return found
