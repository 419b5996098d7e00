"""The id that the business knows a session's user by, on sessions new and old."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from windrow.models.hooks import Hooks
from windrow.models.model import Model, model, stored

StitchedId = Callable[[Any, Hooks], Column | None]
"""From settings and hooks: a session's stitched_user_id; None: stitching is off."""


def stitched_user_id(hooks: Hooks, otherwise: Column) -> Column:
    """The user's known id where there is one, `otherwise` where there is none."""
    return hooks.column("stitch_user_identifiers", F.coalesce(F.col("mapped_user_id"), otherwise))


def stitch_sessions(
    sessions: DataFrame, user_mapping: DataFrame, *, user: str, stitched: Column | None
) -> DataFrame:
    """This run's sessions with their stitched_user_id; `stitched` None: stitching is off."""
    if stitched is None:
        return sessions.withColumn("stitched_user_id", F.lit(None).cast("string"))
    mapped = user_mapping.select(user, F.col("user_id").alias("mapped_user_id"))
    return sessions.join(mapped, user, how="left").withColumn("stitched_user_id", stitched)


def restitch_older_sessions(*, session: str, user: str, stitched_id: StitchedId) -> Model:
    """The model that amends a package's stored `sessions` by what its `user_mapping` has learnt."""

    @model(kind="this_run")
    def stitched_older_sessions(
        settings: Any,
        hooks: Hooks,
        sessions_this_run: DataFrame,
        user_mapping: DataFrame,
        sessions_of: Callable[[DataFrame], DataFrame],
        known_before: DataFrame = stored("user_mapping", before_this_run=True, of_users=True),
    ) -> DataFrame:
        """One row per stored session, not of this run, whose user became known under another id."""
        stitched = stitched_id(settings, hooks)
        if stitched is None:
            return sessions_this_run.limit(0)
        before = known_before.select(user, F.col("user_id").alias("id_before"))
        changed = (
            user_mapping.join(before, user, how="left")
            .where(~F.col("user_id").eqNullSafe(F.col("id_before")))
            .select(user, F.col("user_id").alias("mapped_user_id"))
        )
        this_run = sessions_this_run.select(F.col("session_id").alias(session))
        found = (
            sessions_of(changed)
            .join(changed, user, how="inner")
            .join(this_run, session, how="left_anti")
            .withColumn("stitched", stitched)
        )
        return found.where(~F.col("stitched").eqNullSafe(F.col("stitched_user_id"))).select(
            session,
            "start_tstamp",
            "start_tstamp_date",
            F.col("stitched").alias("stitched_user_id"),
        )

    return stitched_older_sessions
