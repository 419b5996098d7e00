"""Tables that are made to look old: their log is one that the format itself goes on with."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from bench import aged_delta, aged_iceberg
from bench.ages import Age
from tables.rows import COLUMNS, ORDERS, orders, stored
from windrow.tables import Tables
from windrow.tables.iceberg import IcebergTables

pytestmark = pytest.mark.ci

A = ("a", "2024-01-01", 1, "x")
B = ("b", "2024-01-02", 2, "y")
AGE = Age(runs=50, kept=20, days=[date(2021, 1, day) for day in (1, 2, 3)], files_per_day=4)


def grow_old(spark: SparkSession, tables: Tables, folder: Path) -> None:
    if isinstance(tables, IcebergTables):
        aged_iceberg.grow_old(spark, f"{tables.catalog}.{ORDERS.schema}.{ORDERS.name}", AGE)
    else:
        aged_delta.grow_old(spark, folder / ORDERS.schema / ORDERS.name, AGE)


def test_an_aged_table_has_the_files_and_versions_of_its_runs_and_goes_on(
    spark: SparkSession, tables: Tables, tmp_path: Path
):
    tables.create(ORDERS, COLUMNS, partition_by=["day"])
    tables.append(ORDERS, orders(spark, A))
    grow_old(spark, tables, tmp_path)
    real = tables.read(ORDERS).where("day >= '2024-01-01'")
    assert stored(real) == [A]
    if isinstance(tables, IcebergTables):
        # Every kept run has left a file, and those of all days are there.
        assert tables._files(ORDERS) == 1 + 3 * 4 + 20
        assert len(tables.history(ORDERS)) == 1 + 1 + 20
    else:
        assert tables.version(ORDERS) == "50"
        detail = spark.sql(f"describe detail {tables.identifier(ORDERS)}").collect()[0]
        assert detail["numFiles"] == 1 + 3 * 4

    tables.append(ORDERS, orders(spark, B))
    assert stored(tables.read(ORDERS).where("day >= '2024-01-01'")) == [A, B]
    if not isinstance(tables, IcebergTables):
        assert tables.version(ORDERS) == "51"


def test_an_aged_table_without_days_has_its_rows_and_no_others(
    spark: SparkSession, tables: Tables, tmp_path: Path
):
    tables.create(ORDERS, COLUMNS)
    tables.append(ORDERS, orders(spark, A))
    grow_old(spark, tables, tmp_path)
    assert stored(tables.read(ORDERS)) == [A]
    assert len(tables.history(ORDERS)) >= 20
