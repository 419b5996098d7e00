"""A site whose events are in a table that remembers what was committed when."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from pyspark.sql import SparkSession

from website import Event, Site, event_frame
from windrow.tables.iceberg import hadoop_catalog


class TableSite(Site):
    """A site over a Delta or Iceberg table of events, with `new_by: commit`."""

    new_by = "commit"

    def __init__(
        self, spark: SparkSession, folder: Path, *, format: str = "delta", **options: Any
    ) -> None:
        super().__init__(spark, folder, format=format, **options)
        self.place = folder / "lake" / "atomic" / "events"
        file = folder / "windrow.yml"
        project = yaml.safe_load(file.read_text())
        project["events"] = {"path": str(self.place), "format": format, "new_by": self.new_by}
        file.write_text(yaml.safe_dump(project))

    @property
    def name(self) -> str:
        """What Spark SQL calls the table of events."""
        if self.format == "delta":
            return f"delta.`{self.place}`"
        return f"{hadoop_catalog(self.spark, str(self.folder / 'lake'))}.atomic.events"

    def arrive(self, *events: Event) -> None:
        """Events are committed."""
        self.arrivals.append(repr(events))
        rows = event_frame(self.spark, events).coalesce(1)
        if self.format == "delta":
            rows.write.format("delta").mode("append").save(str(self.place))
        elif self.place.exists():
            rows.writeTo(self.name).append()
        else:
            rows.writeTo(self.name).using("iceberg").create()

    def compact(self) -> None:
        """Someone looks after the files of the events."""
        if self.format == "delta":
            self.spark.sql(f"optimize {self.name}").collect()
            return
        catalog = self.name.partition(".")[0]
        options = "options => map('rewrite-all', 'true')"
        text = f"call {catalog}.system.rewrite_data_files(table => 'atomic.events', {options})"
        self.spark.sql(text).collect()

    def lose_history(self) -> None:
        """The table forgets what was committed when."""
        if self.format == "delta":
            logs = self.spark._jvm.org.apache.spark.sql.delta.DeltaLog
            logs.forTable(self.spark._jsparkSession, str(self.place)).checkpoint()
            for entry in sorted((self.place / "_delta_log").glob("*.json"))[:-1]:
                entry.unlink()
            logs.clearCache()
            return
        catalog = self.name.partition(".")[0]
        when = "older_than => timestamp '2999-01-01 00:00:00', retain_last => 1"
        text = f"call {catalog}.system.expire_snapshots(table => 'atomic.events', {when})"
        self.spark.sql(text).collect()
