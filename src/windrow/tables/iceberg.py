"""Iceberg tables, in a hadoop catalog over a warehouse or in a catalog the user configured."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence

from pyspark.sql import Row, SparkSession

from windrow.tables import sql
from windrow.tables.base import Columns, Commit, TableName
from windrow.tables.place import Place
from windrow.tables.refusals import refusals
from windrow.tables.sql_tables import SqlTables, count, number

RUN_ID = "run_id"


class IcebergTables(SqlTables):
    """The Iceberg tables of one target."""

    format = "iceberg"
    run_id_setting = f"spark.sql.iceberg.snapshot-property.{RUN_ID}"

    def __init__(
        self, spark: SparkSession, *, warehouse: str | None = None, catalog: str | None = None
    ) -> None:
        super().__init__(spark)
        place = Place.of(warehouse=warehouse, catalog=catalog)
        self.catalog = place.catalog or hadoop_catalog(spark, str(place.warehouse))

    def identifier(self, table: TableName) -> str:
        return Place.identifier(self.catalog, table)

    def create_schema(self, schema: str) -> None:
        names = sql.quoted(self.catalog), sql.quoted(schema)
        self.spark.sql(f"create schema if not exists {'.'.join(names)}")

    def properties(self, columns: Columns, partition_by: Sequence[str]) -> dict[str, str]:
        return {"format-version": "2"}

    def version(self, table: TableName) -> str | None:
        if not self.exists(table):
            return None
        with refusals(table, "read the history of"):
            refs = self.spark.sql(
                f"select snapshot_id from {self.identifier(table)}.refs where name = 'main'"
            ).collect()
        return str(refs[0]["snapshot_id"]) if refs else None

    def history(self, table: TableName) -> list[Commit]:
        name = self.identifier(table)
        with refusals(table, "read the history of"):
            snapshots = self.spark.sql(
                f"""
                select snapshot_id, parent_id, operation, summary, branch.name is not null as is_now
                from {name}.snapshots
                left join (
                    select snapshot_id, name from {name}.refs where name = 'main'
                ) as branch using (snapshot_id)
                """
            ).collect()
        return [_commit(row) for row in lineage(snapshots)]

    def restore(self, table: TableName, version: str | None) -> None:
        """Take the rows back; columns added since then stay, and no commit is made for it."""
        if version is None:
            with refusals(table, "empty"):
                self.spark.sql(f"delete from {self.identifier(table)}")
            return
        name = f"{sql.quoted(table.schema)}.{sql.quoted(table.name)}"
        with refusals(table, "restore"):
            # rollback_to_snapshot would refuse a snapshot that an earlier restore had left behind.
            self.spark.sql(
                f"call {sql.quoted(self.catalog)}.system.set_current_snapshot("
                f"table => {sql.literal(name)}, snapshot_id => {number(table, version)})"
            )

    def drop(self, table: TableName) -> None:
        """Remove the table and its files if it exists."""
        with refusals(table, "drop"):
            self.spark.sql(f"drop table if exists {self.identifier(table)} purge")


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
    """The present snapshot and its ancestors, newest first, back to one that emptied the table."""
    by_id = {row["snapshot_id"]: row for row in snapshots}
    snapshot = next((row for row in by_id.values() if row["is_now"]), None)
    while snapshot:
        yield snapshot
        if snapshot["operation"] == "delete" and snapshot["summary"].get("total-records") == "0":
            return
        snapshot = by_id.get(snapshot["parent_id"])


def _commit(row: Row) -> Commit:
    summary = row["summary"]
    merged = "spark.merge-into.num-target-rows-"
    return Commit(
        version=str(row["snapshot_id"]),
        run_id=summary.get(RUN_ID),
        operation=row["operation"],
        before=None if row["parent_id"] is None else str(row["parent_id"]),
        rows_inserted=count(summary, f"{merged}inserted", "added-records"),
        rows_updated=count(summary, f"{merged}updated"),
        rows_deleted=count(summary, f"{merged}deleted", "deleted-records"),
    )
