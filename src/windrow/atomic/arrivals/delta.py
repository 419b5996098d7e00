"""Which rows were added to a Delta table when: its log has the files that each commit added.

Its entries have the least time of each file, so that, where nothing is late, no file is opened. Of
a commit that takes files away too, they do not tell which rows are new. Delta's change feed does,
but is not switched on unless someone thought of it.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from urllib.parse import unquote

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from windrow.atomic.arrivals.values import FALLS_BACK, Arrived, lost, unreadable
from windrow.columns.timestamps import literal
from windrow.tables import delta_log
from windrow.tables.refusals import REFUSALS, is_missing
from windrow.tables.sql import quoted

_FILE = "path:string,dataChange:boolean"
_ENTRIES = (
    f"add struct<{_FILE},stats:string>, remove struct<{_FILE}>, commitInfo struct<operation:string>"
)
_TOLD_BY_FEED = {"MERGE", "UPDATE", "DELETE"}
"""Commits of which the change feed says which rows are new; of an overwrite, it says all are."""
_MOST_COMMITS = 20_000
"""More are not looked through one by one: a commit every ten seconds makes as many in two days."""
_MOST_FILES = 100_000
"""Of so many files the driver knows the names; of more, none."""


@dataclass(frozen=True)
class DeltaHistory:
    """The commits of a Delta table that holds events."""

    spark: SparkSession
    table: str
    """Its quoted name."""
    schema: StructType
    time_column: str

    def version(self, known: str | None = None) -> str | None:
        told = delta_log.ask(self.spark, self._location)
        number = None if told is None else told.version
        if number is None:
            newest = self._sql(f"describe history {self.table} limit 1")
            number = newest["version"]
        return f"{self._id}:{number}"

    def since(self, version: str, *, until: str, before: datetime) -> Arrived:
        table, _, number = version.rpartition(":")
        first, last = int(number) + 1, int(until.rpartition(":")[2])
        if table != self._id or first > last + 1:
            return lost("The events are in another Delta table than at the last run.")
        if first > last:
            return Arrived()
        if self._detail["properties"].get("delta.columnMapping.mode", "none") != "none":
            return lost("The events' Delta table maps columns, so that its files tell nothing.")
        gone = f"The log of the events' Delta table no longer reaches back to version {number}."
        if last - first > _MOST_COMMITS:
            return lost(f"The events' Delta table has had {last - first + 1:,} commits since.")
        try:
            found = self._added(first, last, before)
            if found["files"] is None:
                number = f"{found['number']:,} files that may hold late events"
                return lost(f"The events' Delta table has got {number} since the last run.")
            rows = self._rows_of([row["path"] for row in found["files"]])
        except PySparkException as error:
            if not is_missing(error):
                raise
            return lost(gone)
        rewriting = {row["operation"] for row in found["rewriting"]}
        if rewriting & _TOLD_BY_FEED and self._has_change_feed:
            merges = [row["version"] for row in found["rewriting"] if row["operation"] == "MERGE"]
            # Where it was switched on later than that, it is as if it were not.
            with suppress(*REFUSALS):
                if merges:
                    inserted = self._inserted(first, last, merges)
                    rows = inserted if rows is None else rows.unionByName(inserted)
                rewriting -= _TOLD_BY_FEED
        if not rewriting:
            return Arrived(rows)
        names = ", ".join(sorted(rewriting))
        return Arrived(
            rows, f"The events were rewritten since the last run ({names}). {FALLS_BACK}"
        )

    @property
    def _has_change_feed(self) -> bool:
        return str(self._detail["properties"].get("delta.enableChangeDataFeed")).lower() == "true"

    def _inserted(self, first: int, last: int, merges: list[int]) -> DataFrame:
        """The rows that MERGE statements inserted, as the change feed has them."""
        feed = self.spark.read.format("delta").option("readChangeFeed", "true")
        changes = feed.option("startingVersion", first).option("endingVersion", last)
        is_new = (F.col("_change_type") == "insert") & F.col("_commit_version").isin(*merges)
        rows = changes.load(self._location).where(is_new)
        return rows.select(*(F.col(quoted(name)) for name in self.schema.names))

    def _added(self, first: int, last: int, before: datetime) -> Row:
        """Files that may hold events from before a moment, and what commits rewrote others."""
        log = f"{self._location}/{delta_log.LOG}"
        paths = [f"{log}/{number:020d}.json" for number in range(first, last + 1)]
        stats = F.get_json_object("add.stats", f"$.minValues.{self.time_column}")
        earliest = stats.try_cast("timestamp")
        may_be_late = F.coalesce(earliest < literal(before), F.lit(True))
        is_added, is_removed = F.col("add.dataChange"), F.col("remove.dataChange")
        file = F.when(is_added & may_be_late, F.struct("add.path"))
        commits = (
            self.spark.read.schema(_ENTRIES)
            .json(paths)
            .groupBy(F.substring("_metadata.file_name", 1, 20).cast("bigint").alias("version"))
            .agg(
                F.collect_list(file).alias("files"),
                F.bool_or(is_added).alias("adds"),
                F.bool_or(is_removed).alias("removes"),
                F.max("commitInfo.operation").alias("operation"),
            )
        )
        rewrites = F.coalesce(F.col("adds") & F.col("removes"), F.lit(False))
        appended = F.when(~rewrites, F.col("files"))
        number = F.coalesce(F.sum(F.when(~rewrites, F.size("files"))), F.lit(0))
        files = F.flatten(F.collect_list(appended))
        return commits.agg(
            number.alias("number"),
            F.when(number <= _MOST_FILES, files).alias("files"),
            F.collect_list(F.when(rewrites, F.struct("version", "operation"))).alias("rewriting"),
        ).collect()[0]

    def _rows_of(self, files: list[str]) -> DataFrame | None:
        if not files:
            return None
        reader = self.spark.read.schema(self.schema).option("basePath", self._location)
        return reader.parquet(*(f"{self._location}/{unquote(path)}" for path in files))

    @cached_property
    def _detail(self) -> Row:
        return self._sql(f"describe detail {self.table}")

    @property
    def _location(self) -> str:
        return str(self._detail["location"]).rstrip("/")

    @property
    def _id(self) -> str:
        """Delta's own id of the table, so that another one at its place is noticed."""
        return f"delta:{self._detail['id']}"

    def _sql(self, text: str) -> Row:
        try:
            return self.spark.sql(text).collect()[0]
        except REFUSALS as error:
            raise unreadable(error) from error
