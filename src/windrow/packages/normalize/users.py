"""The users table: what the latest event of each user says."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from windrow.columns.rules import rule_of
from windrow.models.model import Model, Reads, Storage, model
from windrow.packages.normalize.payloads import commented
from windrow.packages.normalize.tables import LATEST_COLUMNS, UsersTable, event_columns


def users(table: UsersTable) -> Model:
    """The model of the table."""
    payload = table.id_payload

    def rows(events: DataFrame) -> DataFrame:
        """One row per user: the columns of the latest event that carries the user's id."""
        if payload is None:
            user_id = F.col(f"`{table.id_column}`")
        else:
            user_id = payload.value(events).getField(table.id_column)
        latest = {
            "latest_collector_tstamp": F.col("collector_tstamp"),
            "latest_collector_tstamp_date": F.to_date("collector_tstamp"),
        }
        columns = [
            *(commented(it, name, rule_of(LATEST_COLUMNS[name])) for name, it in latest.items()),
            *event_columns(table.columns),
            *(column for context in table.payloads for column in context.flattened(events)),
        ]
        # Of events that the collector received at the same time, any rule is as good as another.
        order = F.struct("collector_tstamp", "derived_tstamp", "event_id")
        known = events.select(
            commented(user_id, table.key, "Id of the user."),
            F.struct(*columns).alias("said"),
            order.alias("order"),
        )
        found = known.where(F.col(f"`{table.key}`").isNotNull()).groupBy(f"`{table.key}`")
        return found.agg(F.max_by("said", "order").alias("said")).select(
            commented(F.col(f"`{table.key}`"), table.key, "Id of the user."), "said.*"
        )

    where = () if payload is None else (payload.column,)
    return model(
        name=table.name,
        key=table.key,
        date="latest_collector_tstamp",
        reads=Reads(
            (
                *("event_id", "collector_tstamp", "derived_tstamp"),
                *(where or (table.id_column,)),
                *table.columns,
                *(context.column for context in table.payloads),
            )
        ),
        storage=Storage(keeps="latest"),
    )(rows)
