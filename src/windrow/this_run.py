"""Every event of this run's sessions, and no other, each once."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import Window as W
from pyspark.sql import functions as F

from windrow.columns.timestamps import plus_days
from windrow.config import PackageSettings
from windrow.event_columns import WEB_PAGE
from windrow.events import is_of_app, is_on_time

BASE_COLUMNS = (
    "event_id",
    "domain_sessionid",
    "domain_userid",
    "app_id",
    "etl_tstamp",
    "dvce_created_tstamp",
    "dvce_sent_tstamp",
    "derived_tstamp",
)
"""Columns the base needs of every event, beside the session timestamp."""

_UNHASHABLE = ("map", "variant")


def page_view_id() -> Column:
    """The id of the page view an event belongs to, from its web-page entity."""
    return F.get(F.col(WEB_PAGE.name), F.lit(0)).getField("id")


def events_of_sessions(
    scanned: DataFrame, sessions: DataFrame, settings: PackageSettings
) -> DataFrame:
    """The usable events of the sessions, up to each session's cap, copies still among them.

    `scanned` lies within the sessions' first start and last end. An event need not lie between
    its own session's ends: late-loaded ones are older or newer than the recorded life.
    """
    time = F.col(settings.session_timestamp)
    lives = sessions.select(
        F.col("session_id").alias("domain_sessionid"),
        F.col("domain_userid").alias("session_user"),
        F.col("start_tstamp").alias("session_start"),
    )
    is_usable = (
        (time <= plus_days(F.col("session_start"), settings.max_session_days))
        & is_on_time(settings)
        & is_of_app(settings)
    )
    return scanned.join(lives, "domain_sessionid", how="inner").where(is_usable)


def first_copy_in_session(events: DataFrame, settings: PackageSettings) -> DataFrame:
    """Of the copies of an event in one session, the one collected first, then enriched first.

    `copies` says how many there were.
    """
    hashable = [name for name, kind in events.dtypes if not kind.startswith(_UNHASHABLE)]
    same_event = W.partitionBy("domain_sessionid", "event_id")
    order = same_event.orderBy(settings.session_timestamp, "etl_tstamp", F.xxhash64(*hashable))
    # Everything downstream works session by session, so this is the one wide shuffle of a run.
    by_session = events.repartition("domain_sessionid")
    return (
        by_session.withColumns(
            {
                "nth_copy": F.row_number().over(order),
                "copies": F.count(F.lit(1)).over(same_event),
            }
        )
        .where(F.col("nth_copy") == 1)
        .drop("nth_copy")
    )


def copies_in_other_sessions(events: DataFrame, settings: PackageSettings) -> DataFrame:
    """Event id and session of events whose first copy lies in another session of the run."""
    order = F.struct(settings.session_timestamp, "etl_tstamp", "domain_sessionid")
    sessions_of_event = events.groupBy("event_id").agg(
        F.collect_list(order).alias("copies"), F.min(order).alias("first")
    )
    repeated = sessions_of_event.where(F.size("copies") > 1)
    return (
        repeated.select("event_id", "first", F.explode("copies").alias("copy"))
        .select(
            "event_id",
            F.col("copy.domain_sessionid").alias("domain_sessionid"),
            (F.col("copy.domain_sessionid") == F.col("first.domain_sessionid")).alias("is_first"),
        )
        .where(~F.col("is_first"))
        .drop("is_first")
    )


def with_session_user(events: DataFrame, settings: PackageSettings) -> DataFrame:
    """One user id for all events of a session.

    That of the session's earliest event which carries one, so that it is the same however runs
    were cut; with `compat`, the one the lifecycle manifest froze.
    """
    if settings.compat:
        user = F.col("session_user")
    else:
        order = W.partitionBy("domain_sessionid").orderBy(settings.session_timestamp, "event_id")
        whole_session = order.rowsBetween(W.unboundedPreceding, W.unboundedFollowing)
        user = F.first("domain_userid", ignorenulls=True).over(whole_session)
    return events.withColumn("domain_userid", user).drop("session_user", "session_start")
