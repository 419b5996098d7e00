"""sessions: one row per session, with what was viewed, carted, checked out and bought in it."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from windrow.atomic.entity_columns import ECOMMERCE_PRODUCT
from windrow.columns.distinct import count_different
from windrow.columns.rules import column, with_note
from windrow.models.extras import Extras
from windrow.models.model import Reads, Storage, model
from windrow.models.parts.declared_columns import select_declared
from windrow.models.parts.first_events import EARLIEST
from windrow.models.parts.time_columns import START_DATE
from windrow.packages.ecommerce import passthroughs
from windrow.packages.ecommerce.cart_interactions import cart_flags, is_cart_event, product_reads
from windrow.packages.ecommerce.checkout_interactions import checkout_values, is_checkout_event
from windrow.packages.ecommerce.event_fields import (
    EVENT_READS,
    LIFE,
    MONEY_TOTAL,
    action_is,
    fields,
    is_any,
    name_sessions,
)
from windrow.packages.ecommerce.product_interactions import VIEWS
from windrow.packages.ecommerce.settings import EcommerceSettings
from windrow.tables import Columns

_SESSION: Columns = {
    **fields("domain_sessionid"),
    "domain_userid": column("string", "Id of the session's user."),
    **LIFE,
    "app_id": column("string", "Application of the session's first e-commerce event."),
}


def _span(name: str, what: str) -> Columns:
    return {
        f"first_{name}": column("timestamp", f"When {what} for the first time."),
        f"last_{name}": column("timestamp", f"When {what} for the last time."),
    }


_CART: Columns = with_note(
    {
        "number_unique_cart_ids": column("bigint", "Number of different carts, by their ids."),
        "number_carts_created": column("bigint", "Number of events with `cart_created`."),
        "number_carts_emptied": column("bigint", "Number of events with `cart_emptied`."),
        "number_carts_transacted": column("bigint", "Number of events with `cart_transacted`."),
        **_span("cart_created", "a cart was created"),
        **_span("cart_transacted", "a cart was bought"),
        "session_cart_abandoned": column(
            "boolean", "True if fewer carts were bought than created."
        ),
    },
    "null without a cart event",
)
_CHECKOUT: Columns = with_note(
    {
        "session_entered_at_checkout": column(
            "boolean", "True if the session's first e-commerce event was a step of a checkout."
        ),
        "number_unique_checkout_steps_attempted": column(
            "bigint", "Number of different steps of a checkout, the transaction among them."
        ),
        "number_checkout_steps_visited": column(
            "bigint", "Number of events that were steps of a checkout or transactions."
        ),
        "checkout_succeeded": column("boolean", "True if a checkout ended in a transaction."),
        **_span("checkout_attempted", "step 1 of a checkout was taken"),
        **_span("checkout_succeeded", "a checkout ended in a transaction"),
    },
    "null without a checkout event",
)
_PRODUCT: Columns = with_note(
    {
        **_span("product_view", "a product was viewed"),
        **_span("product_add_to_cart", "a product was put into a cart"),
        **_span("product_remove_from_cart", "a product was taken out of a cart"),
        **_span("product_transaction", "a product was bought"),
        "number_product_views": column("bigint", "Number of events that viewed products."),
        "number_add_to_carts": column("bigint", "Number of events that put products into a cart."),
        "number_remove_from_carts": column(
            "bigint", "Number of events that took products out of a cart."
        ),
        "number_product_transactions": column("bigint", "Number of events that bought products."),
    },
    "null without products",
)
_DISTINCT_PRODUCTS: Columns = with_note(
    {
        "number_distinct_products_viewed": column(
            "bigint",
            "Number of different products viewed, by their ids; only with "
            "`count_distinct_products_viewed`.",
        )
    },
    "null without products",
)
_TRANSACTION: Columns = with_note(
    {
        **_span("transaction_completed", "a transaction was made"),
        "total_transaction_revenue": column(
            MONEY_TOTAL, "Revenue of the transactions, whatever their currencies."
        ),
        "total_transaction_quantity": column("bigint", "Number of pieces in the transactions."),
        "total_number_transactions": column("bigint", "Number of transactions, by their ids."),
        "total_transacted_products": column(
            "bigint", "Sum of the transactions' `number_products`."
        ),
    },
    "null without a transaction",
)


def columns(settings: EcommerceSettings) -> Columns:
    """The table's columns; passed-through ones follow the app."""
    distinct = settings.count_distinct_products_viewed
    own: Columns = {
        **_CART,
        **_CHECKOUT,
        **_PRODUCT,
        **(_DISTINCT_PRODUCTS if distinct else {}),
        **_TRANSACTION,
        **START_DATE,
    }
    option = ("session_passthroughs", settings.session_passthroughs)
    passthroughs.with_passthroughs(own, *option)
    return {**passthroughs.with_passthroughs(_SESSION, *option), **own}


