"""What only Iceberg needs: a catalog over a folder, and snapshots that a restore left behind."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

from tables.rows import COLUMNS, ORDERS, orders, stored
from windrow.tables import IcebergTables

A = ("a", "2024-01-01", 1, "x")
B = ("b", "2024-01-02", 2, "y")


def test_the_same_warehouse_is_the_same_catalog(spark: SparkSession, tmp_path: Path) -> None:
    one, same = (IcebergTables(spark, warehouse=f"{tmp_path}{end}") for end in ("", "/"))
    other = IcebergTables(spark, warehouse=str(tmp_path / "other"))

    assert one.identifier(ORDERS) == same.identifier(ORDERS) != other.identifier(ORDERS)


def test_another_session_sees_a_commit_at_once(spark: SparkSession, tmp_path: Path) -> None:
    ours = IcebergTables(spark, warehouse=str(tmp_path))
    theirs = IcebergTables(spark.newSession(), warehouse=str(tmp_path))
    ours.create(ORDERS, COLUMNS)
    assert stored(theirs.read(ORDERS)) == []

    ours.append(ORDERS, orders(spark, A))
    assert stored(theirs.read(ORDERS)) == [A]


def test_restore_can_itself_be_undone(spark: SparkSession, tmp_path: Path) -> None:
    tables = IcebergTables(spark, warehouse=str(tmp_path))
    tables.create(ORDERS, COLUMNS)
    tables.append(ORDERS, orders(spark, A))
    tables.append(ORDERS, orders(spark, B))
    after, before = tables.history(ORDERS)

    tables.restore(ORDERS, before.version)
    assert tables.history(ORDERS) == [before]

    tables.restore(ORDERS, after.version)
    assert tables.history(ORDERS) == [after, before]
    assert stored(tables.read(ORDERS)) == [A, B]
