"""funnel_days: how many sessions of a day came how far on the way to a purchase."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from windrow.columns.rules import column
from windrow.models.model import model, stored
from windrow.packages.ecommerce.event_fields import MONEY_TOTAL
from windrow.packages.ecommerce.funnel_sessions import STEPS
from windrow.tables import Columns

_LEFT_AT = STEPS[:-1]

COLUMNS: Columns = {
    "start_tstamp_date": column("date", "Day on which the sessions began, in UTC."),
    "app_id": column("string", "Application of the sessions; empty if not known."),
    "sessions": column("bigint", "Number of sessions in the funnel."),
    **{
        f"sessions_with_{step}": column(
            "bigint", f"Number of sessions that took the step `{step}`."
        )
        for step in STEPS
    },
    **{
        f"dropped_at_{step}": column(
            "bigint", f"Number of sessions of which `{step}` was the furthest step."
        )
        for step in _LEFT_AT
    },
    "complete_sessions": column("bigint", "Number of sessions that took all four steps."),
    "transactions": column("bigint", "Number of transactions of the sessions."),
    "revenue": column(MONEY_TOTAL, "Revenue of the sessions' transactions that have an id."),
    "lost_value": column(MONEY_TOTAL, "Value of the carts with which sessions left."),
}


@model(
    key=("start_tstamp_date", "app_id"),
    date="start_tstamp_date",
    columns=COLUMNS,
    replaces="start_tstamp_date",
)
def funnel_days(by_session: DataFrame = stored("funnel_sessions", near=True)) -> DataFrame:
    """One row per day and app: sessions by the step they reached and the step they left at."""
    app = F.coalesce("app_id", F.lit("")).alias("app_id")
    return by_session.groupBy("start_tstamp_date", app).agg(
        F.count(F.lit(1)).alias("sessions"),
        *(F.count(f"first_{step}_tstamp").alias(f"sessions_with_{step}") for step in STEPS),
        *(
            F.count_if(F.col("drop_off_step") == step).alias(f"dropped_at_{step}")
            for step in _LEFT_AT
        ),
        F.count_if("is_complete").alias("complete_sessions"),
        F.sum("number_transactions").alias("transactions"),
        F.sum("revenue").alias("revenue"),
        F.sum("lost_value").alias("lost_value"),
    )