def _reads(settings: EcommerceSettings) -> tuple[str, ...]:
    own = passthroughs.reads(settings.session_passthroughs)
    return (*EVENT_READS, "dvce_created_tstamp", *product_reads(settings), *own)


_declared = model(
    name="sessions",
    key="domain_sessionid",
    date="start_tstamp",
    columns=columns,
    replaces="domain_sessionid",
    reads=Reads(_reads, extras=Extras("events", by=("domain_sessionid",), first=EARLIEST)),
    storage=Storage(steps=("sessions_this_run",)),
)


@_declared
def sessions(
    events: DataFrame,
    sessions_this_run: DataFrame,
    transaction_interactions: DataFrame,
    settings: EcommerceSettings,
) -> DataFrame:
    """One row per session; sessions without any e-commerce event have one too."""
    summary = _summary(events, settings)
    bought = transaction_interactions.groupBy("domain_sessionid").agg(
        F.min("derived_tstamp").alias("first_transaction_completed"),
        F.max("derived_tstamp").alias("last_transaction_completed"),
        F.sum("transaction_revenue").alias("total_transaction_revenue"),
        F.sum("transaction_total_quantity").alias("total_transaction_quantity"),
        count_different(F.col("transaction_id")).alias("total_number_transactions"),
        F.sum("number_products").alias("total_transacted_products"),
    )
    known = summary.join(bought, "domain_sessionid", how="left")
    return _join_summary(sessions_this_run, known, settings)


@_declared
def sessions_without_transactions(
    events: DataFrame, sessions_this_run: DataFrame, settings: EcommerceSettings
) -> DataFrame:
    """One row per session, where transactions are not read."""
    unknown = {name: F.lit(None).cast(kind) for name, kind in _TRANSACTION.items()}
    return _join_summary(
        sessions_this_run, _summary(events, settings).withColumns(unknown), settings
    )


def _join_summary(
    sessions_this_run: DataFrame, summary: DataFrame, settings: EcommerceSettings
) -> DataFrame:
    how = "left" if settings.keep_sessions_without_actions else "inner"
    joined = name_sessions(sessions_this_run).join(summary, "domain_sessionid", how=how)
    day = {"start_tstamp_date": F.to_date("start_tstamp")}
    return select_declared(joined, columns(settings), day)


def _summary(events: DataFrame, settings: EcommerceSettings) -> DataFrame:
    """Per session with events: what its first event tells, and what all of them add up to."""
    entries = settings.session_passthroughs
    first = F.struct("app_id", *passthroughs.struct(entries))
    flagged = events.alias("e").select(
        "*",
        first.alias("first"),
        *(value.alias(f"{name}_flag") for name, value in cart_flags(settings).items()),
        *(value.alias(f"{name}_at") for name, value in checkout_values(settings).items()),
        _has_products(settings).alias("has_products"),
    )
    found = {
        **_cart_columns(settings),
        **_checkout_columns(settings),
        **_product_columns(settings),
    }
    summed = flagged.groupBy("domain_sessionid").agg(
        F.min_by("first", F.struct(*EARLIEST)).alias("first"),
        *(value.alias(name) for name, value in found.items()),
    )
    return summed.select("*", "first.*").drop("first")


