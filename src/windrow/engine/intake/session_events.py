"""The events of this run's sessions, and no other, and whose these are."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from windrow.atomic.source import Source
from windrow.columns.timestamps import plus_days
from windrow.config import PackageSettings
from windrow.models.foundation import SESSION_ID, USER_ID, Foundation
from windrow.tables.frames import few
from windrow.tables.observed import Observed


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
    events: DataFrame, sessions: DataFrame, foundation: Foundation, settings: PackageSettings
) -> DataFrame:
    """Those of the usable events that are of the sessions, up to the cap of each, copies included.

    `events` lie within the sessions' first start and last end. An event need not lie between
    its own session's ends: late-loaded ones are older or newer than the recorded life. Some of the
    reference's packages leave the older ones out. No column is added, so that no row is written
    anew for it.
    """
    lives = sessions.select(
        F.col(SESSION_ID).alias("windrow_session"), F.col("start_tstamp").alias("session_start")
    )
    is_of = F.col(foundation.session) == F.col("windrow_session")
    return events.join(lives, is_of & is_within_life(foundation, settings), how="left_semi")


def is_within_life(foundation: Foundation, settings: PackageSettings) -> Column:
    """True for an event up to the cap of its session, which begins at `session_start`."""
    time = F.col(settings.session_timestamp)
    is_within = time <= plus_days(F.col("session_start"), settings.max_session_days)
    if settings.compat and foundation.begins_at_recorded_start:
        is_within &= time >= F.col("session_start")
    return is_within


def named_users(foundation: Foundation, settings: PackageSettings) -> dict[str, Column]:
    """Aggregates over a session's events, of the users that they name; see `user_of_session`."""
    user = F.col(foundation.user)
    order = F.struct(settings.session_timestamp, "event_id")
    return {
        "earliest_user": F.min_by(user, F.when(user.isNotNull(), order)),
        "greatest_user": F.max(user),
        "names_several": ~(F.min(user).eqNullSafe(F.max(user)))
        | F.count_if(user.isNull()).between(1, F.count(F.lit(1)) - 1),
    }


def user_of_session(settings: PackageSettings) -> dict[str, Column]:
    """A session's one user, and whether its events name another; beside the one on record.

    The user is that of the earliest event which carries one, so that it is the same however runs
    were cut; with `compat`, the one that the lifecycle manifest froze. It is that one too where
    only events name a user that models do not see.
    """
    recorded, greatest = F.col(USER_ID), F.col("greatest_user")
    if settings.compat:
        chosen, differs = recorded, ~greatest.eqNullSafe(recorded)
    else:
        chosen = F.coalesce("earliest_user", recorded)
        differs = greatest.isNull() & recorded.isNotNull()
    # Of a session without events nobody can differ.
    return {
        USER_ID: chosen,
        "is_mixed": F.col("names_several") | (F.col("names_several").isNotNull() & differs),
    }


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
