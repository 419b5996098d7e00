"""Iceberg tables, in a hadoop catalog over a warehouse or in a catalog the user configured."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from pyspark.sql import DataFrame, Row, SparkSession

from windrow.columns.rules import column, rule_of
from windrow.errors import TableError
from windrow.tables import sql
from windrow.tables.days import DayRange
from windrow.tables.file_sizes import iceberg_files, stretch_of
from windrow.tables.layout import keys_sql
from windrow.tables.place import Place
from windrow.tables.refusals import refusals
from windrow.tables.seam import (
    Columns,
    Commit,
    Compaction,
    Expiry,
    FileSizes,
    Layout,
    TableName,
)
from windrow.tables.sql_tables import SqlTables, count, number

RUN_ID = "run_id"
RESTORED = "restored_version"
"""What the summary of a snapshot has that brought the rows of an older version back."""
SNAPSHOT_PROPERTY = "spark.sql.iceberg.snapshot-property"
"""What settings begin with whose values go into the summaries of snapshots."""
_MERGED = "spark.merge-into.num-target-rows-"
"""What figures begin with that the summary of a merge's snapshot has."""
RETYPED = "windrow.retyped"
"""The property of a table some of whose columns were made anew with other types."""


class IcebergTables(SqlTables):
    """The Iceberg tables of one target."""

    format = "iceberg"
    run_id_setting = f"{SNAPSHOT_PROPERTY}.{RUN_ID}"

    def __init__(
        self, spark: SparkSession, *, warehouse: str | None = None, catalog: str | None = None
    ) -> None:
        super().__init__(spark, warehouse=warehouse, catalog=catalog)
        self.catalog = self.place.catalog or hadoop_catalog(spark, str(self.place.warehouse))

    def identifier(self, table: TableName) -> str:
        return Place.identifier(self.catalog, table)

    def create_schema(self, schema: str) -> None:
        names = sql.quoted(self.catalog), sql.quoted(schema)
        self.spark.sql(f"create schema if not exists {'.'.join(names)}")

    def statements_to_create(
        self, table: TableName, columns: Columns, layout: Layout, properties: Mapping[str, str]
    ) -> list[str]:
        text = sql.create_table(
            self.identifier(table),
            columns,
            using=self.format,
            partition_by=keys_sql(layout.partition_by),
            properties={**properties, "format-version": "2"},
        )
        return [text, *(self._order_writes(table, layout) if layout.cluster_by else ())]

    def names(self, schema: str) -> list[str]:
        return self.names_in_catalog(self.catalog, schema)

    def version(self, table: TableName) -> str | None:
        return self.versions([table]).get(table) if self.exists(table) else None

    def versions(self, tables: Sequence[TableName]) -> dict[TableName, str]:
        if not tables:
            return {}
        texts = [
            f"select {number} as number, snapshot_id from {self.identifier(table)}.refs "
            "where name = 'main'"
            for number, table in enumerate(tables)
        ]
        with refusals(tables[0], "read the history of"):
            refs = self.spark.sql(" union all ".join(texts)).collect()
        return {tables[row["number"]]: str(row["snapshot_id"]) for row in refs}

    def options_to_rewrite(self, version: str | None) -> dict[str, str]:
        checked = {} if version is None else {"validate-from-snapshot-id": version}
        return {"isolation-level": "serializable", **checked}

    def history(self, table: TableName, *, newest: int | None = None) -> list[Commit]:
        name = self.identifier(table)
        limit = "" if newest is None else f"order by committed_at desc limit {newest}"
        with refusals(table, "read the history of"):
            snapshots = self.spark.sql(
                f"""
                select snapshot_id, parent_id, operation, summary, branch.name is not null as is_now
                from {name}.snapshots
                left join (
                    select snapshot_id, name from {name}.refs where name = 'main'
                ) as branch using (snapshot_id)
                {limit}
                """
            ).collect()
        return [_commit(row) for row in lineage(snapshots)]

    def restore(self, table: TableName, version: str | None) -> None:
        """Take the rows back; columns added since then stay, and no commit is made for it.

        Unless columns were ever given other types: older files know them as other columns, so the
        rows of that version are written anew, in one commit.
        """
        if version is None:
            # A DELETE would not carry whose commit it is.
            self.overwrite(table, self.read(table).limit(0))
            return
        old = self.frame(table, version, "restore")
        if RETYPED in self.properties(table):
            self._make_columns(table, _columns_of(old))
            with self.setting(f"{SNAPSHOT_PROPERTY}.{RESTORED}", version):
                self.overwrite(table, old)
            return
        name = f"{sql.quoted(table.schema)}.{sql.quoted(table.name)}"
        with self.writing(table, "restore"):
            # rollback_to_snapshot would refuse a snapshot that an earlier restore had left behind.
            self.spark.sql(
                f"call {sql.quoted(self.catalog)}.system.set_current_snapshot("
                f"table => {sql.literal(name)}, snapshot_id => {number(table, version)})"
            )

    def retype(self, table: TableName, columns: Columns) -> None:
        """Make the columns anew where they were: Iceberg widens types, and no more."""
        # First of all: a restore must know, even if this is killed half-way.
        self.set_properties(table, {RETYPED: "true"})
        stored = _columns_of(self.read(table))
        wanted = {name: column(columns.get(name, it), rule_of(it)) for name, it in stored.items()}
        self._make_columns(table, wanted)

    def recast(self, table: TableName, columns: Columns) -> None:
        raise TableError(
            f"{table}: the columns {', '.join(columns)} of a table with rows cannot be given other "
            "types on Iceberg."
        )

    def _make_columns(self, table: TableName, wanted: Columns) -> None:
        """Give the table these columns, each in its place.

        Those of another type are made anew, and those that are missing because someone was killed
        here.
        """
        stored, place = self.columns(table), "first"
        alter = f"alter table {self.identifier(table)}"
        with self.writing(table, "change the columns of"):
            for name, kind in wanted.items():
                quoted = sql.quoted(name)
                if stored.get(name) != kind:
                    if name in stored:
                        self.spark.sql(f"{alter} drop column {quoted}")
                    self.spark.sql(sql.add_columns(self.identifier(table), {name: kind}))
                    self.spark.sql(f"{alter} alter column {quoted} {place}")
                place = f"after {quoted}"

    def drop(self, table: TableName) -> None:
        """Remove the table and its files if it exists."""
        with self.writing(table, "drop"):
            self.spark.sql(f"drop table if exists {self.identifier(table)} purge")

    def files_on(
        self, table: TableName, column: str | None, days: Sequence[DayRange]
    ) -> FileSizes | None:
        with refusals(table, "look at"):
            files = self.spark.table(f"{self.identifier(table)}.files")
            return iceberg_files(files, column, [stretch_of(it) for it in days])

    # --- upkeep of files -----------------------------------------------------------------------

    def layout(self, table: TableName) -> Layout:
        with refusals(table, "look at"):
            described = self.spark.sql(f"describe table {self.identifier(table)}").collect()
        order = self.properties(table).get("sort-order", "")
        return Layout(tuple(sorted(describe_partitions(described))), tuple(ordered_columns(order)))

    def change_layout(self, table: TableName, layout: Layout) -> None:
        """Change partition fields and sort order, then write all rows anew."""
        now = self.layout(table)
        if now == layout:
            return
        self.forget_partitions(table)
        name = self.identifier(table)
        with self.writing(table, "change the layout of"):
            for key in now.partition_by:
                if key not in layout.partition_by:
                    self.spark.sql(f"alter table {name} drop partition field {keys_sql([key])}")
            for key in layout.partition_by:
                if key not in now.partition_by:
                    self.spark.sql(f"alter table {name} add partition field {keys_sql([key])}")
            for text in self._order_writes(table, layout):
                self.spark.sql(text)
        self._rewrite(table, layout, {"rewrite-all": "true"})

    def _order_writes(self, table: TableName, layout: Layout) -> list[str]:
        """Rows of a partition come together and are sorted there; without keys, as Iceberg does."""
        alter = f"alter table {self.identifier(table)}"
        if layout.cluster_by:
            by_partition = "distributed by partition " if layout.partition_by else ""
            return [f"{alter} write {by_partition}locally ordered by {keys_sql(layout.cluster_by)}"]
        return [
            f"{alter} write unordered",
            f"{alter} unset tblproperties ('write.distribution-mode')",
        ]

    def compact(self, table: TableName) -> Compaction:
        before = self._files(table)
        # Two small files of a day are worth one; the default waits for five.
        self._rewrite(table, self.layout(table), {"min-input-files": "2"})
        return Compaction(before, self._files(table))

    def _rewrite(self, table: TableName, layout: Layout, options: Mapping[str, str]) -> None:
        strategy = "sort" if layout.cluster_by else "binpack"
        pairs = ", ".join(f"{sql.literal(k)}, {sql.literal(v)}" for k, v in options.items())
        with self.writing(table, "rewrite"):
            self._call(
                "rewrite_data_files", table, f"strategy => '{strategy}', options => map({pairs})"
            )

    def _files(self, table: TableName) -> int:
        with refusals(table, "look at"):
            files = self.spark.sql(f"select count(*) as files from {self.identifier(table)}.files")
            return int(files.collect()[0]["files"])

    def expire(self, table: TableName, older_than: datetime, *, delete: bool) -> Expiry:
        """Give up snapshots from before the one that was current at the moment."""
        name = self.identifier(table)
        with refusals(table, "expire"):
            snapshots = self.spark.sql(
                f"select snapshot_id, unix_micros(committed_at) as at from {name}.snapshots"
            ).collect()
        times = {str(row["snapshot_id"]): int(row["at"]) for row in snapshots}
        kept = oldest_kept(self.history(table), times, older_than)
        gone = 0 if kept is None else sum(at < times[kept] for at in times.values())
        if kept is not None and gone and delete:
            with refusals(table, "expire"):
                # An instant as text would be read in the session's time zone.
                before = f"older_than => timestamp_micros({times[kept]}), retain_last => 1"
                self._call("expire_snapshots", table, before)
        return Expiry(gone, "version")

    def _call(self, procedure: str, table: TableName, arguments: str) -> None:
        name = sql.literal(f"{sql.quoted(table.schema)}.{sql.quoted(table.name)}")
        self.spark.sql(
            f"call {sql.quoted(self.catalog)}.system.{procedure}(table => {name}, {arguments})"
        ).collect()