def _has_products(settings: EcommerceSettings) -> Column:
    if settings.disable_ecommerce_products:
        return F.lit(False)
    return is_any(F.size(ECOMMERCE_PRODUCT.name) > 0)


def _first_and_last(name: str, condition: Column) -> dict[str, Column]:
    time = F.when(condition, F.col("derived_tstamp"))
    return {f"first_{name}": F.min(time), f"last_{name}": F.max(time)}


def _where_any(
    is_row: Column, values: dict[str, Column], columns: Columns, *, is_off: bool
) -> dict[str, Column]:
    """The values of sessions that have such a row; null in the others, and where it is off."""
    if is_off:
        return {name: F.any_value(F.lit(None).cast(kind)) for name, kind in columns.items()}
    return {name: F.when(F.max(is_row), value) for name, value in values.items()}


def _cart_columns(settings: EcommerceSettings) -> dict[str, Column]:
    is_row = is_cart_event()
    created, emptied, transacted = (
        is_row & is_any(F.col(f"cart_{what}_flag")) for what in ("created", "emptied", "transacted")
    )
    values = {
        "number_unique_cart_ids": count_different(F.when(is_row, F.col("cart_id"))),
        "number_carts_created": F.count_if(created),
        "number_carts_emptied": F.count_if(emptied),
        "number_carts_transacted": F.count_if(transacted),
        **_first_and_last("cart_created", created),
        **_first_and_last("cart_transacted", transacted),
        "session_cart_abandoned": F.count_if(transacted) < F.count_if(created),
    }
    return _where_any(is_row, values, _CART, is_off=settings.disable_ecommerce_carts)


def _checkout_columns(settings: EcommerceSettings) -> dict[str, Column]:
    is_row, step = is_checkout_event(), F.col("checkout_step_number_at")
    succeeded = is_row & F.col("checkout_succeeded_at")
    values = {
        "session_entered_at_checkout": F.max(is_row & F.col("session_entered_at_step_at")),
        "number_unique_checkout_steps_attempted": count_different(F.when(is_row, step)),
        "number_checkout_steps_visited": F.count_if(is_row),
        "checkout_succeeded": F.max(succeeded),
        **_first_and_last("checkout_attempted", is_row & is_any(step == 1)),
        **_first_and_last("checkout_succeeded", succeeded),
    }
    return _where_any(is_row, values, _CHECKOUT, is_off=settings.disable_ecommerce_checkouts)


def _product_columns(settings: EcommerceSettings) -> dict[str, Column]:
    is_row = F.col("has_products")

    def with_products(*actions: str) -> Column:
        return is_row & is_any(action_is(*actions))

    viewed, bought = with_products(*VIEWS), with_products("transaction")
    added, removed = with_products("add_to_cart"), with_products("remove_from_cart")
    values = {
        **_first_and_last("product_view", viewed),
        **_first_and_last("product_add_to_cart", added),
        **_first_and_last("product_remove_from_cart", removed),
        **_first_and_last("product_transaction", bought),
        "number_product_views": F.count_if(viewed),
        "number_add_to_carts": F.count_if(added),
        "number_remove_from_carts": F.count_if(removed),
        "number_product_transactions": F.count_if(bought),
    }
    names = _PRODUCT
    if settings.count_distinct_products_viewed:
        names = {**_PRODUCT, **_DISTINCT_PRODUCTS}
        values |= dict.fromkeys(_DISTINCT_PRODUCTS, _distinct_products(viewed, settings))
    return _where_any(is_row, values, names, is_off=settings.disable_ecommerce_products)


def _distinct_products(viewed: Column, settings: EcommerceSettings) -> Column:
    if settings.disable_ecommerce_products:
        return F.lit(None)
    ids = F.transform(ECOMMERCE_PRODUCT.name, lambda product: product.getField("id"))
    seen = F.array_distinct(F.flatten(F.collect_list(F.when(viewed, ids))))
    return F.size(F.array_compact(seen)).cast("bigint")
