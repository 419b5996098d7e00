"""Tables in a catalog that the user configured."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tables.rows import COLUMNS, ORDERS, orders, stored
from windrow.errors import ConfigError
from windrow.tables import Layout, TableName, Tables, open_tables


@pytest.fixture
def in_catalog(spark: SparkSession, format: str, tmp_path: Path) -> Tables:
    if format == "delta":
        return open_tables(spark, format=format, catalog="spark_catalog")
    spark.conf.set("spark.sql.catalog.lake", "org.apache.iceberg.spark.SparkCatalog")
    spark.conf.set("spark.sql.catalog.lake.type", "hadoop")
    spark.conf.set("spark.sql.catalog.lake.warehouse", str(tmp_path))
    return open_tables(spark, format=format, catalog="lake")


def test_a_catalog_table_lives_from_create_to_drop(spark: SparkSession, in_catalog: Tables) -> None:
    assert not in_catalog.exists(ORDERS)
    in_catalog.create(ORDERS, COLUMNS, partition_by=["day"])
    in_catalog.append(ORDERS, orders(spark, ("a", "2024-01-01", 1, "x")))
    in_catalog.merge(ORDERS, orders(spark, ("a", "2024-01-02", 2, "y")), key=["order_id"])
    assert stored(in_catalog.read(ORDERS)) == [("a", "2024-01-02", 2, "y")]

    in_catalog.drop(ORDERS)
    assert not in_catalog.exists(ORDERS)


@pytest.mark.slow
def test_a_catalog_tables_layout_changes(spark: SparkSession, in_catalog: Tables) -> None:
    table = TableName("derived", "laid_out")
    in_catalog.create(table, COLUMNS, partition_by=["day"])
    for number, layout in enumerate((Layout((), ("order_id",)), Layout(), Layout(("day",)))):
        in_catalog.append(table, orders(spark, (f"{number}", "2024-01-01", 1, "x")))
        in_catalog.change_layout(table, layout)
        assert in_catalog.layout(table) == layout
        assert in_catalog.read(table).count() == number + 1
    in_catalog.drop(table)


def test_identifiers_have_three_parts(spark: SparkSession) -> None:
    tables = open_tables(spark, format="delta", catalog="my lake")
    assert tables.identifier(ORDERS) == "`my lake`.`derived`.`orders`"


@pytest.mark.parametrize("place", [{}, {"warehouse": "w", "catalog": "c"}])
def test_a_target_is_either_a_warehouse_or_a_catalog(
    spark: SparkSession, format: str, place: dict[str, str]
) -> None:
    with pytest.raises(ConfigError, match="either warehouse"):
        open_tables(spark, format=format, **place)


def test_an_unknown_format_is_refused(spark: SparkSession) -> None:
    with pytest.raises(ConfigError, match=r"'icebrg'.*Did you mean 'iceberg'\?"):
        open_tables(spark, format="icebrg", warehouse="w")
