"""An event table: one row per event of some names, its payload spread over columns."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from windrow.columns.rules import rule_of
from windrow.models.model import Model, Reads, Storage, model
from windrow.packages.normalize.payloads import commented
from windrow.packages.normalize.tables import EVENT_COLUMNS, NormalizedTable, event_columns


def event_table(table: NormalizedTable) -> Model:
    """The model of one entry of the configuration."""
    names = ", ".join(f"`{name}`" for name in table.event_names)

    def rows(events: DataFrame) -> DataFrame:
        routed = events.where(F.col("event_name").isin(*table.event_names))
        fixed = {
            "event_id": F.col("event_id"),
            "collector_tstamp": F.col("collector_tstamp"),
            "collector_tstamp_date": F.to_date("collector_tstamp"),
        }
        return routed.select(
            *(commented(it, name, rule_of(EVENT_COLUMNS[name])) for name, it in fixed.items()),
            *event_columns(table.columns),
            *(column for payload in table.payloads for column in payload.flattened(events)),
        )

    rows.__doc__ = f"One row per event called {names}: its own columns, and fields of what it has."
    return model(
        name=table.name,
        key="event_id",
        date="collector_tstamp",
        reads=Reads(
            (
                *("event_name", "event_id", "collector_tstamp"),
                *table.columns,
                *(payload.column for payload in table.payloads),
            ),
            event_names=table.event_names,
        ),
        storage=Storage(keeps="earliest"),
    )(rows)
