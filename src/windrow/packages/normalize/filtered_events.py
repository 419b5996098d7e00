"""The filtered events table: which events went into which tables."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from windrow.atomic.columns import STANDARD_COLUMNS
from windrow.columns.rules import column
from windrow.models.model import Model, Reads, Storage, model
from windrow.packages.normalize.tables import EVENT_COLUMNS, NormalizedTable
from windrow.tables import Columns

COLUMNS: Columns = {
    **EVENT_COLUMNS,
    "event_name": STANDARD_COLUMNS["event_name"],
    "event_table_name": column("string", "Name of the table that the event went into."),
    "unique_id": column("string", "`event_id` and `event_table_name` with a hyphen between."),
}


def filtered_events(name: str, tables: Sequence[NormalizedTable]) -> Model:
    """The model of the table."""

    def rows(events: DataFrame, gathered: tuple[str, ...]) -> DataFrame:
        """One row per event and event table that it went into."""
        routes: dict[str, list[str]] = {}
        for table in tables:
            for event_name in table.event_names if table.name in gathered else ():
                routes.setdefault(event_name, []).append(table.name)
        if not routes:
            return events.limit(0).select(
                *(F.lit(None).cast(kind).alias(column) for column, kind in COLUMNS.items())
            )
        known = F.create_map(
            *(
                F.lit(event_name) if part == 0 else F.array(*map(F.lit, routes[event_name]))
                for event_name in routes
                for part in (0, 1)
            )
        )
        routed = events.where(F.col("event_name").isin(*routes)).select(
            "event_id",
            "collector_tstamp",
            F.to_date("collector_tstamp").alias("collector_tstamp_date"),
            "event_name",
            F.explode(F.try_element_at(known, F.col("event_name"))).alias("event_table_name"),
        )
        return routed.withColumn("unique_id", F.concat_ws("-", "event_id", "event_table_name"))

    return model(
        name=name,
        key="unique_id",
        date="collector_tstamp",
        columns=COLUMNS,
        reads=Reads(
            ("event_id", "collector_tstamp", "event_name"),
            gathers=tuple(table.name for table in tables),
        ),
        storage=Storage(keeps="earliest"),
    )(rows)
