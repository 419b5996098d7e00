"""Other clients of the formats open our tables and find the same rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pytest
from deltalake import DeltaTable
from pyiceberg.table import StaticTable
from pyspark.sql import SparkSession

from tables.rows import COLUMNS, ORDERS, orders
from windrow.tables import DeltaTables, IcebergTables, Tables

A = ("a", "2024-01-01", 1, "x")
B = ("b", "2024-01-02", 2, "y")


def written(spark: SparkSession, tables: Tables) -> None:
    """A table with an append, a new column and a merge behind it."""
    tables.create(ORDERS, COLUMNS, partition_by=["day"])
    tables.append(ORDERS, orders(spark, A, B))
    tables.add_columns(ORDERS, {"coupon": "string"})
    changes = orders(
        spark, ("a", None, True), ("b", "SALE", False), columns="order_id coupon __deleted"
    )
    tables.merge(ORDERS, changes, key=["order_id"])


def rows(table: pa.Table) -> list[tuple[Any, ...]]:
    names = [*COLUMNS, "coupon"]
    return [tuple(str(r[n]) for n in names) for r in table.select(names).to_pylist()]


def test_deltalake_reads_our_delta_table(spark: SparkSession, tmp_path: Path) -> None:
    written(spark, DeltaTables(spark, warehouse=str(tmp_path)))
    table = DeltaTable(str(tmp_path / "derived" / "orders"))

    assert rows(pa.table(table.to_pyarrow_table())) == [("b", "2024-01-02", "2", "y", "SALE")]


@pytest.mark.filterwarnings("ignore")
def test_pyiceberg_reads_our_iceberg_table(spark: SparkSession, tmp_path: Path) -> None:
    written(spark, IcebergTables(spark, warehouse=str(tmp_path)))
    metadata = tmp_path / "derived" / "orders" / "metadata"
    version = (metadata / "version-hint.text").read_text().strip()
    table = StaticTable.from_metadata(str(metadata / f"v{version}.metadata.json"))

    assert rows(table.scan().to_arrow()) == [("b", "2024-01-02", "2", "y", "SALE")]
