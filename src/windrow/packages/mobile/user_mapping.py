"""user_mapping: which known user a device belongs to, by the latest event that says so."""

from __future__ import annotations

from pyspark.sql import DataFrame

from windrow.columns.rules import column
from windrow.config import MobileSettings
from windrow.models.checks import NotNull
from windrow.models.model import Reads, model, stored
from windrow.models.parts.user_mapping import latest_ids
from windrow.packages.mobile.devices import known_device
from windrow.packages.mobile.event_fields import typed
from windrow.tables import Columns

COLUMNS: Columns = {
    **typed("device_user_id"),
    "user_id": column(
        "string", "Id that the business knows the user by, of the latest event that has both ids."
    ),
    "end_tstamp": column("timestamp", "Collector time of that latest event."),
}
_LATEST = ("collector_tstamp", "derived_tstamp", "event_id")


@model(
    key="device_user_id",
    columns=COLUMNS,
    reads=Reads(("user_id", *_LATEST)),
    checks=(NotNull(("user_id", "end_tstamp")),),
)
def user_mapping(
    events: DataFrame,
    settings: MobileSettings,
    known: DataFrame = stored("user_mapping"),
) -> DataFrame:
    """One row per device with a known user id: the latest one seen."""
    return latest_ids(
        events.where(known_device(settings).isNotNull()),
        user="device_user_id",
        order=_LATEST,
        known=None if settings.compat else known,
    )
