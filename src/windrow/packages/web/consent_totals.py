"""consent_totals: how many users stand where on each version of the consent text."""

from __future__ import annotations

from datetime import UTC, datetime, time

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from windrow.columns.rules import column
from windrow.columns.timestamps import literal
from windrow.models.model import model, stored
from windrow.packages.web.consent_versions import COLUMNS as VERSION_COLUMNS
from windrow.tables import Columns

_TYPES: dict[str, tuple[str, ...]] = {
    "allow_all": ("allow_all",),
    "allow_selected": ("allow_selected",),
    "allow": ("allow_all", "allow_selected"),
    "pending": ("pending",),
    "denied": ("deny_all",),
    "expired": ("expired",),
    "withdrawn": ("withdrawn",),
    "implicit_consent": ("implicit_consent",),
}
"""Column -> the types of the last consent event that it counts."""

_NULL = "null if nobody's is to it"

COLUMNS: Columns = {
    **VERSION_COLUMNS,
    "total_visitors": column(
        "bigint", f"Number of users whose last answer is to the version; {_NULL}."
    ),
    **{
        name: column(
            "bigint",
            "Number of users whose last answer is to the version and is "
            f"{' or '.join(f'`{type_}`' for type_ in types)}; {_NULL}.",
        )
        for name, types in _TYPES.items()
    },
    "expires_in_six_months": column(
        "bigint",
        "Number of users whose last answer is to the version, is not `expired`, and ends, a year "
        f"after it was given, within six months from today; {_NULL}.",
    ),
}


@model(kind="rebuilt", key="consent_version", columns=COLUMNS)
def consent_totals(
    now: datetime,
    versions: DataFrame = stored("consent_versions"),
    users: DataFrame = stored("consent_users"),
) -> DataFrame:
    """One row per version of the consent text: its users by their last answer."""
    last_type = F.col("last_consent_event_type")
    answered = users.where(last_type.isNotNull())
    counts = answered.groupBy(F.col("last_consent_version").alias("consent_version")).agg(
        F.count_distinct("domain_userid").alias("total_visitors"),
        *(F.count_if(last_type.isin(*types)).alias(name) for name, types in _TYPES.items()),
        F.count_if((last_type != "expired") & _expires_soon(now)).alias("expires_in_six_months"),
    )
    return versions.join(counts, "consent_version", how="left").select(*COLUMNS)


def _expires_soon(now: datetime) -> Column:
    """True where the consent, which lasts a year, ends after today and within six months."""
    today = literal(datetime.combine(now.date(), time(), UTC))
    expiry = F.col("last_consent_event_tstamp") + F.make_ym_interval(F.lit(1))
    in_six_months = today + F.make_ym_interval(F.lit(0), F.lit(6))
    return (today < expiry) & (expiry <= in_six_months)
