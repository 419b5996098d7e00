"""Columns that the interaction tables share, and how they come from an event."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from windrow.atomic.columns import STANDARD_COLUMNS
from windrow.columns.rules import column
from windrow.models.parts.time_columns import DERIVED_DATE
from windrow.packages.ecommerce.base_events import ADDED
from windrow.tables import Columns

MONEY = "decimal(9,2)"
MONEY_TOTAL = "decimal(19,2)"


def fields(*names: str) -> Columns:
    """Columns of an event with their types."""
    known = {**STANDARD_COLUMNS, **ADDED}
    return {name: known[name] for name in names}


EVENT: Columns = {
    **fields("event_id", "page_view_id", "app_id", "domain_sessionid", "event_in_session_index"),
    **fields("domain_userid", "network_userid", "user_id", "ecommerce_user_id", "derived_tstamp"),
    **DERIVED_DATE,
}
"""What every interaction tells of its event."""

EVENT_READS = ("event_id", "app_id", "network_userid", "user_id", "derived_tstamp")
"""The stored columns that EVENT needs."""

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


def name_sessions(sessions_this_run: DataFrame) -> DataFrame:
    """The run's sessions with the columns of their ids as our tables call them."""
    return sessions_this_run.withColumnsRenamed(
        {"session_identifier": "domain_sessionid", "user_identifier": "domain_userid"}
    )
