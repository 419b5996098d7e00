"""transaction_interactions: one row per purchase, however often its event was sent."""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import Window as W
from pyspark.sql import functions as F

from windrow.atomic.entity_columns import ECOMMERCE_PRODUCT
from windrow.columns.rules import column
from windrow.models.checks import Unique
from windrow.models.parts.first_events import EARLIEST
from windrow.packages.ecommerce import passthroughs
from windrow.packages.ecommerce.cart_interactions import product_reads
from windrow.packages.ecommerce.event_fields import EVENT, EVENT_READS, action_is, fields, is_any
from windrow.packages.ecommerce.interactions import describe_events, interactions
from windrow.packages.ecommerce.settings import EcommerceSettings
from windrow.tables import Columns

COLUMNS: Columns = {
    **EVENT,
    **fields("transaction_id", "transaction_currency", "transaction_payment_method"),
    **fields("transaction_revenue", "transaction_total_quantity", "transaction_credit_order"),
    **fields("transaction_discount_amount", "transaction_discount_code"),
    **fields("transaction_shipping", "transaction_tax"),
    **fields("ecommerce_user_email", "ecommerce_user_is_guest"),
    "number_products": column(
        "bigint",
        "Number of products that the event lists or, with `use_product_quantity`, of their pieces, "
        "null if not known; 1 where products are not read.",
    ),
}


def columns(settings: EcommerceSettings) -> Columns:
    """The table's columns under these settings."""
    return passthroughs.with_passthroughs(
        COLUMNS, "transaction_passthroughs", settings.transaction_passthroughs
    )


def _reads(settings: EcommerceSettings) -> tuple[str, ...]:
    own = passthroughs.reads(settings.transaction_passthroughs)
    return (
        *(*EVENT_READS, "dvce_created_tstamp", settings.session_timestamp),
        *product_reads(settings),
        *own,
    )


@interactions(key="transaction_id", columns=columns, reads=_reads)
def transaction_interactions(
    events: DataFrame, nearby: DataFrame, settings: EcommerceSettings
) -> DataFrame:
    """One row per transaction id: the event that first told of the purchase."""
    bought = events.where(F.col("transaction_id").isNotNull())
    found = _every_event(bought, settings) if settings.compat else _first(bought, nearby, settings)
    return describe_events(found, columns(settings), {}, settings.transaction_passthroughs)


transactions_of_the_reference = replace(
    transaction_interactions,
    key=("transaction_id", "event_id"),
    checks=(Unique("transaction_id"),),
)
"""With a key under which all its rows can be stored; the reference's own fails on repeated ids.

Its check on them fails here too.
"""


def _first(bought: DataFrame, nearby: DataFrame, settings: EcommerceSettings) -> DataFrame:
    """Of the events of a transaction, the first of the session that told of it first.

    Sessions are compared by collector time, so that what a run stored is never overturned by a
    later one: a transaction that another session has already stays there.
    """
    transactions = bought.where(action_is("transaction"))
    in_session = W.partitionBy("transaction_id", "domain_sessionid")
    told = F.min(settings.session_timestamp).over(in_session)
    order = W.partitionBy("transaction_id").orderBy("told", "domain_sessionid", *EARLIEST)
    firsts = (
        transactions.withColumn("told", told)
        .withColumn("nth", F.row_number().over(order))
        .where(F.col("nth") == 1)
    )
    new = firsts.join(nearby.select("transaction_id"), "transaction_id", how="left_anti")
    return new.withColumn("number_products", _number_of_products(settings))


def _number_of_products(settings: EcommerceSettings) -> Column:
    """How many products, or pieces, the transaction's own event lists."""
    if settings.disable_ecommerce_products:
        return F.lit(1)
    products = F.coalesce(F.size(ECOMMERCE_PRODUCT.name), F.lit(0))
    products = F.greatest(products, F.lit(0))
    if not settings.use_product_quantity:
        return products
    return F.when(products > 0, _pieces()).otherwise(0)


def _pieces() -> Column:
    """The sum of the products' quantities; null where none is known."""
    quantities = F.filter(
        F.transform(ECOMMERCE_PRODUCT.name, lambda product: product.getField("quantity")),
        lambda quantity: quantity.isNotNull(),
    )
    total = F.aggregate(quantities, F.lit(0).cast("bigint"), lambda sum_, quantity: sum_ + quantity)
    return F.when(F.size(quantities) > 0, total)


def _every_event(bought: DataFrame, settings: EcommerceSettings) -> DataFrame:
    """The reference's way: every event with the id, its products counted once for each event."""
    is_transaction = is_any(action_is("transaction"))
    events_of = F.count(F.lit(1))
    if settings.disable_ecommerce_products:
        number = events_of
    else:
        listed = F.sum(F.greatest(F.coalesce(F.size(ECOMMERCE_PRODUCT.name), F.lit(0)), F.lit(0)))
        if settings.use_product_quantity:
            number = F.sum(_pieces()) * events_of
        else:
            number = F.greatest(listed, F.lit(1)) * events_of
    counted = (
        bought.where(is_transaction).groupBy("transaction_id").agg(number.alias("number_products"))
    )
    return bought.join(counted, "transaction_id", how="inner")
