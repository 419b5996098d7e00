"""consent_scope_status: how many users agree to each scope of the latest version."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from windrow.columns.rules import column
from windrow.models.model import model, stored
from windrow.tables import Columns

COLUMNS: Columns = {
    "scope": column("string", "One of the scopes that people answered about."),
    "total_consent": column(
        "bigint", "Number of users whose last answer is to the latest version and names the scope."
    ),
}


@model(kind="rebuilt", key="scope", columns=COLUMNS)
def consent_scope_status(users: DataFrame = stored("consent_users")) -> DataFrame:
    """One row per consent scope: the users whose last answer, to the latest version, names it."""
    # Some trackers send the scopes as the text of a JSON array.
    scopes = F.split(F.regexp_replace("last_consent_scopes", r'["\[\]]', ""), ", ")
    named = users.where(F.col("is_latest_version")).select(
        F.explode(F.array_distinct(scopes)).alias("scope")
    )
    return named.groupBy("scope").agg(F.count(F.lit(1)).alias("total_consent")).select(*COLUMNS)
