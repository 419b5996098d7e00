"""Columns that the interaction tables share, and how they come from an event."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from windrow.event_columns import STANDARD_COLUMNS
from windrow.tables import Columns

MONEY = "decimal(9,2)"
MONEY_TOTAL = "decimal(19,2)"

FIRST = ("derived_tstamp", "dvce_created_tstamp", "event_id")
"""What makes one event of a session earlier than another; the id settles ties."""


def strings(*names: str) -> dict[str, str]:
    """Columns that are text."""
    return dict.fromkeys(names, "string")


def standard(*names: str) -> dict[str, str]:
    """Standard event columns with their types."""
    return {name: STANDARD_COLUMNS[name] for name in names}


EVENT: Columns = {
    **strings("event_id", "page_view_id", "app_id", "domain_sessionid"),
    "event_in_session_index": "int",
    **strings("domain_userid", "network_userid", "user_id", "ecommerce_user_id"),
    "derived_tstamp": "timestamp",
    "derived_tstamp_date": "date",
}
"""What every interaction tells of its event."""

EVENT_READS = ("event_id", "app_id", "network_userid", "user_id", "derived_tstamp")
"""The stored columns that EVENT needs."""


def action_is(*types: str) -> Column:
    """Whether the event's action is one of these; null if it has no action."""
    return F.col("ecommerce_action_type").isin(*types)


def is_any(condition: Column) -> Column:
    """The condition, false where it is not known."""
    return F.coalesce(condition, F.lit(False))


def shaped(values: dict[str, Column], columns: Columns) -> list[Column]:
    """The columns in order: as worked out, or as the event has them."""
    known = {"derived_tstamp_date": F.to_date("derived_tstamp"), **values}
    return [known.get(name, F.col(name)).cast(kind).alias(name) for name, kind in columns.items()]
