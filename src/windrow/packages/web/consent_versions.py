"""consent_versions: the versions of the consent text that people have agreed to in full."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import Window as W
from pyspark.sql import functions as F

from windrow.columns.rules import column, with_note
from windrow.models.model import model, stored
from windrow.packages.web.consent_load_order import rows_loaded_since
from windrow.packages.web.consent_log import ANSWER, BANNER
from windrow.packages.web.settings import WebSettings
from windrow.tables import Columns

_TERMS = ("consent_scopes", "consent_url", "domains_applied")

COLUMNS: Columns = {
    "consent_version": column("string", "Version of the consent text that was allowed in full."),
    "version_start_tstamp": column("timestamp", "Time of the first `allow_all` to the version."),
    **with_note(
        {name: ANSWER[name] for name in _TERMS}, "from the newest `allow_all` to the version"
    ),
    "is_latest_version": column("boolean", "True for the version that started last."),
    "last_allow_all_event": column(
        "timestamp", "Greatest load time of an `allow_all` to the version."
    ),
}


@model(kind="rebuilt", key="consent_version", columns=COLUMNS)
def consent_versions(
    settings: WebSettings,
    log: DataFrame = stored("consent_log"),
    known: DataFrame = stored("consent_versions"),
) -> DataFrame:
    """One row per version of the consent text: since when, its newest terms, whether the latest.

    Made anew from the log, so that it is the same however runs were cut: one pass over a few
    columns of a table with a row or two per visitor, added up to a handful of rows.
    """
    allowed = log.where((F.col("event_name") != BANNER) & (F.col("event_type") == "allow_all"))
    if settings.compat:
        return _versions_of_the_reference(
            rows_loaded_since(allowed, known, "last_allow_all_event"), known
        )

    versions = _per_version(allowed.where(F.col("consent_version").isNotNull()), "derived_tstamp")
    order = F.struct("version_start_tstamp", "consent_version")
    return versions.withColumn("is_latest_version", _is_greatest(order)).select(*COLUMNS)


def _per_version(allowed: DataFrame, time: str) -> DataFrame:
    """Start, end and terms of each version; of several sets of terms, the newest by `time`."""
    newest = F.max_by(F.struct(*_TERMS), F.struct(time, "event_id"))
    return (
        allowed.groupBy("consent_version")
        .agg(
            F.min("derived_tstamp").alias("version_start_tstamp"),
            F.max("load_tstamp").alias("last_allow_all_event"),
            newest.alias("terms"),
        )
        .select("*", *(F.col(f"terms.{name}").alias(name) for name in _TERMS))
    )


def _is_greatest(order: Column) -> Column:
    # All rows in one partition: there are only a handful of versions.
    return order.eqNullSafe(F.max(order).over(W.partitionBy(F.lit(True))))


def _versions_of_the_reference(allowed: DataFrame, known: DataFrame) -> DataFrame:
    """The reference's way: the latest of the new events' versions; the others stay as stored."""
    start = F.col("version_start_tstamp")
    versions = _per_version(allowed, "load_tstamp").withColumn(
        "is_latest_version", _is_greatest(start)
    )
    before = known.select("consent_version", F.col("version_start_tstamp").alias("stored_start"))
    changed = (
        versions.join(before, "consent_version", how="left")
        .withColumn("version_start_tstamp", F.least(start, "stored_start"))
        .select(*COLUMNS)
    )
    return changed.unionByName(known.join(versions, "consent_version", how="left_anti"))
