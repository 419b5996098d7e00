"""funnel_sessions: how far each session came on the way to a purchase, and where it left."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from windrow.columns.rules import column
from windrow.models.checks import AcceptedValues
from windrow.models.model import Reads, model
from windrow.models.parts.first_events import EARLIEST
from windrow.models.parts.time_columns import START_DATE
from windrow.packages.ecommerce.cart_interactions import is_cart_event
from windrow.packages.ecommerce.event_fields import (
    EVENT_READS,
    LIFE,
    MONEY,
    MONEY_TOTAL,
    action_is,
    fields,
    is_any,
    name_sessions,
)
from windrow.packages.ecommerce.product_interactions import VIEWS
from windrow.tables import Columns

STEPS = ("view", "cart", "checkout", "transaction")
"""In the order in which they lead to a purchase."""

_COUNTS: Columns = {
    "number_views": column("bigint", "Number of events that viewed a product or a list."),
    "number_cart_additions": column("bigint", "Number of events that put something into a cart."),
    "number_checkout_steps": column("bigint", "Number of steps of a checkout."),
    "number_transactions": column(
        "bigint", "Number of transactions; those of the same id count once."
    ),
}

COLUMNS: Columns = {
    **fields("domain_sessionid"),
    "domain_userid": column("string", "Id of the session's user."),
    "app_id": column("string", "Application of the session's first e-commerce event."),
    **LIFE,
    "first_view_tstamp": column("timestamp", "When a product or a list was first viewed."),
    "first_cart_tstamp": column("timestamp", "When something was first put into a cart."),
    "first_checkout_tstamp": column("timestamp", "When the first step of a checkout was taken."),
    "first_transaction_tstamp": column("timestamp", "When something was first bought."),
    **_COUNTS,
    "entry_step": column(
        "string", "Which of `view`, `cart`, `checkout` and `transaction` was taken first."
    ),
    "furthest_step": column("string", "The last of the four steps that was taken at all."),
    "drop_off_step": column("string", "The furthest step; null if something was bought."),
    "is_complete": column("boolean", "True if all four steps were taken."),
    "cart_value": column(
        MONEY, "Value of the cart at the last cart event that tells it; null if none does."
    ),
    "revenue": column(MONEY_TOTAL, "Revenue of the session's transactions that have an id."),
    "lost_value": column(
        MONEY_TOTAL, "Value of the cart of a session that left at `cart` or `checkout`, else null."
    ),
    **START_DATE,
}

_declared = model(
    name="funnel_sessions",
    key="domain_sessionid",
    date="start_tstamp",
    columns=COLUMNS,
    replaces="domain_sessionid",
    reads=Reads((*EVENT_READS, "dvce_created_tstamp")),
    checks=[AcceptedValues(name, STEPS) for name in ("entry_step", "furthest_step")],
)


@_declared
def funnel_sessions(
    events: DataFrame, sessions_this_run: DataFrame, transaction_interactions: DataFrame
) -> DataFrame:
    """One row per session that viewed, carted, checked out or bought something."""
    # The reference keeps a row for each event of a transaction.
    in_session = ("domain_sessionid", "transaction_id")
    transactions = transaction_interactions.groupBy(*in_session).agg(
        F.min("derived_tstamp").alias("derived_tstamp"),
        F.min_by("transaction_revenue", F.struct("derived_tstamp", "event_id")).alias("revenue"),
    )
    bought = transactions.groupBy("domain_sessionid").agg(
        F.min("derived_tstamp").alias("first_known_transaction"),
        F.count(F.lit(1)).alias("known_transactions"),
        F.sum("revenue").alias("revenue"),
    )
    is_anonymous = is_any(action_is("transaction")) & F.col("transaction_id").isNull()
    summary = _summary(events, is_anonymous).join(bought, "domain_sessionid", how="left")
    return _rows(summary, sessions_this_run)


@_declared
def funnel_sessions_without_transactions(
    events: DataFrame, sessions_this_run: DataFrame
) -> DataFrame:
    """One row per session in the funnel, where transactions have no ids and no revenue."""
    summary = _summary(events, is_any(action_is("transaction"))).withColumns(
        {
            "first_known_transaction": F.lit(None).cast("timestamp"),
            "known_transactions": F.lit(0),
            "revenue": F.lit(None).cast(MONEY_TOTAL),
        }
    )
    return _rows(summary, sessions_this_run)


def _summary(events: DataFrame, is_counted_transaction: Column) -> DataFrame:
    """Per session: the first time of each step and how often it was taken."""
    taken = {
        "view": is_any(action_is(*VIEWS)),
        "cart": is_any(action_is("add_to_cart")),
        "checkout": is_any(action_is("checkout_step")),
        "transaction": is_counted_transaction,
    }
    time, order = F.col("derived_tstamp"), F.struct(*EARLIEST)
    has_value = is_cart_event() & F.col("cart_total_value").isNotNull()
    return events.groupBy("domain_sessionid").agg(
        F.min_by("app_id", order).alias("app_id"),
        *(
            F.min(F.when(is_it, time)).alias(f"first_{step}_tstamp")
            for step, is_it in taken.items()
        ),
        *(
            F.count_if(is_it).alias(name)
            for name, is_it in zip(_COUNTS, taken.values(), strict=True)
        ),
        F.max_by("cart_total_value", F.when(has_value, order)).alias("cart_value"),
    )


def _rows(summary: DataFrame, sessions_this_run: DataFrame) -> DataFrame:
    counted = summary.withColumns(
        {
            "first_transaction_tstamp": F.least(
                "first_transaction_tstamp", "first_known_transaction"
            ),
            "number_transactions": F.col("number_transactions")
            + F.coalesce("known_transactions", F.lit(0)),
        }
    )
    times = {step: F.col(f"first_{step}_tstamp") for step in STEPS}
    earliest = F.least(*times.values())
    entry = F.coalesce(*(F.when(time == earliest, step) for step, time in times.items()))
    furthest = F.coalesce(*(F.when(times[step].isNotNull(), step) for step in reversed(STEPS)))
    placed = counted.withColumns({"entry_step": entry, "furthest_step": furthest}).where(
        F.col("furthest_step").isNotNull()
    )

    left = F.col("furthest_step")
    has_left_with_cart = left.isin("cart", "checkout")
    is_complete = F.lit(True)
    for time in times.values():
        is_complete &= time.isNotNull()
    return (
        placed.join(name_sessions(sessions_this_run), "domain_sessionid", how="inner")
        .withColumns(
            {
                "drop_off_step": F.when(left != "transaction", left),
                "is_complete": is_complete,
                "lost_value": F.when(has_left_with_cart, F.col("cart_value")),
                "start_tstamp_date": F.to_date("start_tstamp"),
            }
        )
        .select(*COLUMNS)
    )
