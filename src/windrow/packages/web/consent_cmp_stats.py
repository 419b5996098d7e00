"""consent_cmp_stats: for each consent banner shown, how long it took until the first answer."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import Window as W
from pyspark.sql import functions as F

from windrow.columns.timestamps import seconds_between
from windrow.config import WebSettings
from windrow.model import model, stored
from windrow.packages.web.consent_log import BANNER, PREFERENCES
from windrow.packages.web.event_fields import typed
from windrow.tables import Columns

COLUMNS: Columns = {
    **typed("event_id", "domain_userid"),
    "page_view_id": "string",
    **typed("domain_sessionid"),
    "cmp_load_time": "float",
    "cmp_tstamp": "timestamp",
    "first_consent_event_tstamp": "timestamp",
    "first_consent_event_type": "string",
    "cmp_interaction_time": "bigint",
}


@model(kind="rebuilt", key="event_id", columns=COLUMNS)
def consent_cmp_stats(settings: WebSettings, log: DataFrame = stored("consent_log")) -> DataFrame:
    """One row per banner: the user's first answer before the next banner, however much later.

    A pending answer is none.
    """
    user: Column = F.col("domain_userid")
    if not settings.compat:
        # Visitors without a cookie are not one and the same user, as the reference has it.
        user = F.coalesce(user, "domain_sessionid")
    # Of a banner and an answer at the same time the banner came first; so do their names sort.
    in_order = W.partitionBy(user).orderBy("derived_tstamp", "event_name", "event_id")
    following = F.struct("event_name", "derived_tstamp", "event_type")
    is_pending = F.coalesce(F.col("event_type") == "pending", F.lit(False))
    banners = (
        log.where(~is_pending)
        .withColumn("following", F.lead(following).over(in_order))
        .where(F.col("event_name") == BANNER)
    )

    answer = F.when(F.col("following.event_name") == PREFERENCES, F.col("following"))
    answered_at = answer["derived_tstamp"]
    values: dict[str, Column] = {
        "cmp_tstamp": F.col("derived_tstamp"),
        "first_consent_event_tstamp": answered_at,
        "first_consent_event_type": answer["event_type"],
        "cmp_interaction_time": seconds_between(F.col("derived_tstamp"), answered_at),
    }
    return banners.select(
        *(values.get(name, F.col(name)).cast(kind).alias(name) for name, kind in COLUMNS.items())
    )
