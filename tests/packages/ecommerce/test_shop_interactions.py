"""The interaction tables: products, carts, checkouts, transactions."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from shop import action, base_events, base_of, money, product
from website import Event, rows
from windrow.errors import ConfigError
from windrow.packages.ecommerce import ECOMMERCE
from windrow.packages.ecommerce.cart_interactions import cart_interactions
from windrow.packages.ecommerce.checkout_interactions import checkout_interactions
from windrow.packages.ecommerce.product_interactions import columns as product_columns
from windrow.packages.ecommerce.product_interactions import product_interactions
from windrow.packages.ecommerce.settings import EcommerceSettings
from windrow.packages.ecommerce.transaction_interactions import (
    COLUMNS as TRANSACTION,
)
from windrow.packages.ecommerce.transaction_interactions import transaction_interactions
from windrow.tables.frames import frame_of

T = "2024-01-02 10:0{}"
VECTOR = ("a7542913-dbfc-4ed1-a538-cc216ff6ba2d", "53f870cb0bb308bf6f5ba411a3952abb")


@pytest.mark.parametrize("compat", [False, True])
def test_one_row_per_product_whatever_the_action(spark: SparkSession, compat: bool):
    hat = product("1238", 12.5, category="a.b..d", quantity=2, list_price=15, position=3)
    events = [
        action(
            VECTOR[0], "s1", T.format(0), "list_view", name="look", products=[product("1"), hat]
        ),
        action("clicked", "s1", T.format(1), "list_click", name="look", products=[product(None)]),
        action("unknown", "s1", T.format(2), None, products=[product("1")], transaction="t1"),
        action("empty", "s1", T.format(3), "product_view", products=[]),
        action("none", "s1", T.format(4), "product_view"),
    ]
    frame, settings = base_events(
        spark,
        events,
        categories_separator=".",
        number_category_levels=4,
        product_passthroughs=["page_url", {"sql": "upper(t.app_id)", "alias": "app"}],
        compat=compat,
    )
    found = product_interactions(frame, settings)
    assert found.columns == list(product_columns(settings))
    assert dict(found.dtypes)["product_list_price"] == "decimal(9,2)"
    assert len(product_columns(EcommerceSettings())) == 40
    second = found.where("product_id = '1238'").collect()
    levels = [second[0][f"product_subcategory_{n}"] for n in range(1, 5)]
    assert (second[0]["product_event_id"], levels) == (VECTOR[1], ["a", "b", None, "d"])
    assert (second[0]["product_list_price"], second[0]["app"]) == (money(15), "SHOP")
    flags = ("is_product_view", "is_add_to_cart", "is_product_transaction", "product_list_name")
    assert rows(found.select("event_id", "product_id", *flags, "transaction_id")) == [
        (VECTOR[0], "1", True, False, False, "look", None),
        (VECTOR[0], "1238", True, False, False, "look", None),
        ("clicked", None, False, False, False, None, None),
        ("unknown", "1", None, None, None, None, "t1"),
    ]
    assert "product_subcategory_1" not in product_columns(
        EcommerceSettings(number_category_levels=0)
    )


CART_EVENTS = [
    action("one", "s1", T.format(0), "add_to_cart", products=[product("1", 10)], cart=10),
    action(
        "two", "s1", T.format(1), "add_to_cart", products=[product("1", 10, quantity=2)], cart=20
    ),
    action("more", "s1", T.format(2), "add_to_cart", products=[product("1", 10)], cart=40),
    action("free", "s1", T.format(3), "add_to_cart", products=[product("1")], cart=0),
    action("out", "s1", T.format(4), "remove_from_cart", products=[product("1", 10)], cart=0),
    action("buy", "s1", T.format(5), "transaction"),
    action("look", "s1", T.format(6), "product_view", cart=10),
]


@pytest.mark.parametrize(
    ("options", "created"),
    [
        ({}, {"one": True, "two": True, "more": False}),
        ({"compat": True}, {"one": True, "two": False, "more": False}),
        ({"disable_ecommerce_products": True}, {}),
        ({"disable_ecommerce_carts": True}, {}),
    ],
)
def test_a_cart_is_created_by_what_fills_it(
    spark: SparkSession, options: dict[str, Any], created: dict[str, bool]
):
    frame, settings = base_events(spark, CART_EVENTS, **options)
    found = cart_interactions(frame, settings).select(
        "event_id", "cart_created", "cart_emptied", "cart_transacted"
    )
    has_carts = not options.get("disable_ecommerce_carts")
    emptied = dict.fromkeys(("one", "two", "more"), False) | {"free": True, "out": True}
    assert rows(found) == sorted(
        (id, created.get(id), emptied.get(id) if has_carts else None, id == "buy")
        for id in ("one", "two", "more", "free", "out", "buy")
    )


def test_a_transaction_is_the_last_step_of_a_checkout(spark: SparkSession):
    events = [
        action("a", "s1", T.format(0), "checkout_step", step=1),
        action("b", "s1", T.format(1), "transaction", step=2),
        action("c", "s2", T.format(0), "product_view"),
        action("d", "s2", T.format(1), "checkout_step", step=3),
    ]
    names = ("event_id", "checkout_step_number", "checkout_delivery_method")
    flags = ("session_entered_at_step", "checkout_succeeded")
    frame, settings = base_events(spark, events, number_checkout_steps=5)
    assert rows(checkout_interactions(frame, settings).select(*names, *flags)) == [
        ("a", 1, "post", True, False),
        ("b", 5, "post", False, True),
        ("d", 3, "post", False, False),
    ]
    frame, settings = base_events(spark, events, disable_ecommerce_checkouts=True)
    assert rows(checkout_interactions(frame, settings).select(*names)) == [
        ("a", None, None),
        ("b", 4, None),
        ("d", None, None),
    ]


SHOES = [product("1", 10, quantity=2), product("2", 20)]
BOUGHT = [
    action("first", "s1", T.format(1), "transaction", transaction="t1", revenue=40, products=SHOES),
    action("again", "s1", T.format(2), "transaction", transaction="t1", revenue=40, products=SHOES),
    action("beside", "s1", T.format(0), "product_view", transaction="t1"),
    action("no_id", "s1", T.format(3), "transaction", revenue=5),
    action("bare", "s2", T.format(4), "transaction", transaction="t2", revenue=7),
    action("stray", "s3", T.format(5), "refund", transaction="t3"),
]


def bought(spark: SparkSession, events: list[Event], **options: Any) -> list[tuple[Any, ...]]:
    frame, settings = base_events(spark, events, **options)
    nobody = frame_of(spark, [], TRANSACTION)
    return rows(
        transaction_interactions(frame, nobody, settings).select(
            "transaction_id", "event_id", "number_products", "transaction_revenue"
        )
    )


@pytest.mark.parametrize(
    ("options", "products"),
    [
        ({}, (2, 0)),
        ({"use_product_quantity": True}, (2, 0)),
        ({"disable_ecommerce_products": True}, (1, 1)),
    ],
)
def test_a_repeated_transaction_id_is_one_row(
    spark: SparkSession, options: dict[str, Any], products: tuple[int, int]
):
    assert bought(spark, BOUGHT, **options) == [
        ("t1", "first", products[0], money(40)),
        ("t2", "bare", products[1], money(7)),
    ]


@pytest.mark.parametrize(
    ("options", "products"),
    [
        ({}, (8, 1)),
        ({"use_product_quantity": True}, (8, None)),
        ({"disable_ecommerce_products": True, "use_product_quantity": True}, (2, 1)),
    ],
)
def test_the_reference_repeats_it(
    spark: SparkSession, options: dict[str, Any], products: tuple[int, int | None]
):
    assert bought(spark, BOUGHT, compat=True, **options) == [
        ("t1", "again", products[0], money(40)),
        ("t1", "beside", products[0], None),
        ("t1", "first", products[0], money(40)),
        ("t2", "bare", products[1], money(7)),
    ]


def test_a_transaction_belongs_to_the_session_that_told_of_it_first(spark: SparkSession):
    reloaded = action("later", "s0", T.format(9), "transaction", transaction="t1", revenue=40)
    assert ("t1", "first", 2, money(40)) in bought(spark, [reloaded, *BOUGHT])
    frame, settings = base_events(spark, BOUGHT)
    known = frame_of(
        spark, [[{"transaction_id": "t1"}.get(name) for name in TRANSACTION]], TRANSACTION
    )
    new = transaction_interactions(frame, known, settings)
    assert rows(new.select("transaction_id")) == [("t2",)]


def test_disabled_modules_have_no_table_unless_compat():
    def tables(**options: Any) -> set[str]:
        settings = EcommerceSettings(enable_funnel=False, enable_carts=False, **options)
        return {member.name for member in ECOMMERCE.enabled_models(settings)}

    every = tables()
    assert len(every) == 5
    for module in ("cart", "checkout", "product", "transaction"):
        switch = f"disable_ecommerce_{module}s"
        assert every - tables(**{switch: True}) == {f"{module}_interactions"}
        kept = tables(**{switch: True}, compat=True)
        assert (f"{module}_interactions" in kept) == (module != "product")
    tracked = [
        name
        for member in ECOMMERCE.enabled_models(
            EcommerceSettings(enable_funnel=False, enable_carts=False)
        )
        for name in member.tracked_names
    ]
    assert len(tracked) == 10


def test_a_passthrough_must_not_take_a_name_of_ours():
    settings = EcommerceSettings(product_passthroughs=["product_id"])
    with pytest.raises(ConfigError, match="product_passthroughs: the table has a column"):
        ECOMMERCE.enabled_models(settings)


@pytest.mark.parametrize("compat", [False, True])
def test_passthroughs_are_evaluated_on_the_event(spark: SparkSession, compat: bool):
    chosen: list[Any] = ["cart_id", {"sql": "length(e.page_url)", "alias": "long"}]
    frame, settings = base_events(
        spark,
        BOUGHT,
        cart_passthroughs=chosen[1:],
        checkout_passthroughs=["page_url"],
        transaction_passthroughs=chosen,
        compat=compat,
    )
    assert dict(cart_interactions(frame, settings).dtypes)["long"] == "int"
    assert checkout_interactions(frame, settings).columns[-1] == "page_url"
    known: DataFrame = frame_of(spark, [], TRANSACTION)
    assert transaction_interactions(frame, known, settings).columns[-2:] == ["cart_id", "long"]


@pytest.mark.parametrize("compat", [False, True])
def test_transactions_without_an_id_are_counted(spark: SparkSession, compat: bool):
    frame, settings = base_events(spark, BOUGHT, compat=compat)
    counts = base_of(settings).counts()
    found = frame.agg(*(F.count_if(is_so).alias(name) for name, is_so in counts.items()))
    assert [row.asDict() for row in found.collect()] == [{"transactions_without_id": 1}]


def test_tables_that_the_reference_does_not_have_are_made_in_compat_only_if_asked_for():
    def tables(**options: Any) -> set[str]:
        return {it.name for it in ECOMMERCE.enabled_models(EcommerceSettings(**options))}

    ours = {"funnel_sessions", "funnel_days", "carts"}
    assert ours <= tables()
    assert not ours & tables(compat=True)
    assert ours <= tables(compat=True, enable_funnel=True, enable_carts=True)
    in_compat = ECOMMERCE.enabled_models(EcommerceSettings(compat=True))
    assert sum(len(member.tracked_names) for member in in_compat) == 10
    for name, option in (("carts", "carts"), ("snowplow_ecommerce_funnel_days", "funnel")):
        needed = ECOMMERCE.option_for(name, EcommerceSettings(compat=True))
        assert needed == f"packages.ecommerce.enable_{option}: true"
