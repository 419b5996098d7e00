"""Which id of the business a cookie or device belongs to, by the latest event that says so."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from windrow.columns.rules import column
from windrow.models.checks import NotNull
from windrow.tables import Columns

MAPPED: Columns = {
    "user_id": column(
        "string", "Id that the business knows the user by, of the latest event that has both ids."
    ),
    "end_tstamp": column("timestamp", "Collector time of that latest event."),
}
"""What a mapping has beside the id of the cookie or device."""

CHECKS = (NotNull(tuple(MAPPED)),)


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
