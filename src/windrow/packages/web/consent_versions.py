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
    consent_log: DataFrame,
    log: DataFrame = stored("consent_log"),
    known: DataFrame = stored("consent_versions"),
    former: DataFrame = stored("consent_log", before_this_run=True, of_sessions=True),
    going_on: DataFrame | None = stored("consent_versions", in_step_with="consent_log"),
) -> DataFrame:
    """One row per version of the consent text: since when, its newest terms, whether the latest.

    The versions that this run's answers are to, or were to, are made anew from the log since they
    began, so that they are the same however runs were cut. The others stay.
    """
    if settings.compat:
        newly = rows_loaded_since(_allowed(log), known, "last_allow_all_event")
        return _versions_of_the_reference(newly, known)

    answers = [_allowed(it).where(_IS_NAMED) for it in (log, consent_log, former)]
    if going_on is None:
        versions = _per_version(answers[0], "derived_tstamp")
    else:
        versions = _brought_on(going_on, *answers)
    order = F.struct("version_start_tstamp", "consent_version")
    return versions.withColumn("is_latest_version", _is_greatest(order)).select(*COLUMNS)


_IS_NAMED = "consent_version is not null"


def _allowed(log: DataFrame) -> DataFrame:
    return log.where((F.col("event_name") != BANNER) & (F.col("event_type") == "allow_all"))


def _brought_on(known: DataFrame, log: DataFrame, after: DataFrame, before: DataFrame) -> DataFrame:
    """The known versions, and anew those of the answers that a run brought or took away."""
    touched = after.select("consent_version").union(before.select("consent_version")).distinct()
    began = (
        known.join(F.broadcast(touched), "consent_version", how="left_semi")
        .select("version_start_tstamp")
        .union(after.select("derived_tstamp"))
    )
    first = began.agg(F.to_date(F.min("version_start_tstamp"))).collect()[0][0]
    kept = known.drop("is_latest_version")
    if first is None:
        return kept
    since = log.where(F.col("derived_tstamp_date") >= F.lit(first))
    anew = _per_version(
        since.join(F.broadcast(touched), "consent_version", how="left_semi"), "derived_tstamp"
    )
    kept = kept.join(F.broadcast(touched), "consent_version", how="left_anti")
    return kept.unionByName(anew.select(*kept.columns))


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
