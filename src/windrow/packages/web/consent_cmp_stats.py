"""consent_cmp_stats: for each consent banner shown, how long it took until the first answer."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import Window as W
from pyspark.sql import functions as F

from windrow.columns.rules import column
from windrow.columns.timestamps import seconds_between
from windrow.models.model import model, stored
from windrow.models.parts.declared_columns import select_declared
from windrow.packages.web.consent_log import BANNER, CMP_LOAD_TIME, PREFERENCES
from windrow.packages.web.event_fields import PAGE_VIEW_ID, fields
from windrow.packages.web.settings import WebSettings
from windrow.tables import Columns

COLUMNS: Columns = {
    "event_id": column("string", "Id of the event that says that the banner was shown."),
    **fields("domain_userid"),
    **PAGE_VIEW_ID,
    **fields("domain_sessionid"),
    **CMP_LOAD_TIME,
    "cmp_tstamp": column("timestamp", "When the banner was shown."),
    "first_consent_event_tstamp": column(
        "timestamp",
        "When the user first answered, other than `pending`, before the next banner; "
        "null if never.",
    ),
    "first_consent_event_type": column("string", "What that first answer was."),
    "cmp_interaction_time": column("bigint", "Whole seconds from the banner to that answer."),
}


@model(kind="rebuilt", key="event_id", columns=COLUMNS)
def consent_cmp_stats(
    settings: WebSettings,
    users_touched: DataFrame,
    consent_log: DataFrame,
    sessions_this_run: DataFrame,
    log: DataFrame = stored("consent_log"),
    log_of_users: DataFrame = stored("consent_log", of_users=True),
    going_on: DataFrame | None = stored("consent_cmp_stats", in_step_with="consent_log"),
) -> DataFrame:
    """One row per banner shown: the user's first answer before the next banner, however much later.

    A pending answer is none. What is known of other users' banners stays.
    """
    if going_on is None:
        return _answered(log, settings)
    # Of who has no cookie, all is in the session; and sessions are whole.
    nameless = F.col("domain_userid").isNull()
    anew = log_of_users.unionByName(consent_log.where(nameless))
    sessions = sessions_this_run.select(F.col("session_id").alias("domain_sessionid"))
    others = going_on.join(users_touched, "domain_userid", how="left_anti")
    kept = others.where(~nameless).unionByName(
        others.where(nameless).join(sessions, "domain_sessionid", how="left_anti")
    )
    return kept.select(*COLUMNS).unionByName(_answered(anew, settings))


def _answered(log: DataFrame, settings: WebSettings) -> DataFrame:
    """The banners of a log that is whole for each of its users."""
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
    return select_declared(banners, COLUMNS, values)