def _columns_of(rows: DataFrame) -> Columns:
    """The columns of a frame, with their comments as rules."""
    return {
        field.name: column(field.dataType.simpleString(), field.metadata.get("comment", ""))
        for field in rows.schema.fields
    }


def oldest_kept(history: Sequence[Commit], times: Mapping[str, int], since: datetime) -> str | None:
    """The snapshot that was current at a moment; None when the table has none as old as that.

    Expiring by age alone would give it up, and with it the way back to how the table was then.
    """
    moment = int(since.timestamp() * 1_000_000)
    known = [commit.version for commit in history if commit.version in times]
    return next((version for version in known if times[version] <= moment), None)


def describe_partitions(rows: Iterable[Row]) -> Iterator[str]:
    """The partition keys out of what DESCRIBE TABLE says, which has two ways to say it."""
    heading = ""
    for row in rows:
        name = row["col_name"]
        if name in ("# Partitioning", "# Partition Information"):
            heading = name
        elif heading and (not name or name.startswith("#")) and name != "# col_name":
            return
        elif heading and name != "# col_name":
            yield row["data_type"] if heading == "# Partitioning" else name


def ordered_columns(text: str) -> list[str]:
    """The columns of a sort order: `id ASC NULLS FIRST, n ASC NULLS FIRST` -> id, n."""
    return [part.split()[0] for part in text.split(",") if part.strip() and part != "unsorted"]


