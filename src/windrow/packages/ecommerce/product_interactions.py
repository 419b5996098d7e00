"""product_interactions: one row per product of every e-commerce event."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from windrow.atomic.entity_columns import ECOMMERCE_PRODUCT
from windrow.columns.keys import surrogate_key
from windrow.columns.rules import column
from windrow.packages.ecommerce import passthroughs
from windrow.packages.ecommerce.event_fields import EVENT, EVENT_READS, action_is, fields
from windrow.packages.ecommerce.interactions import describe_events, interactions
from windrow.packages.ecommerce.settings import EcommerceSettings
from windrow.tables import Columns

VIEWS = ("product_view", "list_view")

_FIELDS = {
    "product_id": "id",
    "product_category": "category",
    "product_currency": "currency",
    "product_price": "price",
    "product_brand": "brand",
    "product_creative_id": "creative_id",
    "product_inventory_status": "inventory_status",
    "product_list_price": "list_price",
    "product_name": "name",
    "product_list_position": "position",
    "product_quantity": "quantity",
    "product_size": "size",
    "product_variant": "variant",
}
"""Column -> the field of the product that it holds."""


def _of_product(*names: str) -> Columns:
    return {name: ECOMMERCE_PRODUCT.fields[_FIELDS[name]] for name in names}


def own_columns(settings: EcommerceSettings) -> Columns:
    """The table's columns but for passed-through ones; each level of the category has one."""
    return {
        "product_event_id": column(
            "string", "Hash of the event's id, the product's id and its place in the event."
        ),
        **EVENT,
        **fields("ecommerce_action_type", "ecommerce_action_name"),
        **_of_product("product_id", "product_category"),
        **{
            _level_column(level): column(
                "string", f"Level {level} of the category; null if it has none or an empty one."
            )
            for level in _levels(settings)
        },
        **_of_product("product_currency", "product_price", "product_brand", "product_creative_id"),
        **_of_product("product_inventory_status", "product_list_price", "product_name"),
        **_of_product("product_list_position", "product_quantity"),
        **_of_product("product_size", "product_variant"),
        "is_product_view": column(
            "boolean", "True for `product_view` and `list_view`; null without an action."
        ),
        "product_view_type": column(
            "string", "The action if it is `product_view` or `list_view`, else null."
        ),
        "is_add_to_cart": column("boolean", "True for `add_to_cart`; null without an action."),
        "is_remove_from_cart": column(
            "boolean", "True for `remove_from_cart`; null without an action."
        ),
        "product_list_name": column(
            "string", "Name of the list that was viewed; null for other actions than `list_view`."
        ),
        "is_product_transaction": column(
            "boolean", "True for `transaction`; null without an action."
        ),
        **fields("transaction_id", "ecommerce_user_email", "ecommerce_user_is_guest"),
    }


def columns(settings: EcommerceSettings) -> Columns:
    """The table's columns under these settings."""
    return passthroughs.with_passthroughs(
        own_columns(settings), "product_passthroughs", settings.product_passthroughs
    )


def _reads(settings: EcommerceSettings) -> tuple[str, ...]:
    own = passthroughs.reads(settings.product_passthroughs, alias="t")
    return (*EVENT_READS, ECOMMERCE_PRODUCT.name, *own)


@interactions(key="product_event_id", columns=columns, reads=_reads)
def product_interactions(events: DataFrame, settings: EcommerceSettings) -> DataFrame:
    """One row per product that an e-commerce event carries, whatever its action."""
    own = settings.product_passthroughs
    products = events.alias("t").select(
        "*",
        *([F.struct(*passthroughs.struct(own)).alias("own")] if own else []),
        F.posexplode(ECOMMERCE_PRODUCT.name).alias("product_position", "product"),
    )

    product, action = F.col("product"), F.col("ecommerce_action_type")
    fields = {name: product.getField(field) for name, field in _FIELDS.items()}
    is_view = action_is(*VIEWS)
    values: dict[str, Column] = {
        **fields,
        "product_event_id": surrogate_key(
            F.col("event_id"), fields["product_id"], F.col("product_position")
        ),
        **{
            _level_column(level): _level(fields["product_category"], level, settings)
            for level in _levels(settings)
        },
        "is_product_view": is_view,
        "product_view_type": F.when(is_view, action),
        "is_add_to_cart": action == "add_to_cart",
        "is_remove_from_cart": action == "remove_from_cart",
        "product_list_name": F.when(action == "list_view", F.col("ecommerce_action_name")),
        "is_product_transaction": action == "transaction",
    }
    carried = {entry.alias: F.col("own").getField(entry.alias) for entry in own}
    return describe_events(products, columns(settings), values | carried, ())


def _levels(settings: EcommerceSettings) -> range:
    return range(1, settings.number_category_levels + 1)


def _level_column(level: int) -> str:
    return f"product_subcategory_{level}"


def _level(category: Column, level: int, settings: EcommerceSettings) -> Column:
    """The n-th part of the category; null where there is none, or nothing in it."""
    part = F.split_part(category, F.lit(settings.categories_separator), F.lit(level))
    return F.nullif(part, F.lit(""))
