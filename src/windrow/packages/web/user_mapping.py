"""user_mapping: which known user a cookie belongs to, by the latest event that says so."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from windrow.checks import NotNull
from windrow.column_rules import column
from windrow.config import WebSettings
from windrow.model import model, stored
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
    reads=("event_id", "user_id", "collector_tstamp"),
    checks=(NotNull(("user_id", "end_tstamp")),),
)
def user_mapping(
    events: DataFrame,
    settings: WebSettings,
    known: DataFrame = stored("user_mapping"),
) -> DataFrame:
    """One row per cookie user with a known user id: the latest one seen."""
    identified = events.where(F.col("user_id").isNotNull() & F.col("domain_userid").isNotNull())
    latest = F.struct("collector_tstamp", "event_id")
    mapping = identified.groupBy("domain_userid").agg(
        F.max_by("user_id", latest).alias("user_id"),
        F.max("collector_tstamp").alias("end_tstamp"),
    )
    if settings.compat:
        return mapping
    # A late session must not bring back an older id; the reference lets it.
    newer = known.select("domain_userid", F.col("end_tstamp").alias("known_until"))
    is_superseded = F.col("known_until") > F.col("end_tstamp")
    return (
        mapping.join(newer, "domain_userid", how="left")
        .where(~F.coalesce(is_superseded, F.lit(False)))
        .select(*COLUMNS)
    )
