"""user_mapping: which known user a cookie belongs to, by the latest event that says so."""

from __future__ import annotations

from pyspark.sql import DataFrame

from windrow.columns.rules import column
from windrow.models.model import Reads, model, stored
from windrow.models.parts.user_mapping import CHECKS, MAPPED, latest_ids
from windrow.packages.web.settings import WebSettings
from windrow.tables import Columns

COLUMNS: Columns = {
    "domain_userid": column("string", "Id of the user in the site's own cookie."),
    **MAPPED,
}


_LATEST = ("collector_tstamp", "event_id")


@model(key="domain_userid", columns=COLUMNS, reads=Reads(("user_id", *_LATEST)), checks=CHECKS)
def user_mapping(
    events: DataFrame,
    settings: WebSettings,
    known: DataFrame = stored("user_mapping", of_users=True),
) -> DataFrame:
    """One row per cookie user with a known user id: the latest one seen."""
    return latest_ids(
        events,
        user="domain_userid",
        order=_LATEST,
        known=None if settings.compat else known,
    )
