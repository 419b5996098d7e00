"""ecommerce: what shops' visitors view, put into carts, check out and buy."""

from __future__ import annotations

from collections.abc import Sequence

from windrow.atomic.entity_columns import CLIENT_SESSION, ECOMMERCE_PRODUCT, SCREEN
from windrow.models.model import Model
from windrow.models.package import Package
from windrow.packages.ecommerce.base_events import SWITCHES, foundation
from windrow.packages.ecommerce.cart_interactions import cart_interactions
from windrow.packages.ecommerce.carts import carts
from windrow.packages.ecommerce.checkout_interactions import checkout_interactions
from windrow.packages.ecommerce.funnel_days import funnel_days
from windrow.packages.ecommerce.funnel_sessions import (
    funnel_sessions,
    funnel_sessions_without_transactions,
)
from windrow.packages.ecommerce.product_interactions import product_interactions
from windrow.packages.ecommerce.sessions import sessions, sessions_without_transactions
from windrow.packages.ecommerce.settings import EcommerceSettings
from windrow.packages.ecommerce.transaction_interactions import (
    transaction_interactions,
    transactions_of_the_reference,
)

__all__ = ["ECOMMERCE"]


def _models(settings: EcommerceSettings) -> Sequence[Model]:
    """A switched-off module has no table; in the reference it keeps one, with nothing to tell."""
    keeps = settings.compat
    has_carts = not settings.disable_ecommerce_carts
    has_transactions = not settings.disable_ecommerce_transactions
    found = [
        *((product_interactions,) if not settings.disable_ecommerce_products else ()),
        *((cart_interactions,) if has_carts or keeps else ()),
        *((checkout_interactions,) if not settings.disable_ecommerce_checkouts or keeps else ()),
    ]
    if settings.compat:
        found += [transactions_of_the_reference, sessions]
    elif has_transactions:
        found += [transaction_interactions, sessions]
    else:
        found += [sessions_without_transactions]
    if settings.is_wanted(settings.enable_funnel):
        by_session = funnel_sessions if has_transactions else funnel_sessions_without_transactions
        found += [by_session, funnel_days]
    if settings.is_wanted(settings.enable_carts) and has_carts:
        found += [carts]
    for member in found:
        # A passed-through column that takes a name of ours is told before anything runs.
        member.columns_for(settings)
    return found


ECOMMERCE = Package(
    "ecommerce",
    EcommerceSettings,
    _models,
    foundation=foundation,
    sessions="sessions",
    options_of_columns={
        **{entity.name: f"{switch}: false" for switch, entity in SWITCHES.items()},
        ECOMMERCE_PRODUCT.name: "disable_ecommerce_products: false",
        CLIENT_SESSION.name: "enable_mobile_events",
        SCREEN.name: "enable_mobile_events",
    },
)
