"""Which rows were added to an Iceberg table when: its snapshots say, and can be read one by one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from pyspark.sql import DataFrame, Row, SparkSession

from windrow.atomic.arrivals.values import FALLS_BACK, Arrived, lost, unreadable
from windrow.tables.refusals import REFUSALS

_KIND = "iceberg:"


@dataclass(frozen=True)
class IcebergHistory:
    """The snapshots of an Iceberg table that holds events."""

    spark: SparkSession
    table: str
    """Its quoted name, or its path."""
    is_path: bool = False
    options: Mapping[str, str] = field(default_factory=dict)

    def version(self, known: str | None = None) -> str | None:
        rows = self._metadata("refs").where("name = 'main'").select("snapshot_id")
        found = self._collected(rows)
        return f"{_KIND}{found[0]['snapshot_id']}" if found else None

    def since(self, version: str, *, until: str, before: datetime) -> Arrived:
        if not version.startswith(_KIND):
            return lost("The events are in another table than at the last run.")
        first, last = int(version.removeprefix(_KIND)), int(until.removeprefix(_KIND))
        if first == last:
            return Arrived()
        snapshots = self._metadata("snapshots").select("snapshot_id", "parent_id", "operation")
        operations = _operations_between(self._collected(snapshots), first, last)
        if operations is None:
            return lost(f"The events' snapshot {first} of the last run is there no more.")
        rows: DataFrame | None = None
        if "append" in operations:
            reader = self.spark.read.format("iceberg").options(**self.options)
            between = reader.option("start-snapshot-id", first).option("end-snapshot-id", last)
            rows = between.load(self.table) if self.is_path else between.table(self.table)
        if "overwrite" not in operations:
            return Arrived(rows)
        return Arrived(
            rows, f"The events were rewritten since the last run (overwrite). {FALLS_BACK}"
        )

    def _metadata(self, name: str) -> DataFrame:
        try:
            if self.is_path:
                return self.spark.read.format("iceberg").load(f"{self.table}#{name}")
            return self.spark.table(f"{self.table}.{name}")
        except REFUSALS as error:
            raise unreadable(error) from error

    @staticmethod
    def _collected(rows: DataFrame) -> list[Row]:
        try:
            return rows.collect()
        except REFUSALS as error:
            raise unreadable(error) from error


def _operations_between(snapshots: Iterable[Row], first: int, last: int) -> set[str] | None:
    """What was done after one snapshot up to another; None when they do not follow each other."""
    by_id = {row["snapshot_id"]: row for row in snapshots}
    operations, at = set[str](), last
    while at != first:
        if at not in by_id:
            return None
        operations.add(by_id[at]["operation"])
        at = by_id[at]["parent_id"]
    return operations
