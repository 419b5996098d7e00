"""Shopping: what visitors view, put into the cart, check out and buy, as e-commerce events tell it.

What a cart holds follows from the pages that a session has opened so far, each of which decides by
itself whether its product is taken.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from windrow.atomic.entity_columns import (
    ECOMMERCE_ACTION,
    ECOMMERCE_CART,
    ECOMMERCE_CHECKOUT_STEP,
    ECOMMERCE_PAGE,
    ECOMMERCE_PRODUCT,
    ECOMMERCE_TRANSACTION,
    ECOMMERCE_USER,
    EntityColumn,
)
from windrow.demo.draws import between, draw, key, nth, one_of, uuid
from windrow.demo.pages import (
    CHECKOUT,
    HOME,
    LIST,
    OTHER,
    PRODUCT,
    category_of,
    kind_of_page,
    product_of,
)

ACTION = "snowplow_ecommerce_action"
CURRENCY = "EUR"

VIEW_SHARE = 0.6
TAKE_SHARE = 0.3
REMOVE_SHARE = 0.15
LIST_SHARE = 0.5
CLICK_SHARE = 0.4
PROMO_SHARE = 0.2
PURCHASE_SHARE = 0.5
REFUND_SHARE = 0.05
ERROR_SHARE = 0.05

SHIPPING_CENTS = 490

# On which event of its page view an action is told; a shorter page view has fewer of them.
VIEWED, TAKEN, REMOVED = 1, 2, 3
STEPPED, BOUGHT = 1, 2

_PAGES = {HOME: "homepage", LIST: "category", PRODUCT: "product", CHECKOUT: "checkout"}


def is_buying(kind: Column, page_key: Column) -> Column:
    """True for checkout pages that end in a purchase."""
    return (kind == CHECKOUT) & (draw("buys", page_key) < PURCHASE_SHARE)


def pages_in_cart() -> Column:
    """The pages whose products the session's cart holds when a page is opened."""
    session_key, openings = F.col("session_key"), F.col("openings")
    empty = F.array().cast("array<int>")

    def after(pages: Column, number: Column) -> Column:
        page_key = key(session_key, number)
        kind = kind_of_page(page_key, number)
        slots = F.get(openings, number + 1) - F.get(openings, number)
        is_bought = is_buying(kind, page_key) & (slots > BOUGHT) & (F.size(pages) > 0)
        is_kept = _takes(kind, page_key, slots) & ~_removes(page_key, slots)
        with_page = F.when(is_kept, F.concat(pages, F.array(number))).otherwise(pages)
        return F.when(is_bought, empty).otherwise(with_page)

    before = F.filter(
        F.sequence(F.lit(0), F.col("page_number")), lambda number: number < F.col("page_number")
    )
    return F.aggregate(before, empty, after)


def _takes(kind: Column, page_key: Column, slots: Column) -> Column:
    return (kind == PRODUCT) & (slots > TAKEN) & (draw("takes", page_key) < TAKE_SHARE)


def _removes(page_key: Column, slots: Column) -> Column:
    return (slots > REMOVED) & (draw("removes", page_key) < REMOVE_SHARE)


def _price_cents(product: Column) -> Column:
    return (product * 7_919) % 9_000 + 990


def action_type() -> Column:
    """What an event of a page view tells of shopping; null for events that tell nothing of it."""
    kind, page_key = F.col("page_kind"), F.col("page_key")
    slot, slots = F.col("slot"), F.col("slots")
    takes = _takes(kind, page_key, slots)
    buys = is_buying(kind, page_key)

    def share(about: str, limit: float) -> Column:
        return draw(about, page_key) < limit

    is_product, is_list = kind == PRODUCT, kind == LIST
    found = (
        F.when(is_product & (slot == VIEWED) & share("product view", VIEW_SHARE), "product_view")
        .when(takes & (slot == TAKEN), "add_to_cart")
        .when(takes & _removes(page_key, slots) & (slot == REMOVED), "remove_from_cart")
        .when(is_list & (slot == VIEWED) & share("list view", LIST_SHARE), "list_view")
        .when(is_list & (slot == TAKEN) & share("list click", CLICK_SHARE), "list_click")
        .when((kind == HOME) & (slot == VIEWED) & share("promotion", PROMO_SHARE), "promo_view")
        .when((kind == CHECKOUT) & (slot == STEPPED) & ~buys, "checkout_step")
        .when(buys & (slot == BOUGHT) & (F.size("cart_pages") > 0), "transaction")
        .when((kind == CHECKOUT) & (slot == BOUGHT) & share("error", ERROR_SHARE), "trns_error")
        .when((kind == OTHER) & (slot == VIEWED) & share("refund", REFUND_SHARE), "refund")
    )
    return F.when(~F.col("is_endless"), found)


