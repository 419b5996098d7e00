"""Every event of this run's sessions, and no other, each once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from pyspark.sql import Column, DataFrame
from pyspark.sql import Window as W
from pyspark.sql import functions as F

from windrow.atomic.source import Source
from windrow.columns.timestamps import plus_days
from windrow.config import PackageSettings
from windrow.models.foundation import SESSION_ID, USER_ID, Foundation
from windrow.tables.frames import few
from windrow.tables.observed import Observed

_WITHOUT_ORDER = ("map", "variant")


def scan(
    source: Source,
    foundation: Foundation,
    first: datetime,
    last: datetime,
    columns: Iterable[str],
    *,
    keeps: Column | None = None,
    unreadable: Observed | None = None,
) -> DataFrame:
    """The events of a closed stretch of time, with the columns asked for and their session."""
    return foundation.identified(
        source.between(first, last, tuple(columns), keeps=keeps, unreadable=unreadable)
    )


def events_of_sessions(
    scanned: DataFrame, sessions: DataFrame, foundation: Foundation, settings: PackageSettings
) -> DataFrame:
    """The usable events of the sessions, up to each session's cap, copies still among them.

    `scanned` lies within the sessions' first start and last end. An event need not lie between
    its own session's ends: late-loaded ones are older or newer than the recorded life. Some of the
    reference's packages leave the older ones out.
    """
    lives = sessions.select(
        F.col(SESSION_ID).alias(foundation.session),
        F.col(USER_ID),
        F.col("start_tstamp").alias("session_start"),
    )
    is_taken = is_within_life(foundation, settings) & foundation.is_usable(settings)
    found = scanned.join(lives, foundation.session, how="inner")
    return found.where(is_taken).drop("session_start")


def is_within_life(foundation: Foundation, settings: PackageSettings) -> Column:
    """True for an event up to the cap of its session, which begins at `session_start`."""
    time = F.col(settings.session_timestamp)
    is_within = time <= plus_days(F.col("session_start"), settings.max_session_days)
    if settings.compat and foundation.begins_at_recorded_start:
        is_within &= time >= F.col("session_start")
    return is_within


def first_copies(events: DataFrame, within: Sequence[str], time: str) -> DataFrame:
    """Of the copies of an event, the first by `time`, then the one enriched first.

    Copies are looked for among rows that agree in `within`, by which the rows are spread too: all
    that follows works session by session, so this is the one wide shuffle of a run. A run that is
    small enough for one partition needs none at all.
    """
    is_one = events.sparkSession.conf.get("spark.sql.shuffle.partitions") == "1"
    spread = events.coalesce(1) if is_one else events.repartition(*within)
    # Any order will do that depends on nothing but the rows. Their columns are compared only where
    # all before them are the same; a hash of them would be computed for every row.
    others = [name for name, kind in events.dtypes if not kind.startswith(_WITHOUT_ORDER)]
    same_event = W.partitionBy(*dict.fromkeys((*within, "event_id")))
    order = same_event.orderBy(*dict.fromkeys((time, "etl_tstamp", *others)))
    # Nothing else is asked of the copies: so Spark lets only the first of them into the window.
    numbered = spread.withColumn("nth_copy", F.row_number().over(order))
    return numbered.where(F.col("nth_copy") == 1).drop("nth_copy")


def copies_in_other_sessions(
    events: DataFrame, foundation: Foundation, settings: PackageSettings
) -> DataFrame:
    """Event id and session of events whose first copy lies in another session of the run."""
    session = F.col(foundation.session).alias("session")
    order = F.struct(settings.session_timestamp, "etl_tstamp", session)
    sessions_of_event = events.groupBy("event_id").agg(
        F.collect_list(order).alias("copies"), F.min(order).alias("first")
    )
    repeated = sessions_of_event.where(F.size("copies") > 1)
    return (
        repeated.select("event_id", "first", F.explode("copies").alias("copy"))
        .where(F.col("copy.session") != F.col("first.session"))
        .select("event_id", F.col("copy.session").alias(foundation.session))
    )


def user_of_session(foundation: Foundation, settings: PackageSettings) -> dict[str, Column]:
    """Aggregates over a session's events: its one user, and whether its events name another.

    The user is that of the earliest event which carries one, so that it is the same however runs
    were cut; with `compat`, the one that the lifecycle manifest froze. It is that one too where
    only events name a user that models do not see.
    """
    user = F.col(foundation.user)
    if settings.compat:
        chosen = F.max(USER_ID)
    else:
        order = F.struct(settings.session_timestamp, "event_id")
        earliest = F.min_by(user, F.when(user.isNotNull(), order))
        chosen = F.coalesce(earliest, F.max(USER_ID))
    differs = ~(F.min(user).eqNullSafe(F.max(user))) | (
        F.count_if(user.isNull()).between(1, F.count(F.lit(1)) - 1)
    )
    if settings.compat:
        differs |= ~F.max(user).eqNullSafe(F.max(USER_ID))
    else:
        differs |= F.max(user).isNull() & F.max(USER_ID).isNotNull()
    return {USER_ID: chosen, "is_mixed": differs}


def with_session_user(
    events: DataFrame, sessions: DataFrame, number: int, foundation: Foundation
) -> DataFrame:
    """The events with their session's one user, where it is not the one they carry.

    `sessions`: the session and the user of those sessions whose events do not agree, of which there
    is this `number`. As long as they are few, no event is sorted or sent for them.
    """
    mixed = sessions.select(
        F.col(SESSION_ID).alias(foundation.session),
        F.col(USER_ID).alias("one_user"),
        F.lit(True).alias("is_mixed"),
    )
    joined = events.join(few(mixed, number), foundation.session, how="left")
    user = F.when(F.col("is_mixed"), F.col("one_user")).otherwise(F.col(foundation.user))
    return joined.withColumn(foundation.user, user).drop("one_user", "is_mixed")
