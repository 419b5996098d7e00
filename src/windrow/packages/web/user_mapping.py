"""user_mapping: which known user a cookie belongs to, by the latest event that says so."""

from __future__ import annotations

from pyspark.sql import DataFrame

from windrow.config import WebSettings
from windrow.model import model, stored
from windrow.parts.user_mapping import latest_ids
from windrow.tables import Columns

COLUMNS: Columns = {"domain_userid": "string", "user_id": "string", "end_tstamp": "timestamp"}


@model(
    key="domain_userid",
    columns=COLUMNS,
    reads=("event_id", "user_id", "collector_tstamp"),
)
def user_mapping(
    events: DataFrame,
    settings: WebSettings,
    known: DataFrame = stored("user_mapping"),
) -> DataFrame:
    """One row per cookie user with a known user id: the latest one seen."""
    return latest_ids(
        events,
        user="domain_userid",
        order=("collector_tstamp", "event_id"),
        known=None if settings.compat else known,
    )
