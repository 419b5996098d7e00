"""The id that the business knows a session's user by, on sessions new and old."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from windrow.models.hooks import Hooks


def stitched_user_id(hooks: Hooks, otherwise: Column) -> Column:
    """The user's known id where there is one, `otherwise` where there is none."""
    return hooks.column("stitch_user_identifiers", F.coalesce(F.col("mapped_user_id"), otherwise))


def stitched(
    sessions: DataFrame, user_mapping: DataFrame, *, user: str, value: Column | None
) -> DataFrame:
    """This run's sessions with their stitched_user_id; `value` None: stitching is off."""
    if value is None:
        return sessions.withColumn("stitched_user_id", F.lit(None).cast("string"))
    mapped = user_mapping.select(user, F.col("user_id").alias("mapped_user_id"))
    return sessions.join(mapped, user, how="left").withColumn("stitched_user_id", value)


def restitched(
    older: DataFrame,
    sessions_this_run: DataFrame,
    user_mapping: DataFrame,
    known_before: DataFrame,
    *,
    session: str,
    user: str,
    value: Column | None,
) -> DataFrame:
    """Key, time and new id of stored sessions, not of this run, whose user's id changed in it.

    `user_mapping`: this run's rows of it. `known_before`: the mapping as the run found it.
    """
    if value is None:
        return older.limit(0)
    before = known_before.select(user, F.col("user_id").alias("id_before"))
    changed = (
        user_mapping.join(before, user, how="left")
        .where(~F.col("user_id").eqNullSafe(F.col("id_before")))
        .select(user, F.col("user_id").alias("mapped_user_id"))
    )
    this_run = sessions_this_run.select(F.col("session_id").alias(session))
    found = (
        older.join(changed, user, how="inner")
        .join(this_run, session, how="left_anti")
        .withColumn("stitched", value)
    )
    return found.where(~F.col("stitched").eqNullSafe(F.col("stitched_user_id"))).select(
        session,
        "start_tstamp",
        "start_tstamp_date",
        F.col("stitched").alias("stitched_user_id"),
    )
