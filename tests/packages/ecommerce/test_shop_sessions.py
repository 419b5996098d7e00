"""sessions: what a session's events add up to."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from shop import action, base_events, entity, money, product
from website import Event, rows
from windrow.atomic.entity_columns import ECOMMERCE_TRANSACTION
from windrow.packages.ecommerce.sessions import (
    columns,
    sessions,
    sessions_without_transactions,
)
from windrow.packages.ecommerce.settings import EcommerceSettings
from windrow.packages.ecommerce.transaction_interactions import (
    COLUMNS as TRANSACTION,
)
from windrow.packages.ecommerce.transaction_interactions import transaction_interactions
from windrow.tables.frames import frame_of

T = "2024-01-02 10:0{}"
HAT, COAT = product("hat", 10), product("coat", 90)
EVENTS = [
    action("1", "s1", T.format(0), "list_view", products=[HAT, COAT], app_id="first"),
    action("2", "s1", T.format(1), "product_view", products=[HAT]),
    action("3", "s1", T.format(2), "add_to_cart", products=[HAT], cart=10, cart_id="c1"),
    action("4", "s1", T.format(3), "checkout_step", step=1),
    action("5", "s1", T.format(4), "checkout_step", step=2),
    action("6", "s1", T.format(5), "transaction", products=[HAT], transaction="t1", revenue=12),
    action("7", "s1", T.format(6), "transaction", products=[HAT], transaction="t1", revenue=12),
    action("8", "s2", T.format(0), "checkout_step", step=2),
    action("9", "s3", T.format(0), "promo_view"),
]
LIVES = {
    **dict.fromkeys(("session_identifier", "user_identifier"), "string"),
    "start_tstamp": "timestamp",
    "end_tstamp": "timestamp",
}


def lives(spark: SparkSession) -> DataFrame:
    found = [[f"s{n}", "user", "2024-01-02 09:00", "2024-01-02 11:00"] for n in range(1, 5)]
    return frame_of(spark, found, LIVES)


def summed(spark: SparkSession, **options: Any) -> DataFrame:
    frame, settings = base_events(spark, EVENTS, **options)
    if settings.disable_ecommerce_transactions:
        return sessions_without_transactions(frame, lives(spark), settings)
    bought = transaction_interactions(frame, frame_of(spark, [], TRANSACTION), settings)
    return sessions(frame, lives(spark), bought, settings)


TOTALS = (
    "total_number_transactions",
    "total_transaction_revenue",
    "total_transaction_quantity",
    "total_transacted_products",
)


@pytest.mark.parametrize("compat", [False, True])
def test_a_session_adds_up(spark: SparkSession, compat: bool):
    own = ["page_url", {"sql": "e.event_id", "alias": "first_event"}]
    found = summed(spark, session_passthroughs=own, compat=compat)
    assert len(columns(EcommerceSettings())) == 41
    assert found.columns[4:7] == ["app_id", "page_url", "first_event"]
    counts = (
        *("domain_sessionid", "domain_userid", "app_id", "first_event", "number_unique_cart_ids"),
        *("number_carts_created", "number_carts_transacted", "session_cart_abandoned"),
        *("session_entered_at_checkout", "number_unique_checkout_steps_attempted"),
        *("number_checkout_steps_visited", "checkout_succeeded", "number_product_views"),
    )
    assert rows(found.select(*counts)) == [
        ("s1", "user", "first", "1", 1, 1, 2, False, False, 3, 4, True, 2),
        ("s2", "user", "shop", "8", None, None, None, None, True, 1, 1, False, None),
        ("s3", "user", "shop", "9", *[None] * 9),
        ("s4", "user", None, None, *[None] * 9),
    ]
    first = found.where("domain_sessionid = 's1'").cache()
    times = ("first_cart_created", "last_cart_transacted", "first_checkout_attempted")
    assert rows(first.select(*times, "last_product_view", "first_transaction_completed")) == [
        (
            "2024-01-02 10:02:00",
            "2024-01-02 10:06:00",
            "2024-01-02 10:03:00",
            "2024-01-02 10:01:00",
            "2024-01-02 10:05:00",
        )
    ]
    # The purchase was told twice and counts once; in the reference it counts again.
    totals = (1, money(24), 2, 8) if compat else (1, money(12), 1, 1)
    assert rows(first.select(*TOTALS)) == [totals]


@pytest.mark.parametrize("compat", [False, True])
def test_carts_and_currencies_are_those_of_the_session_whatever_they_are(
    spark: SparkSession, compat: bool
):
    def bought(event_id: str, when: str, currency: str, revenue: float) -> Event:
        paid = {"transaction_id": event_id, "currency": currency, "revenue": revenue}
        entities = {ECOMMERCE_TRANSACTION.name: [entity(ECOMMERCE_TRANSACTION, **paid)]}
        return action(event_id, "s2", when, "transaction", **entities)

    events = [
        # What s1 puts into a cart, s2 buys; then it pays in another currency for something else.
        action("1", "s1", T.format(0), "add_to_cart", products=[HAT], cart=10, cart_id="c1"),
        bought("2", T.format(1), "EUR", 10),
        bought("3", T.format(2), "JPY", 3000),
    ]
    frame, settings = base_events(spark, events, compat=compat)
    transactions = transaction_interactions(frame, frame_of(spark, [], TRANSACTION), settings)
    found = sessions(frame, lives(spark), transactions, settings)
    names = ("domain_sessionid", "session_cart_abandoned", "total_transaction_revenue")
    assert rows(found.select(*names).where("domain_sessionid < 's3'")) == [
        ("s1", True, None),
        ("s2", False, money(3010)),
    ]


@pytest.mark.parametrize("compat", [False, True])
def test_sessions_without_events_can_be_left_out(spark: SparkSession, compat: bool):
    asked = {"keep_sessions_without_actions": False, "count_distinct_products_viewed": True}
    found = summed(spark, compat=compat, **asked)
    names = ("domain_sessionid", "number_distinct_products_viewed")
    assert rows(found.select(*names)) == [("s1", 2), ("s2", None), ("s3", None)]


def test_switches_leave_their_columns_null(spark: SparkSession):
    modules = ("carts", "checkouts", "products", "transactions")
    found = summed(spark, **{f"disable_ecommerce_{module}": True for module in modules})
    assert dict(found.dtypes) == columns(EcommerceSettings())
    nulls = [name for name in found.columns[5:-1]]
    assert found.dropna(how="all", subset=nulls).isEmpty()


def test_without_products_no_cart_is_seen_to_be_created(spark: SparkSession):
    found = summed(spark, disable_ecommerce_products=True).where("domain_sessionid = 's1'")
    names = ("number_carts_created", "session_cart_abandoned", "number_product_views")
    assert rows(found.select(*names)) == [(0, False, None)]
