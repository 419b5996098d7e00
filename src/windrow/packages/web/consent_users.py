"""consent_users: one row per cookie user, with the user's latest word on consent."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from windrow.columns.rules import column, with_note
from windrow.models.model import model, stored
from windrow.packages.web.consent_load_order import rows_loaded_since
from windrow.packages.web.consent_log import ANSWER, BANNER, PREFERENCES
from windrow.packages.web.event_fields import fields
from windrow.packages.web.settings import WebSettings
from windrow.tables import Columns

_LAST: dict[str, str] = {
    "last_consent_event_tstamp": "derived_tstamp",
    "last_consent_event_type": "event_type",
    "last_consent_scopes": "consent_scopes",
    "last_consent_version": "consent_version",
    "last_consent_url": "consent_url",
    "last_domains_applied": "domains_applied",
}
"""Column -> what it takes from the user's latest preferences in the log."""

COLUMNS: Columns = {
    "domain_userid": column("string", "Id of the user in the site's own cookie."),
    **with_note(fields("user_id", "geo_country"), "from the user's newest consent event"),
    "cmp_events": column("bigint", "Number of banners that the user was shown."),
    "consent_events": column("bigint", "Number of answers that the user gave."),
    "last_cmp_event_tstamp": column("timestamp", "Time of the last banner; null if there is none."),
    "last_consent_event_tstamp": column(
        "timestamp", "Time of the user's last answer; null if there is none."
    ),
    **with_note(
        {name: ANSWER[source] for name, source in _LAST.items() if source in ANSWER},
        "from the user's last answer",
    ),
    "last_processed_event": column("timestamp", "Greatest load time of the user's consent events."),
    "is_latest_version": column(
        "boolean", "True if the version that the user answered last is the latest one."
    ),
}


@model(key="domain_userid", columns=COLUMNS, replaces="domain_userid")
def consent_users(
    users_touched: DataFrame,
    settings: WebSettings,
    log: DataFrame = stored("consent_log", of_users=True),
    versions: DataFrame = stored("consent_versions"),
    known: DataFrame = stored("consent_users"),
    whole_log: DataFrame = stored("consent_log"),
) -> DataFrame:
    """One row per cookie user: how often asked and answered, and what the last answer was.

    The users of this run are made anew from all their rows of the log, so that counts are right
    however runs were cut or repeated. Other users get a row only when another version has become
    the latest.
    """
    if settings.compat:
        return _users_of_the_reference(users_touched, whole_log, versions, known)

    newest = F.struct("derived_tstamp", "event_id")
    per_user = (
        log.join(users_touched, "domain_userid", how="left_semi")
        .groupBy("domain_userid")
        .agg(
            F.max_by(F.struct("user_id", "geo_country"), newest).alias("newest"),
            *_totals(newest),
        )
        .select("*", "newest.*", "last.*")
    )
    others = known.join(users_touched, "domain_userid", how="left_anti")
    flagged = _with_flag(others.withColumnRenamed("is_latest_version", "was_latest"), versions)
    stale = flagged.where(~F.col("is_latest_version").eqNullSafe(F.col("was_latest")))
    return _with_flag(per_user, versions).select(*COLUMNS).unionByName(stale.select(*COLUMNS))


def _totals(newest: Column) -> list[Column]:
    """What the rows of a user add up to; `newest` orders the preferences."""
    is_banner = F.col("event_name") == BANNER
    is_answer = F.col("event_name") == PREFERENCES
    last = F.struct(*(F.col(source).alias(name) for name, source in _LAST.items()))
    return [
        F.count_if(is_banner).alias("cmp_events"),
        F.count_if(is_answer).alias("consent_events"),
        F.max(F.when(is_banner, F.col("derived_tstamp"))).alias("last_cmp_event_tstamp"),
        F.max_by(last, F.when(is_answer, newest)).alias("last"),
        F.max("load_tstamp").alias("last_processed_event"),
    ]


def _with_flag(users: DataFrame, versions: DataFrame) -> DataFrame:
    """The users with whether the version they last answered is the latest."""
    flags = versions.select(
        F.col("consent_version").alias("last_consent_version"),
        F.col("is_latest_version").alias("flag"),
    )
    flagged = users.join(F.broadcast(flags), "last_consent_version", how="left")
    return flagged.withColumn("is_latest_version", F.coalesce("flag", F.lit(False)))


def _users_of_the_reference(
    users_touched: DataFrame, log: DataFrame, versions: DataFrame, known: DataFrame
) -> DataFrame:
    """The reference's way: newly loaded rows counted on top of the stored counts.

    Of a user's new rows only those with the newest user id and country count, and what they do not
    tell is lost.
    """
    newest = F.struct("load_tstamp", "event_id")
    is_answer = F.col("event_name") == PREFERENCES
    per_identity = (
        rows_loaded_since(log, known, "last_processed_event")
        .groupBy("domain_userid", "user_id", "geo_country")
        .agg(*_totals(newest), F.max(F.when(is_answer, newest)).alias("answered_at"))
    )
    base = F.struct(
        *(name for name in per_identity.columns if name not in ("domain_userid", "last"))
    )
    by_load_time = F.struct("last_processed_event", "user_id", "geo_country")
    per_user = (
        per_identity.groupBy("domain_userid")
        .agg(
            F.max_by(base, by_load_time).alias("base"),
            F.max_by("last", "answered_at").alias("last"),
        )
        .select("domain_userid", "base.*", "last.*")
    )
    before = known.select(
        "domain_userid",
        F.col("cmp_events").alias("cmp_before"),
        F.col("consent_events").alias("consent_before"),
    )
    zero = F.lit(0)
    counted = per_user.join(before, "domain_userid", how="left").withColumns(
        {
            "cmp_events": F.col("cmp_events") + F.coalesce("cmp_before", zero),
            "consent_events": F.col("consent_events") + F.coalesce("consent_before", zero),
        }
    )
    # A touched user whom the run does not bring would be taken out of the table.
    unchanged = known.join(users_touched, "domain_userid", how="left_semi").join(
        per_user, "domain_userid", how="left_anti"
    )
    return _with_flag(counted, versions).select(*COLUMNS).unionByName(unchanged.select(*COLUMNS))
