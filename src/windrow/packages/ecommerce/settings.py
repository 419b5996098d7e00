"""The options of the e-commerce package."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field, field_validator, model_validator

from windrow.config.extras import Passthrough, Passthroughs
from windrow.config.fields import Count, Identifier, Positive, Text, Texts, no_repeats
from windrow.config.options import PackageSettings


def _passthroughs(of: str) -> Any:
    return Field(default=(), description=f"Columns to add to {of}: names, or sql and alias.")


class EcommerceSettings(PackageSettings):
    """How the e-commerce package runs."""

    # The SQL package declares these names, and reads the others.
    written_as: ClassVar[dict[str, str]] = {
        "cart_passthroughs": "carts_passthroughs",
        "checkout_passthroughs": "checkouts_passthroughs",
        "product_passthroughs": "products_passthroughs",
    }
    ignored_options: ClassVar[tuple[str, ...]] = (
        *PackageSettings.ignored_options,
        "sde_ecommerce_action",
        "context_ecommerce_user",
        "context_ecommerce_checkout_step",
        "context_ecommerce_page",
        "context_ecommerce_transaction",
        "context_ecommerce_cart",
        "context_ecommerce_product",
        "context_web_page",
        "context_mobile_session",
        "context_screen",
    )

    ecommerce_event_names: Texts = Field(
        default=("snowplow_ecommerce_action",),
        description="Names of the events that the package reads; empty means all.",
    )
    enable_mobile_events: bool = Field(
        default=False, description="Also take in sessions of mobile apps."
    )
    categories_separator: Text = Field(
        default="/", description="What separates the levels of a product's category."
    )
    number_category_levels: Count = Field(
        default=4, description="Levels of a category that become columns."
    )
    number_checkout_steps: Count = Field(
        default=4, description="Number of the checkout step that a transaction is."
    )
    use_product_quantity: bool = Field(
        default=False, description="Count a transaction's pieces, not its kinds of product."
    )
    disable_ecommerce_carts: bool = Field(
        default=False, description="Leave out the cart tables and the cart entity."
    )
    disable_ecommerce_checkouts: bool = Field(
        default=False, description="Leave out the checkout table and the checkout step entity."
    )
    disable_ecommerce_products: bool = Field(
        default=False, description="Leave out the product table and the product entity."
    )
    disable_ecommerce_transactions: bool = Field(
        default=False, description="Leave out the transaction table and the transaction entity."
    )
    disable_ecommerce_user_context: bool = Field(
        default=False, description="Do not read the user entity."
    )
    disable_ecommerce_page_context: bool = Field(
        default=False, description="Do not read the page entity."
    )
    cart_passthroughs: Passthroughs = _passthroughs("cart interactions")
    checkout_passthroughs: Passthroughs = _passthroughs("checkout interactions")
    product_passthroughs: Passthroughs = _passthroughs("product interactions")
    session_passthroughs: Passthroughs = _passthroughs("sessions, from their first event")
    transaction_passthroughs: Passthroughs = _passthroughs("transaction interactions")
    quarantined_sessions: Identifier | None = Field(
        default=None, description="Name of the quarantine table, in place of the usual one."
    )
    keep_sessions_without_actions: bool = Field(
        default=True, description="Keep sessions that have no e-commerce event."
    )
    count_distinct_products_viewed: bool = Field(
        default=False, description="Add the number of different products viewed to sessions."
    )
    enable_funnel: bool | None = Field(
        default=None,
        description="Build the funnel tables, by session and by day; if not said, unless `compat`.",
    )
    enable_carts: bool | None = Field(
        default=None,
        description="Build the table of carts, bought or abandoned; if not said, unless `compat`.",
    )
    cart_abandoned_after_hours: Positive = Field(
        default=24, description="Hours without a touch after which a cart counts as abandoned."
    )

    @model_validator(mode="before")
    @classmethod
    def _one_spelling(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        found = dict(data)
        for usual, other in cls.written_as.items():
            value = found.pop(other, None)
            if value in (None, []):
                continue
            if found.setdefault(usual, value) != value:
                raise ValueError(f"one spelling only: {usual} and {other} are the same option")
        return found

    @field_validator(
        "cart_passthroughs",
        "checkout_passthroughs",
        "product_passthroughs",
        "session_passthroughs",
        "transaction_passthroughs",
    )
    @classmethod
    def _aliases_differ(cls, entries: tuple[Passthrough, ...]) -> tuple[Passthrough, ...]:
        no_repeats("columns", (entry.alias for entry in entries))
        return entries
