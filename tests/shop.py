"""A little shop for tests: e-commerce events in, and what the package makes of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from website import Event, Site, event, event_frame
from windrow.atomic.columns import (
    ECOMMERCE_ACTION,
    ECOMMERCE_CART,
    ECOMMERCE_CHECKOUT_STEP,
    ECOMMERCE_PRODUCT,
    ECOMMERCE_TRANSACTION,
    EntityColumn,
)
from windrow.config import EcommerceSettings
from windrow.models.foundation import Foundation
from windrow.packages.ecommerce import ECOMMERCE

ACTION = "snowplow_ecommerce_action"


class Shop(Site):
    """A project with the e-commerce package."""

    package = "ecommerce"


def money(amount: float | None) -> Decimal | None:
    return None if amount is None else Decimal(str(amount)).quantize(Decimal("0.01"))


def entity(column: EntityColumn, **fields: Any) -> dict[str, Any]:
    """One entity with all its fields, those not given null."""
    amounts = {
        n: money(v) if column.fields[n].startswith("decimal") else v for n, v in fields.items()
    }
    return dict.fromkeys(column.fields) | amounts


def product(id: str | None, price: float | None = None, **fields: Any) -> dict[str, Any]:
    return entity(ECOMMERCE_PRODUCT, id=id, price=price, **fields)


def action(
    event_id: str,
    session: str | None,
    when: str,
    kind: str | None,
    *,
    name: str | None = None,
    products: Sequence[dict[str, Any]] | None = None,
    cart: float | None = None,
    cart_id: str | None = None,
    step: int | None = None,
    transaction: str | None = None,
    revenue: float | None = None,
    **columns: Any,
) -> Event:
    """An e-commerce event, with the entities that its arguments tell of."""
    entities: dict[str, Any] = {ECOMMERCE_PRODUCT.name: products}
    if kind is not None:
        entities[ECOMMERCE_ACTION.name] = {"type": kind, "name": name}
    if cart is not None or cart_id is not None:
        given = entity(ECOMMERCE_CART, cart_id=cart_id, currency="EUR", total_value=cart)
        entities[ECOMMERCE_CART.name] = [given]
    if step is not None:
        entities[ECOMMERCE_CHECKOUT_STEP.name] = [
            entity(ECOMMERCE_CHECKOUT_STEP, step=step, delivery_method="post")
        ]
    if transaction is not None or revenue is not None:
        given = entity(
            ECOMMERCE_TRANSACTION,
            transaction_id=transaction,
            currency="EUR",
            revenue=revenue,
            total_quantity=1,
        )
        entities[ECOMMERCE_TRANSACTION.name] = [given]
    return event(event_id, session, when, **{"name": ACTION} | entities | columns)


def base_of(settings: EcommerceSettings) -> Foundation:
    return ECOMMERCE.foundation(settings).with_own_identifiers(settings)


def base_events(
    spark: SparkSession, events: Iterable[Event], **options: Any
) -> tuple[DataFrame, EcommerceSettings]:
    """What models get to see of these events, and the settings."""
    settings = EcommerceSettings(**options)
    base = base_of(settings)
    frame = base.identified(event_frame(spark, events))
    if base.keeps is not None:
        frame = frame.where(base.keeps())
    return frame.withColumns(base.adds()).withColumns(base.adds_in_session()), settings
