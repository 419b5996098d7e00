"""Which id of the business a cookie or device belongs to, by the latest event that says so."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def latest_ids(
    events: DataFrame, *, user: str, order: Sequence[str], known: DataFrame | None
) -> DataFrame:
    """One row per user with a known id: user, user_id and the end_tstamp until which it was seen.

    `known`: the stored mapping, whose newer rows a late session must not take back; None when it
    may, as in the reference.
    """
    identified = events.where(F.col("user_id").isNotNull() & F.col(user).isNotNull())
    mapping = identified.groupBy(user).agg(
        F.max_by("user_id", F.struct(*order)).alias("user_id"),
        F.max("collector_tstamp").alias("end_tstamp"),
    )
    if known is None:
        return mapping
    newer = known.select(user, F.col("end_tstamp").alias("known_until"))
    is_superseded = F.col("known_until") > F.col("end_tstamp")
    return (
        mapping.join(newer, user, how="left")
        .where(~F.coalesce(is_superseded, F.lit(False)))
        .drop("known_until")
    )
