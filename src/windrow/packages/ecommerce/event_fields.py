"""Columns that the interaction tables share, and how they come from an event."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from windrow.atomic.columns import STANDARD_COLUMNS
from windrow.columns.rules import column
from windrow.models.extras import Extras
from windrow.packages.ecommerce.base_events import ADDED
from windrow.tables import Columns

MONEY = "decimal(9,2)"
MONEY_TOTAL = "decimal(19,2)"

FIRST = ("derived_tstamp", "dvce_created_tstamp", "event_id")
"""What makes one event of a session earlier than another; the id settles ties."""


def typed(*names: str) -> Columns:
    """Columns of an event with their types."""
    known = {**STANDARD_COLUMNS, **ADDED}
    return {name: known[name] for name in names}


EVENT: Columns = {
    **typed("event_id", "page_view_id", "app_id", "domain_sessionid", "event_in_session_index"),
    **typed("domain_userid", "network_userid", "user_id", "ecommerce_user_id", "derived_tstamp"),
    "derived_tstamp_date": column("date", "Day of `derived_tstamp` in UTC."),
}
"""What every interaction tells of its event."""

EVENT_READS = ("event_id", "app_id", "network_userid", "user_id", "derived_tstamp")
"""The stored columns that EVENT needs."""

OF_EVENT = Extras("events", by=("event_id", "domain_sessionid"), first=("event_id",))
"""Where the interaction tables take a project's own columns from: the row's event."""

START_DATE: Columns = {"start_tstamp_date": column("date", "Day of `start_tstamp` in UTC.")}
LIFE: Columns = {
    "start_tstamp": column("timestamp", "Collector time of the session's earliest event."),
    "end_tstamp": column(
        "timestamp", "Collector time of its latest event, at most `max_session_days` after."
    ),
}
"""A session's ends, over all its events and not only those of e-commerce."""


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
