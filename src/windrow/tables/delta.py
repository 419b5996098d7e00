"""Delta Lake tables, by path under a warehouse or by name in a catalog."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from windrow.tables import delta_log, sql
from windrow.tables.days import DayRange, at_times, on_days
from windrow.tables.file_sizes import files_of
from windrow.tables.layout import keys_sql
from windrow.tables.refusals import refusals
from windrow.tables.seam import (
    Columns,
    Commit,
    Compaction,
    ConflictError,
    Expiry,
    FileSizes,
    Layout,
    TableName,
)
from windrow.tables.sql_tables import SqlTables, count, number

# Delta keeps min and max of this many leading columns unless told which ones.
INDEXED_BY_DEFAULT = 32
MOST_INDEXED_IDS = 2
"""Ids are drawn at random: the least and the greatest of a file tell next to nothing, and cost a
comparison for every row that is written."""
STATISTICS = "delta.dataSkippingStatsColumns"
INDEXED = "delta.dataSkippingNumIndexedCols"
MOST_LISTED_BY_VACUUM = 1000
LISTING_TASKS = "16"
_FEW_DAYS = 3
_MOST_FILES_OF_A_DAY = 10
NO_VERSION = 2**62
"""A version that no table will ever have."""
LAST_COMMIT = "spark.databricks.delta.lastCommitVersionInSession"
"""The setting in which Delta tells the version that the session committed last."""
TIME_TYPES = {"timestamp", "timestamp_ntz", "date"}
ID_TYPES = {"string", "int", "bigint"}


class DeltaTables(SqlTables):
    """The Delta tables of one target."""

    format = "delta"
    run_id_setting = "spark.databricks.delta.commitInfo.userMetadata"

    def identifier(self, table: TableName) -> str:
        if self.place.catalog:
            return self.place.identifier(self.place.catalog, table)
        return f"delta.{sql.quoted(self.place.path(table))}"

    def create_schema(self, schema: str) -> None:
        if self.place.catalog:
            names = sql.quoted(self.place.catalog), sql.quoted(schema)
            self.spark.sql(f"create schema if not exists {'.'.join(names)}")

    def statements_to_create(
        self, table: TableName, columns: Columns, layout: Layout, properties: Mapping[str, str]
    ) -> list[str]:
        indexed = indexed_columns(columns, layout)
        return [
            sql.create_table(
                self.identifier(table),
                columns,
                using=self.format,
                partition_by=keys_sql(layout.partition_by),
                cluster_by=keys_sql(layout.cluster_by),
                properties={**properties, **({STATISTICS: ",".join(indexed)} if indexed else {})},
            )
        ]

    @contextmanager
    def commits_of(self, run_id: str, fence: Callable[[], None] | None = None) -> Iterator[None]:
        # Before a merge Delta would compute and copy the changes, in case they differ the second
        # time it reads them. The engine hands in rows that are settled already.
        unchanging = self.setting("spark.databricks.delta.merge.materializeSource", "none")
        with super().commits_of(run_id, fence), unchanging:
            yield

    def names(self, schema: str) -> list[str]:
        if self.place.catalog:
            return self.names_in_catalog(self.place.catalog, schema)
        folder = f"{self.place.warehouse}/{sql.check_name(schema)}"
        with refusals(TableName(schema, "*"), "list the tables of"):
            return delta_log.tables_under(self.spark, folder)

    def exists(self, table: TableName) -> bool:
        told = self._told(table)
        return super().exists(table) if told is None else told.version is not None

    def version(self, table: TableName) -> str | None:
        told = self._told(table)
        if told is None:
            return self._newest(table) if super().exists(table) else None
        return None if told.version is None else str(told.version)

    def versions(self, tables: Sequence[TableName]) -> dict[TableName, str]:
        found = {table: self.version(table) for table in tables}
        return {table: at for table, at in found.items() if at is not None}

    def _told(self, table: TableName) -> delta_log.Told | None:
        """What Delta's log says of a table by path; None where it cannot be asked."""
        return None if self.place.catalog else delta_log.ask(self.spark, self.place.path(table))

    def _newest(self, table: TableName) -> str:
        """The newest version, which Delta names when asked for one that it cannot have: no job.

        A history of one commit would be two queries, and a job of its own.
        """
        try:
            never = self.spark.read.option("versionAsOf", NO_VERSION)
            _ = never.table(self.identifier(table)).schema
        except PySparkException as error:
            told = error.getMessageParameters() or {}
            if told.get("latest", "").isdigit():
                return told["latest"]
        with refusals(table, "read the history of"):
            newest = self.spark.sql(f"describe history {self.identifier(table)} limit 1")
            return str(newest.collect()[0]["version"])

    def refuse_if_changed_since(self, table: TableName, version: str | None) -> None:
        """Rows that a Delta write reads of its own table are not part of its transaction."""
        assert version is not None
        ours = self._committed.get(table)
        if ours is None:
            run_id = self.spark.conf.get(self.run_id_setting, None)
            newer = [it for it in self.history(table) if int(it.version) > int(version)]
            ours = next((it.version for it in reversed(newer) if it.run_id == run_id), version)
        if int(ours) > int(version) + 1:
            self.restore(table, str(int(ours) - 1))
            raise ConflictError(
                f"Could not overwrite rows of {table}: another writer changed it at the same "
                "time. What it wrote was kept; try again."
            )

    def forget_last_commit(self) -> None:
        # It would be taken for this one's if this one changes nothing, and so is none.
        self.spark.conf.unset(LAST_COMMIT)

    def last_commit(self) -> str | None:
        return self.spark.conf.get(LAST_COMMIT, None)

    def history(self, table: TableName, *, newest: int | None = None) -> list[Commit]:
        limit = "" if newest is None else f" limit {newest}"
        with refusals(table, "read the history of"):
            rows = (
                self.spark.sql(f"describe history {self.identifier(table)}{limit}")
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
        with self.writing(table, "restore"):
            text = f"restore table {self.identifier(table)} to version as of"
            self.spark.sql(f"{text} {number(table, version)}")

    def recast(self, table: TableName, columns: Columns) -> None:
        before = int(self.versions([table])[table])
        detail = self._detail(table)
        rows = _recast(self.read(table, version=str(before)), columns)
        fitting = self._by_partition(rows, detail["partitionColumns"])
        writer = fitting.write.format("delta").mode("overwrite").option("overwriteSchema", "true")
        with self.writing(table, "change the types of"):
            writer.partitionBy(*detail["partitionColumns"]).save(detail["location"])
        self._refuse_lost_rows(table, before)

    def retype(self, table: TableName, columns: Columns) -> None:
        retyped = _recast(self.read(table).limit(0), columns)
        detail = self._detail(table)
        writer = retyped.write.format("delta").mode("overwrite").option("overwriteSchema", "true")
        with self.writing(table, "change the columns of"):
            writer.partitionBy(*detail["partitionColumns"]).save(detail["location"])

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
            with self.writing(table, "drop"):
                self.spark.sql(f"drop table if exists {self.identifier(table)} purge")
        else:
            self.restore(table, None)

    def files_on(
        self, table: TableName, column: str | None, days: Sequence[DayRange]
    ) -> FileSizes | None:
        rows = self.read(table)
        if column is not None:
            bound = on_days if dict(rows.dtypes)[column] == "date" else at_times
            rows = rows.where(bound(sql.quoted(column), days, or_null=False))
        return files_of(rows)

    # --- upkeep of files -----------------------------------------------------------------------

    def layout(self, table: TableName) -> Layout:
        detail = self._detail(table)
        return Layout(tuple(sorted(detail["partitionColumns"])), tuple(detail["clusteringColumns"]))

    def change_layout(self, table: TableName, layout: Layout) -> None:
        """Cluster in place; partitions are part of the paths, so these cost a rewrite."""
        now = self.layout(table)
        if now == layout:
            return
        self.forget_partitions(table)
        with self.writing(table, "change the layout of"):
            if now.cluster_by:
                # Delta insists on statistics of the columns it clusters by, also of former ones.
                self.spark.sql(f"alter table {self.identifier(table)} cluster by none")
            if now.partition_by != layout.partition_by:
                self._index_everything(table)
                self._rewrite(table, layout.partition_by)
            self._index(table, layout)
            if layout.cluster_by:
                keys = keys_sql(layout.cluster_by)
                self.spark.sql(f"alter table {self.identifier(table)} cluster by ({keys})")
                self.spark.sql(f"optimize {self.identifier(table)} full")

    def _index(self, table: TableName, layout: Layout) -> None:
        """Keep statistics of what the layout wants, where the table is too wide for all."""
        alter = f"alter table {self.identifier(table)}"
        if indexed := ",".join(indexed_columns(self.columns(table), layout)):
            pair = f"{sql.literal(STATISTICS)} = {sql.literal(indexed)}"
            self.spark.sql(f"{alter} set tblproperties ({pair})")
            self.spark.sql(f"{alter} unset tblproperties if exists ({sql.literal(INDEXED)})")

    def _index_everything(self, table: TableName) -> None:
        """Keep statistics of all columns for the time of a rewrite.

        Neither a column that is a partition yet nor one that will be can be named for it, but the
        former needs them from its first file on.
        """
        alter = f"alter table {self.identifier(table)}"
        if indexed_columns(self.columns(table), Layout()):
            self.spark.sql(f"{alter} set tblproperties ({sql.literal(INDEXED)} = '-1')")
            self.spark.sql(f"{alter} unset tblproperties if exists ({sql.literal(STATISTICS)})")

    def _rewrite(self, table: TableName, partition_by: Sequence[str]) -> None:
        """Write all rows anew under other partitions, in one commit."""
        before = int(self.versions([table])[table])
        rows = self._by_partition(self.read(table, version=str(before)), partition_by)
        writer = rows.write.format("delta").mode("overwrite").option("overwriteSchema", "true")
        # In a catalog, an overwrite by name would replace the table with its properties.
        writer.partitionBy(*partition_by).save(self._detail(table)["location"])
        self._refuse_lost_rows(table, before)

    def _refuse_lost_rows(self, table: TableName, before: int) -> None:
        """Take the rewrite back if someone committed between its reading and its writing."""
        since = self.spark.sql(f"describe history {self.identifier(table)}")
        newer = since.where(f"version > {before}").select("version", "operationParameters")
        ours = min(
            row["version"]
            for row in newer.collect()
            if row["operationParameters"].get("canOverwriteSchema") == "true"
        )
        if ours != before + 1:
            self.restore(table, str(ours - 1))
            raise ConflictError(
                f"Could not write {table} anew: another writer changed it at the same time. Its "
                "rows were kept and the table left as it was; try again."
            )

    def compact(self, table: TableName) -> Compaction:
        before = self._detail(table)["numFiles"]
        with self.writing(table, "compact"):
            self.spark.sql(f"optimize {self.identifier(table)}").collect()
        return Compaction(before, self._detail(table)["numFiles"])

    def expire(self, table: TableName, older_than: datetime, *, delete: bool) -> Expiry:
        age = max(datetime.now(UTC) - older_than, timedelta(0))
        hours = f"{age / timedelta(hours=1):.4f}"
        text = f"vacuum {self.identifier(table)} retain {hours} hours"
        # Delta takes less than a week for a mistake; whoever calls this has thought about it.
        check = self.setting("spark.databricks.delta.retentionDurationCheck.enabled", "false")
        # Left alone, Spark lists folders with ten thousand tasks, however few there are.
        listing = self.setting(
            "spark.sql.sources.parallelPartitionDiscovery.parallelism", LISTING_TASKS
        )
        # On some stores Delta keeps no record of what it deleted unless asked to.
        record = self.setting("spark.databricks.delta.vacuum.logging.enabled", "true")
        with refusals(table, "vacuum"), check, listing, record:
            if not delete:
                files = len(self.spark.sql(f"{text} dry run").collect())
                return Expiry(files, "file", is_more=files >= MOST_LISTED_BY_VACUUM)
            self.spark.sql(text).collect()
            newest = self.spark.sql(f"describe history {self.identifier(table)} limit 1")
            metrics = newest.collect()[0]["operationMetrics"]
        return Expiry(count(metrics, "numDeletedFiles") or 0, "file")

    def _detail(self, table: TableName) -> Row:
        with refusals(table, "look at"):
            return self.spark.sql(f"describe detail {self.identifier(table)}").collect()[0]

    def fit_rows(self, table: TableName, rows: DataFrame, *, days: int | None = None) -> DataFrame:
        """The rows in the table's shape, a partition's rows together."""
        fitting = super().fit_rows(table, rows)
        return self._by_partition(fitting, sorted(self.partitions(table)), days)

    def _by_partition(
        self, rows: DataFrame, partition_by: Sequence[str], days: int | None = None
    ) -> DataFrame:
        """A partition's rows together: else every task would write a file into each partition."""
        if not partition_by:
            return rows
        if self.spark.conf.get("spark.sql.adaptive.enabled") == "false":
            if days is not None and days <= _FEW_DAYS:
                # Few tasks with a file each for few days: no row is sent about, and a large day is
                # not left to one task.
                partitions = int(self.spark.conf.get("spark.sql.shuffle.partitions") or 1)
                return rows.coalesce(min(_MOST_FILES_OF_A_DAY, -(-partitions // 4)))
            # Spark rebalances only when it is adaptive.
            return rows.repartition(*partition_by)
        return rows.hint("rebalance", *partition_by)


def _recast(rows: DataFrame, columns: Columns) -> DataFrame:
    """The rows with other types for some columns; comments stay."""
    noted = {field.name: field.metadata for field in rows.schema.fields}
    return rows.select(
        *(
            F.col(sql.quoted(n)).cast(columns.get(n, t)).alias(n, metadata=noted[n])
            for n, t in rows.dtypes
        )
    )


def indexed_columns(columns: Columns, layout: Layout) -> list[str]:
    """The columns of a wide table that deserve statistics: those it clusters by, times and ids.

    Partition columns need none, and Delta refuses to index them.
    """
    if len(columns) <= INDEXED_BY_DEFAULT:
        return []
    rest = {c: t.lower() for c, t in columns.items() if c not in layout.partition_by}
    times = [c for c, t in rest.items() if t in TIME_TYPES]
    ids = [c for c, t in rest.items() if t in ID_TYPES and c.endswith("id")]
    indexed = dict.fromkeys([*layout.cluster_by, *times, *ids[:MOST_INDEXED_IDS]])
    return [sql.quoted(c) for c in indexed]


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
            and not parameters.get("predicate")
            and parameters.get("canOverwriteSchema") != "true"
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
        bytes_added=count(metrics, "numOutputBytes", "numTargetBytesAdded", "numAddedBytes"),
        files_added=count(metrics, "numFiles", "numTargetFilesAdded", "numAddedFiles"),
    )
