"""cart_interactions: what was put into carts, taken out of them, and bought."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from windrow.atomic.entity_columns import ECOMMERCE_PRODUCT
from windrow.columns.rules import column
from windrow.packages.ecommerce import passthroughs
from windrow.packages.ecommerce.event_fields import (
    EVENT,
    EVENT_READS,
    MONEY,
    action_is,
    fields,
    is_any,
)
from windrow.packages.ecommerce.interactions import describe_events, interactions
from windrow.packages.ecommerce.settings import EcommerceSettings
from windrow.tables import Columns

COLUMNS: Columns = {
    **EVENT,
    **fields("cart_id", "cart_currency", "cart_total_value"),
    "cart_created": column(
        "boolean",
        "True if what was added is worth all that is in the cart; null if nothing was added or a "
        "value is not known.",
    ),
    "cart_emptied": column("boolean", "True if nothing of value is left; null if not known."),
    "cart_transacted": column("boolean", "True if the event is a transaction."),
    **fields("ecommerce_action_type"),
}


def columns(settings: EcommerceSettings) -> Columns:
    """The table's columns under these settings."""
    return passthroughs.with_passthroughs(COLUMNS, "cart_passthroughs", settings.cart_passthroughs)


def product_reads(settings: EcommerceSettings) -> tuple[str, ...]:
    """The entity that tells what was added, unless products are not read."""
    return () if settings.disable_ecommerce_products else (ECOMMERCE_PRODUCT.name,)


def _reads(settings: EcommerceSettings) -> tuple[str, ...]:
    own = passthroughs.reads(settings.cart_passthroughs)
    return (*EVENT_READS, *product_reads(settings), *own)


def is_cart_event() -> Column:
    """True for events that are interactions with a cart."""
    return is_any(action_is("add_to_cart", "remove_from_cart", "transaction"))


def cart_flags(settings: EcommerceSettings) -> dict[str, Column]:
    """Whether a cart event filled an empty cart, emptied it, or bought what was in it."""
    total = F.col("cart_total_value")
    return {
        "cart_created": _value_added(settings) == total,
        "cart_emptied": total == 0,
        "cart_transacted": is_any(action_is("transaction")),
    }


def _value_added(settings: EcommerceSettings) -> Column:
    """What an event put into the cart is worth; null where it added nothing of known price.

    The reference adds up prices of single pieces, however many were added.
    """
    if settings.disable_ecommerce_products:
        return F.lit(None).cast(MONEY)

    def worth(product: Column) -> Column:
        pieces = F.coalesce(product.getField("quantity"), F.lit(1))
        price = product.getField("price").cast("decimal(19,2)")
        return (price if settings.compat else price * pieces).cast("decimal(19,2)")

    worths = F.filter(F.transform(ECOMMERCE_PRODUCT.name, worth), lambda value: value.isNotNull())
    total = F.aggregate(
        worths, F.lit(0).cast("decimal(19,2)"), lambda sum_, v: (sum_ + v).cast("decimal(19,2)")
    )
    return F.when(is_any(action_is("add_to_cart")) & (F.size(worths) > 0), total)


@interactions(key="event_id", columns=columns, reads=_reads)
def cart_interactions(events: DataFrame, settings: EcommerceSettings) -> DataFrame:
    """One row per event that adds to a cart, takes from it, or buys it."""
    found = events.where(is_cart_event())
    own = settings.cart_passthroughs
    return describe_events(found, columns(settings), cart_flags(settings), own)
