"""The options of the e-commerce package."""

from __future__ import annotations

from typing import Any

from pydantic import Field, field_validator, model_validator

from windrow.config.extras import Passthrough, Passthroughs
from windrow.config.fields import Count, Identifier, Positive, Text, Texts
from windrow.config.options import PackageSettings

_OTHER_SPELLINGS = {
    f"{name}s_passthroughs": f"{name}_passthroughs"
    for name in ("cart", "checkout", "product", "session", "transaction")
}
"""Options under the names that the SQL package declares -> those that it reads."""


def _passthroughs(of: str) -> Any:
    return Field(default=(), description=f"Columns to add to {of}: names, or sql and alias.")


def _other_spelling(of: str) -> Any:
    return Field(default=(), description=f"Another spelling of {of}_passthroughs.")


class EcommerceSettings(PackageSettings):
    """How the e-commerce package runs."""

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
    carts_passthroughs: Passthroughs = _other_spelling("cart")
    checkouts_passthroughs: Passthroughs = _other_spelling("checkout")
    products_passthroughs: Passthroughs = _other_spelling("product")
    sessions_passthroughs: Passthroughs = _other_spelling("session")
    transactions_passthroughs: Passthroughs = _other_spelling("transaction")
    quarantined_sessions: Identifier | None = Field(
        default=None, description="Name of the quarantine table, in place of the usual one."
    )
    keep_sessions_without_actions: bool = Field(
        default=True, description="Keep sessions that have no e-commerce event."
    )
    count_distinct_products_viewed: bool = Field(
        default=False, description="Add the number of different products viewed to sessions."
    )
    enable_funnel: bool = Field(
        default=True, description="Build the funnel tables, by session and by day."
    )
    enable_carts: bool = Field(
        default=True, description="Build the table of carts: open, bought, emptied or abandoned."
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
        for other, usual in _OTHER_SPELLINGS.items():
            value = found.pop(other, None)
            if value in (None, []):
                continue
            if found.setdefault(usual, value) != value:
                raise ValueError(f"one spelling only: {usual} and {other} are the same option")
        return found

    @field_validator(*_OTHER_SPELLINGS.values())
    @classmethod
    def _aliases_differ(cls, entries: tuple[Passthrough, ...]) -> tuple[Passthrough, ...]:
        # Spark's column names do not tell upper from lower case.
        names = [entry.alias.lower() for entry in entries]
        repeated = sorted({name for name in names if names.count(name) > 1})
        if repeated:
            raise ValueError(f"columns with different names; repeated: {', '.join(repeated)}")
        return entries
