"""Errors of Spark and the table formats become ours, and say which file they are about."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from windrow.atomic.source import open_source
from windrow.config import EventsSource
from windrow.errors import SourceError, TableError
from windrow.tables import TableName, open_tables
from windrow.tables.refusals import reason_of, refusals, unreadable_files


@pytest.fixture
def broken(spark: SparkSession, tmp_path: Path) -> tuple[DataFrame, Path]:
    """Rows of which a file was cut short after it was found, and the file."""
    folder = tmp_path / "derived" / "some events"
    spark.range(10).coalesce(1).write.parquet(str(folder))
    rows = spark.read.parquet(str(folder))
    (file,) = folder.glob("*.parquet")
    (folder / f".{file.name}.crc").unlink()
    file.write_bytes(file.read_bytes()[:100])
    return rows, file


def test_a_file_that_cannot_be_read_is_named(broken: tuple[DataFrame, Path]) -> None:
    rows, file = broken
    with (
        pytest.raises(SourceError, match="is not a Parquet file") as caught,
        unreadable_files(),
    ):
        rows.collect()
    assert str(caught.value).startswith(f"The file {file} cannot be read: RuntimeException: ")


def test_a_file_that_is_gone_is_named(broken: tuple[DataFrame, Path]) -> None:
    rows, file = broken
    file.unlink()
    with pytest.raises(SourceError, match=f"The file {file} cannot be read: "), unreadable_files():
        rows.collect()


def test_other_errors_are_left_alone(spark: SparkSession) -> None:
    with pytest.raises(Exception, match="DIVIDE_BY_ZERO"), unreadable_files():
        spark.sql("select 1 / 0").collect()


def test_writing_a_table_names_the_file_of_the_events_that_cannot_be_read(
    broken: tuple[DataFrame, Path],
) -> None:
    rows, file = broken
    table = TableName("derived", "page_views")
    with pytest.raises(SourceError, match=str(file)), refusals(table, "append to"):
        rows.collect()


def test_a_broken_file_of_a_table_is_an_error_of_the_table(broken: tuple[DataFrame, Path]) -> None:
    rows, _ = broken
    table = TableName("derived", "some events")
    said = "Could not read derived.some events: RuntimeException: .*is not a Parquet file"
    with pytest.raises(TableError, match=said), refusals(table, "read"):
        rows.collect()


def test_events_whose_only_file_is_broken_are_refused_with_its_name(
    spark: SparkSession, broken: tuple[DataFrame, Path]
) -> None:
    _, file = broken
    with pytest.raises(SourceError, match=f"The file {file} cannot be read: "):
        open_source(spark, EventsSource(path=str(file.parent)), time_column="collector_tstamp")


@pytest.mark.parametrize(
    ("path", "needed"),
    [
        ("s3a://lake/events", "s3a:// needs the package org.apache.hadoop:hadoop-aws in the"),
        ("s3://lake/events", "s3:// is S3 on EMR alone; elsewhere Spark calls it s3a://"),
        ("abfss://lake@shop.dfs.core.windows.net/events", "org.apache.hadoop:hadoop-azure in the"),
        ("gs://lake/events", "com.google.cloud.bigdataoss:gcs-connector"),
    ],
)
def test_the_jar_that_a_store_needs_is_named(spark: SparkSession, path: str, needed: str) -> None:
    with pytest.raises(SourceError, match=needed):
        open_source(spark, EventsSource(path=path), time_column="collector_tstamp")


def test_the_jar_that_a_catalog_needs_is_named(spark: SparkSession) -> None:
    def without(name: str, **settings: str) -> str:
        catalog = f"spark.sql.catalog.{name}"
        spark.conf.set(catalog, "org.apache.iceberg.spark.SparkCatalog")
        for key, value in settings.items():
            spark.conf.set(f"{catalog}.{key.replace('_', '-')}", value)
        tables = open_tables(spark, format="iceberg", catalog=name)
        with pytest.raises(TableError) as caught:
            tables.exists(TableName("derived", "page_views"))
        return str(caught.value)

    file_io = "org.apache.iceberg.aws.s3.S3FileIO"
    said = without("on_s3", type="hadoop", warehouse="/tmp/lake", io_impl=file_io)
    assert "S3FileIO needs the package org.apache.iceberg:iceberg-aws-bundle" in said
    said = without("in_sql", type="jdbc", uri="jdbc:postgresql://127.0.0.1/x", warehouse="/tmp")
    assert "such as the package org.postgresql:postgresql" in said


def test_what_a_database_does_not_allow_is_the_reason() -> None:
    error = RuntimeError(
        "An error occurred while calling o42.sql.\n"
        ": org.apache.iceberg.jdbc.UncheckedSQLException: Unknown failure\n"
        "\tat org.apache.iceberg.jdbc.JdbcTableOperations.doCommit(JdbcTableOperations.java:146)\n"
        "Caused by: org.postgresql.util.PSQLException: ERROR: permission denied for table lake\n"
        "\tat org.postgresql.core.v3.QueryExecutorImpl.execute(QueryExecutorImpl.java:372)\n"
        "\t... 51 more"
    )
    assert reason_of(error) == "PSQLException: ERROR: permission denied for table lake."
