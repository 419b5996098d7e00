"""Delta Lake tables, by path under a warehouse or by name in a catalog."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from pyspark.sql import DataFrame, Row, SparkSession

from windrow.tables import sql
from windrow.tables.base import Columns, Commit, TableName
from windrow.tables.place import Place
from windrow.tables.refusals import refusals
from windrow.tables.sql_tables import SqlTables, count, number, with_columns

# Delta keeps min and max of this many leading columns unless told which ones.
INDEXED_BY_DEFAULT = 32
MOST_INDEXED_IDS = 16
TIME_TYPES = {"timestamp", "timestamp_ntz", "date"}
ID_TYPES = {"string", "int", "bigint"}


class DeltaTables(SqlTables):
    """The Delta tables of one target."""

    format = "delta"
    run_id_setting = "spark.databricks.delta.commitInfo.userMetadata"

    def __init__(
        self, spark: SparkSession, *, warehouse: str | None = None, catalog: str | None = None
    ) -> None:
        super().__init__(spark)
        self.place = Place.of(warehouse=warehouse, catalog=catalog)

    def identifier(self, table: TableName) -> str:
        if self.place.catalog:
            return self.place.identifier(self.place.catalog, table)
        return f"delta.{sql.quoted(self.place.path(table))}"

    def create_schema(self, schema: str) -> None:
        if self.place.catalog:
            names = sql.quoted(self.place.catalog), sql.quoted(schema)
            self.spark.sql(f"create schema if not exists {'.'.join(names)}")

    def properties(self, columns: Columns, partition_by: Sequence[str]) -> dict[str, str]:
        indexed = indexed_columns(columns, partition_by)
        return {"delta.dataSkippingStatsColumns": ",".join(indexed)} if indexed else {}

    @contextmanager
    def commits_of(self, run_id: str) -> Iterator[None]:
        # Before a merge Delta would compute and copy the changes, in case they differ the second
        # time it reads them. The engine hands in rows that are settled already.
        unchanging = self.setting("spark.databricks.delta.merge.materializeSource", "none")
        with super().commits_of(run_id), unchanging:
            yield

    def version(self, table: TableName) -> str | None:
        if not self.exists(table):
            return None
        with refusals(table, "read the history of"):
            newest = self.spark.sql(f"describe history {self.identifier(table)} limit 1")
            return str(newest.collect()[0]["version"])

    def history(self, table: TableName) -> list[Commit]:
        with refusals(table, "read the history of"):
            rows = (
                self.spark.sql(f"describe history {self.identifier(table)}")
                .select(
                    "version",
                    "operation",
                    "operationParameters",
                    "operationMetrics",
                    "userMetadata",
                )
                .collect()
            )
        return [_commit(row) for row in lineage(rows)]

    def restore(self, table: TableName, version: str | None) -> None:
        """Take rows and columns back: a Delta version holds both."""
        if version is None:
            self.overwrite(table, self.read(table).limit(0))
            return
        with refusals(table, "restore"):
            text = f"restore table {self.identifier(table)} to version as of"
            self.spark.sql(f"{text} {number(table, version)}")

    def drop(self, table: TableName) -> None:
        """Remove the table if it exists.

        In a catalog that is DROP TABLE. A table by path has no DROP: on a local disk its folder is
        removed; on an object store, which SQL cannot delete from, its rows are, and the empty
        table stays with its columns and its history.
        """
        if not self.exists(table):
            return
        folder = None if self.place.catalog else local_folder(self.place.path(table))
        if folder:
            shutil.rmtree(folder)
        elif self.place.catalog:
            with refusals(table, "drop"):
                self.spark.sql(f"drop table if exists {self.identifier(table)} purge")
        else:
            self.restore(table, None)

    def shaped(self, table: TableName, rows: DataFrame) -> DataFrame:
        """The rows in the table's shape, a partition's rows together.

        Otherwise every task would write a file of its own into each partition.
        """
        with refusals(table, "read"):
            stored = self.spark.catalog.listColumns(self.identifier(table))
        partition_by = [column.name for column in stored if column.isPartition]
        shaped = with_columns(table, rows, {column.name: column.dataType for column in stored})
        return shaped.hint("rebalance", *partition_by) if partition_by else shaped


def indexed_columns(columns: Columns, partition_by: Sequence[str]) -> list[str]:
    """The columns of a wide table that deserve statistics: its times and its ids.

    Partition columns need none, and Delta refuses to index them.
    """
    if len(columns) <= INDEXED_BY_DEFAULT:
        return []
    rest = {c: t.lower() for c, t in columns.items() if c not in partition_by}
    times = [c for c, t in rest.items() if t in TIME_TYPES]
    ids = [c for c, t in rest.items() if t in ID_TYPES and c.endswith("id")]
    return [sql.quoted(c) for c in times + ids[:MOST_INDEXED_IDS]]


def lineage(commits: Iterable[Row]) -> Iterator[Row]:
    """Of all commits, newest first, those that no later RESTORE or emptying undid."""
    limit: int | None = None
    for commit in commits:
        if limit is not None and commit["version"] > limit:
            continue
        yield commit
        parameters = commit["operationParameters"]
        if commit["operation"] == "RESTORE" and parameters.get("version"):
            limit = int(parameters["version"])
        elif (
            parameters.get("mode") == "Overwrite"
            and commit["operationMetrics"].get("numOutputRows") == "0"
        ):
            return


def local_folder(path: str) -> Path | None:
    """The path as a folder of this machine, or None when it is none."""
    parts = urlsplit(path)
    folder = Path(parts.path if parts.scheme == "file" else path)
    return folder if parts.scheme in ("", "file") and folder.is_dir() else None


def _commit(row: Row) -> Commit:
    metrics = row["operationMetrics"]
    is_write = row["operation"] == "WRITE"
    return Commit(
        version=str(row["version"]),
        run_id=row["userMetadata"],
        operation=row["operation"],
        before=str(row["version"] - 1) if row["version"] else None,
        rows_inserted=count(metrics, "numOutputRows" if is_write else "numTargetRowsInserted"),
        rows_updated=count(metrics, "numTargetRowsUpdated"),
        rows_deleted=count(metrics, "numTargetRowsDeleted", "numDeletedRows"),
    )
