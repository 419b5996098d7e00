"""Tables behind one small seam, so that the rest of windrow does not know their format."""

from __future__ import annotations

from pyspark.sql import SparkSession

from windrow.errors import ConfigError, did_you_mean
from windrow.tables.delta import DeltaTables
from windrow.tables.iceberg import IcebergTables
from windrow.tables.layout import layout_of
from windrow.tables.seam import (
    DELETED,
    Columns,
    Commit,
    Compaction,
    ConflictError,
    Expiry,
    FileSizes,
    GoneVersionError,
    Layout,
    TableName,
    TableNote,
    Tables,
)

__all__ = [
    "DELETED",
    "Columns",
    "Commit",
    "Compaction",
    "ConflictError",
    "DeltaTables",
    "Expiry",
    "FileSizes",
    "GoneVersionError",
    "IcebergTables",
    "Layout",
    "TableName",
    "TableNote",
    "Tables",
    "layout_of",
    "open_tables",
]

FORMATS = ("delta", "iceberg")


def open_tables(
    spark: SparkSession, *, format: str, warehouse: str | None = None, catalog: str | None = None
) -> Tables:
    """The tables of a target: of one format, under a warehouse or in a catalog."""
    if format == "delta":
        return DeltaTables(spark, warehouse=warehouse, catalog=catalog)
    if format == "iceberg":
        return IcebergTables(spark, warehouse=warehouse, catalog=catalog)
    hint = did_you_mean(format, FORMATS)
    raise ConfigError(f"Unknown table format '{format}': expected delta or iceberg.{hint}")
