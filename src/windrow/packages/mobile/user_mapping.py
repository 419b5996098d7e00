"""user_mapping: which known user a device belongs to, by the latest event that says so."""

from __future__ import annotations

from pyspark.sql import DataFrame

from windrow.models.model import Reads, model, stored
from windrow.models.parts.user_mapping import CHECKS, MAPPED, latest_ids
from windrow.packages.mobile.devices import known_device
from windrow.packages.mobile.event_fields import fields
from windrow.packages.mobile.settings import MobileSettings
from windrow.tables import Columns

COLUMNS: Columns = {
    **fields("device_user_id"),
    **MAPPED,
}
_LATEST = ("collector_tstamp", "derived_tstamp", "event_id")


@model(key="device_user_id", columns=COLUMNS, reads=Reads(("user_id", *_LATEST)), checks=CHECKS)
def user_mapping(
    events: DataFrame,
    settings: MobileSettings,
    known: DataFrame = stored("user_mapping", of_users=True),
) -> DataFrame:
    """One row per device with a known user id: the latest one seen."""
    return latest_ids(
        events.where(known_device(settings).isNotNull()),
        user="device_user_id",
        order=_LATEST,
        known=None if settings.compat else known,
    )
