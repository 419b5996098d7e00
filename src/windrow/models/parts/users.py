"""Users as the sum of their sessions: the first one, the last one, and totals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from windrow.models.extras import Extras
from windrow.models.model import Reads

STEPS = ("users_this_run", "users_aggs", "users_lasts", "users_sessions_this_run")
"""What the SQL packages make users in."""


def reads_sessions(*, user: str, session: str) -> Reads:
    """What users are made from: the package's stored `sessions`, the first of which describes them.

    A project's own columns come from there too.
    """
    return Reads(
        extras=Extras("sessions_of_users", by=(user,), first=("start_tstamp", session)),
        after=("sessions",),
    )


def sum_up_sessions(
    sessions: DataFrame,
    *,
    user: str,
    session: str,
    of_first: Sequence[str],
    of_last: Sequence[str],
    totals: Mapping[str, Column],
) -> DataFrame:
    """One row per user: start, end, number of sessions and `totals`.

    The columns asked for of the first and last session are fields of the structs `first` and
    `last`.
    """
    # Of two sessions that start, or end, at the same time, the one with the greater id counts.
    earliest = F.struct(-F.unix_micros("start_tstamp"), F.col(session))
    latest = F.struct("end_tstamp", session)
    return sessions.groupBy(user).agg(
        F.min("start_tstamp").alias("start_tstamp"),
        F.max("end_tstamp").alias("end_tstamp"),
        F.count_distinct(F.col(session)).alias("sessions"),
        F.max_by(F.struct(*of_first), earliest).alias("first"),
        F.max_by(F.struct(*of_last), latest).alias("last"),
        *(total.alias(name) for name, total in totals.items()),
    )
