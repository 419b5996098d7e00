"""An Iceberg table as years of runs leave it: manifests and snapshots, most files only named."""

from __future__ import annotations

from datetime import date
from typing import Any

from pyspark.sql import SparkSession

from bench.ages import Age
from bench.cpu import jvm_of


def grow_old(spark: SparkSession, name: str, age: Age) -> None:
    """Name files of all the days, then make a snapshot for each run that is kept."""
    jvm = jvm_of(spark)
    spark3 = getattr(jvm, "org.apache.iceberg.spark.Spark3Util")
    table = spark3.loadIcebergTable(spark._jsparkSession, name)
    column = _day_column(table)
    known = None if column is None else _file_in(table)
    if column is not None and known is not None:
        old = table.newAppend()
        for day in age.days:
            builder = _builder(jvm, table, known, column, day)
            for number in range(age.files_per_day):
                old.appendFile(builder.withPath(_path(table, column, day, f"old-{number}")).build())
        old.commit()
    for number in range(age.kept):
        run = table.newAppend()
        if column is not None and known is not None:
            day = age.days[number % len(age.days)]
            builder = _builder(jvm, table, known, column, day)
            run.appendFile(builder.withPath(_path(table, column, day, f"run-{number}")).build())
        run.commit()


def _day_column(table: Any) -> str | None:
    """What the table is partitioned by, where that is a day."""
    fields = table.spec().fields()
    if fields.size() != 1:
        return None
    kind = table.schema().findType(fields.get(0).sourceId()).toString()
    return str(fields.get(0).name()) if kind == "date" else None


def _file_in(table: Any) -> Any:
    """A real file, whose size and statistics the named ones have; None: there is none."""
    tasks = table.newScan().includeColumnStats().planFiles()
    try:
        found = tasks.iterator()
        return found.next().file() if found.hasNext() else None
    finally:
        tasks.close()


def _builder(jvm: Any, table: Any, known: Any, column: str, day: date) -> Any:
    files = getattr(jvm, "org.apache.iceberg.DataFiles")
    builder = files.builder(table.spec()).copy(known)
    return builder.withPartitionPath(f"{column}={day.isoformat()}")


def _path(table: Any, column: str, day: date, name: str) -> str:
    return f"{table.location()}/data/{column}={day.isoformat()}/{name}-{'0' * 36}.parquet"