def hadoop_catalog(spark: SparkSession, warehouse: str) -> str:
    """The name of a hadoop catalog over the folder, known to the session from now on."""
    name = f"windrow_{hashlib.sha256(warehouse.encode()).hexdigest()[:8]}"
    prefix = f"spark.sql.catalog.{name}"
    spark.conf.set(prefix, "org.apache.iceberg.spark.SparkCatalog")
    spark.conf.set(f"{prefix}.type", "hadoop")
    spark.conf.set(f"{prefix}.warehouse", warehouse)
    # A cached table would hide for 30 seconds what another process has committed.
    spark.conf.set(f"{prefix}.cache-enabled", "false")
    return name


def lineage(snapshots: Iterable[Row]) -> Iterator[Row]:
    """The present snapshot and its ancestors, newest first.

    Back to one that emptied the table or that stands for an older one: what came before it counts
    no more. A merge that took the last rows out is a change like any other.
    """
    by_id = {row["snapshot_id"]: row for row in snapshots}
    snapshot = next((row for row in by_id.values() if row["is_now"]), None)
    while snapshot:
        yield snapshot
        summary = snapshot["summary"]
        is_merge = any(name.startswith(_MERGED) for name in summary)
        is_empty = summary.get("total-records") == "0" and not is_merge
        is_emptied = is_empty and snapshot["operation"] in ("delete", "overwrite")
        if is_emptied or RESTORED in snapshot["summary"]:
            return
        snapshot = by_id.get(snapshot["parent_id"])


def _commit(row: Row) -> Commit:
    summary = row["summary"]
    return Commit(
        version=str(row["snapshot_id"]),
        run_id=summary.get(RUN_ID),
        operation=row["operation"],
        before=None if row["parent_id"] is None else str(row["parent_id"]),
        rows_inserted=count(summary, f"{_MERGED}inserted", "added-records"),
        rows_updated=count(summary, f"{_MERGED}updated"),
        rows_deleted=count(summary, f"{_MERGED}deleted", "deleted-records"),
        bytes_added=count(summary, "added-files-size"),
        files_added=count(summary, "added-data-files"),
    )
