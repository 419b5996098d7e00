"""user_mapping: which known user a cookie belongs to, by the latest event that says so."""

from __future__ import annotations

from pyspark.sql import DataFrame

from windrow.columns.rules import column
from windrow.config import WebSettings
from windrow.models.checks import NotNull
from windrow.models.model import Reads, model, stored
from windrow.models.parts.user_mapping import latest_ids
from windrow.tables import Columns

COLUMNS: Columns = {
    "domain_userid": column("string", "Id of the user in the site's own cookie."),
    "user_id": column(
        "string", "Id that the business knows the user by, of the latest event that has both ids."
    ),
    "end_tstamp": column("timestamp", "Collector time of that latest event."),
}


@model(
    key="domain_userid",
    columns=COLUMNS,
    reads=Reads(("event_id", "user_id", "collector_tstamp")),
    checks=(NotNull(("user_id", "end_tstamp")),),
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