def shopping_columns() -> dict[str, Column]:
    """The action of each e-commerce event, and the entities that come with it."""
    type_, is_action = F.col("action_type"), F.col("event_name") == ACTION
    with_products = ("product_view", "list_view", "list_click", "add_to_cart", "remove_from_cart")
    has_cart = type_.isin("add_to_cart", "remove_from_cart")
    is_bought = type_ == "transaction"

    def told(entity: EntityColumn, condition: Column, **fields: Column) -> Column:
        return F.when(is_action & condition, F.array(_struct(entity, fields)))

    return {
        ECOMMERCE_ACTION.name: F.when(
            is_action, F.struct(type_.alias("type"), _list_name().alias("name"))
        ),
        ECOMMERCE_PAGE.name: told(
            ECOMMERCE_PAGE,
            F.lit(True),
            type=nth([_PAGES.get(kind, "other") for kind in range(5)], F.col("page_kind")),
            language=F.lit("en"),
        ),
        ECOMMERCE_USER.name: told(
            ECOMMERCE_USER,
            is_bought | F.col("account").isNotNull(),
            id=F.col("account"),
            email=F.concat("account", F.lit("@mail.example")),
            is_guest=F.col("account").isNull(),
        ),
        ECOMMERCE_PRODUCT.name: F.when(
            is_action & type_.isin(*with_products, "transaction"), _products()
        ),
        ECOMMERCE_CART.name: told(
            ECOMMERCE_CART,
            has_cart,
            cart_id=uuid("cart", F.col("session_key")),
            currency=F.lit(CURRENCY),
            total_value=_cart_cents() / 100,
        ),
        ECOMMERCE_CHECKOUT_STEP.name: told(
            ECOMMERCE_CHECKOUT_STEP,
            type_ == "checkout_step",
            step=F.when(F.col("page_urlpath").endswith("payment"), 3)
            .when(F.col("page_urlpath").endswith("delivery"), 2)
            .otherwise(1),
            account_type=F.when(F.col("account").isNull(), "guest").otherwise("existing"),
            delivery_method=one_of(("post", "pick-up"), "delivery", F.col("session_key")),
            marketing_opt_in=draw("opt in", F.col("session_key")) < 0.2,
        ),
        ECOMMERCE_TRANSACTION.name: told(
            ECOMMERCE_TRANSACTION,
            is_bought,
            transaction_id=F.hex(key("transaction", F.col("page_key"))),
            currency=F.lit(CURRENCY),
            payment_method=one_of(("card", "invoice", "wallet"), "pays", F.col("session_key")),
            revenue=(_cents_in_cart() + SHIPPING_CENTS) / 100,
            total_quantity=F.size("cart_pages"),
            shipping=F.lit(SHIPPING_CENTS / 100),
        ),
    }


def _struct(entity: EntityColumn, fields: dict[str, Column]) -> Column:
    return F.struct(
        *(
            fields.get(name, F.lit(None)).cast(kind).alias(name)
            for name, kind in entity.fields.items()
        )
    )


def _list_name() -> Column:
    is_list = F.col("action_type").isin("list_view", "list_click")
    return F.when(is_list, category_of(F.col("page_key")))


def _cart_cents() -> Column:
    """What the cart holds after the event: with the page's product once it is taken."""
    is_added = F.col("action_type") == "add_to_cart"
    price = _price_cents(product_of(F.col("page_key")))
    return _cents_in_cart() + F.when(is_added, price).otherwise(0)


def _cart_products() -> Column:
    """The numbers of the products in the cart when the page is opened."""
    return F.transform("cart_pages", lambda number: product_of(key(F.col("session_key"), number)))


def _cents_in_cart() -> Column:
    return F.aggregate(
        _cart_products(),
        F.lit(0).cast("bigint"),
        lambda cents, product: cents + _price_cents(product),
    )


def _products() -> Column:
    """The products that an event is about: the page's own, the list's, or what was bought."""
    page_key, type_ = F.col("page_key"), F.col("action_type")
    own = _product(product_of(page_key), F.lit(None))
    listed = F.transform(
        F.sequence(F.lit(1), between(2, 4, "listed", page_key)),
        lambda position: _product(product_of(key(page_key, position)), position),
    )
    bought = F.transform(_cart_products(), lambda number: _product(number, F.lit(None)))
    return (
        F.when(type_.isin("list_view", "list_click"), listed)
        .when(type_ == "transaction", bought)
        .otherwise(F.array(own))
    )


def _product(number: Column, position: Column) -> Column:
    fields = {
        "id": number.cast("string"),
        "category": F.concat(F.lit("clothes/"), one_of(("wool", "cotton"), "cloth", number)),
        "currency": F.lit(CURRENCY),
        "price": _price_cents(number) / 100,
        "brand": F.lit("The Shop"),
        "position": position,
        "quantity": F.lit(1),
    }
    return _struct(ECOMMERCE_PRODUCT, fields)
