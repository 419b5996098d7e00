"""The funnel and the carts, from events of whole sessions."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame, SparkSession

from shop import action, base_events, money, product
from website import Event, at, rows
from windrow.packages.ecommerce.carts import COLUMNS as CARTS
from windrow.packages.ecommerce.carts import carts
from windrow.packages.ecommerce.funnel_days import funnel_days
from windrow.packages.ecommerce.funnel_sessions import (
    funnel_sessions,
    funnel_sessions_without_transactions,
)
from windrow.packages.ecommerce.transaction_interactions import (
    COLUMNS as TRANSACTION,
)
from windrow.packages.ecommerce.transaction_interactions import transaction_interactions
from windrow.tables.frames import frame_of

T = "2024-01-02 10:0{}"
EVENTS = [
    action("1", "all", T.format(0), "product_view", products=[product("1", 10)]),
    action("2", "all", T.format(1), "add_to_cart", products=[product("1", 10)], cart=10),
    action("3", "all", T.format(2), "checkout_step", step=1),
    action("4", "all", T.format(3), "transaction", transaction="t1", revenue=12),
    action("5", "left", T.format(0), "add_to_cart", cart=10),
    action("6", "left", T.format(1), "add_to_cart", cart=25),
    action("7", "left", T.format(1), "list_view"),
    action("8", "reload", T.format(9), "transaction", transaction="t1", revenue=12),
    action("9", "anonymous", T.format(0), "transaction"),
    action("0", "promo", T.format(0), "promo_view", app_id=None),
    action("x", "late", T.format(0), "checkout_step", step=2, app_id=None),
]
LIVES = {
    **dict.fromkeys(("session_identifier", "user_identifier"), "string"),
    "start_tstamp": "timestamp",
    "end_tstamp": "timestamp",
}


def lives(spark: SparkSession) -> DataFrame:
    names = sorted({event["domain_sessionid"] for event in EVENTS})
    return frame_of(
        spark, [[name, "u", "2024-01-02 09:00", "2024-01-02 11:00"] for name in names], LIVES
    )


def funnel(spark: SparkSession, **options: Any) -> DataFrame:
    frame, settings = base_events(spark, EVENTS, **options)
    bought = transaction_interactions(frame, frame_of(spark, [], TRANSACTION), settings)
    return funnel_sessions(frame, lives(spark), bought)


def test_sessions_leave_where_they_went_no_further(spark: SparkSession):
    found = funnel(spark).cache()
    steps = ("domain_sessionid", "entry_step", "furthest_step", "drop_off_step", "is_complete")
    assert rows(found.select(*steps, "cart_value", "revenue", "lost_value")) == [
        ("all", "view", "transaction", None, True, money(10), money(12), None),
        ("anonymous", "transaction", "transaction", None, False, None, None, None),
        ("late", "checkout", "checkout", "checkout", False, None, None, None),
        ("left", "cart", "cart", "cart", False, money(25), None, money(25)),
    ]
    names = ("number_views", "number_cart_additions", "number_checkout_steps")
    first = found.where("domain_sessionid = 'all'")
    assert rows(first.select(*names, "number_transactions", "first_transaction_tstamp")) == [
        (1, 1, 1, 1, "2024-01-02 10:03:00")
    ]

    days = funnel_days(found)
    kinds = ("app_id", "sessions", "sessions_with_view", "sessions_with_cart")
    ends = ("sessions_with_transaction", "dropped_at_cart", "dropped_at_checkout")
    assert rows(days.select(*kinds, *ends, "complete_sessions", "revenue", "lost_value")) == [
        ("", 1, 0, 0, 0, 0, 1, 0, None, None),
        ("shop", 3, 2, 2, 2, 1, 0, 1, money(12), money(25)),
    ]


def test_without_the_transaction_entity_every_transaction_event_counts(spark: SparkSession):
    frame, _ = base_events(spark, EVENTS, disable_ecommerce_transactions=True)
    found = funnel_sessions_without_transactions(frame, lives(spark))
    bought = found.where("furthest_step = 'transaction'").select("domain_sessionid", "revenue")
    assert rows(bought) == [("all", None), ("anonymous", None), ("reload", None)]


def test_the_reference_counts_a_repeated_purchase_once_here_too(spark: SparkSession):
    found = funnel(spark, compat=True).where("domain_sessionid = 'all'")
    assert rows(found.select("number_transactions", "revenue")) == [(1, money(12))]


def carted(
    spark: SparkSession, events: list[Event], until: str, known: DataFrame | None = None
) -> DataFrame:
    frame, settings = base_events(spark, events, cart_abandoned_after_hours=24)
    before = frame_of(spark, [], CARTS) if known is None else known

    def of_carts(asked: DataFrame) -> DataFrame:
        return before.join(asked, "cart_key", how="left_semi")

    return carts(frame, settings, at(until), of_carts, before)


MONDAY = [
    action("1", "s1", "2024-01-01 10:00", "add_to_cart", cart=10, cart_id="c1"),
    action("2", "s1", "2024-01-01 10:05", "add_to_cart", cart=30, cart_id="c1"),
    action("3", "s1", "2024-01-01 10:06", "add_to_cart", cart=5, cart_id="c2"),
    action("4", "s2", "2024-01-01 11:00", "add_to_cart", cart=7),
    action("5", "s2", "2024-01-01 11:05", "transaction", transaction="t1"),
    action("6", "s3", "2024-01-01 12:00", "add_to_cart", cart=9),
    action("7", "s3", "2024-01-01 12:05", "remove_from_cart", cart=0),
    action("8", "s4", "2024-01-01 13:00", "transaction", transaction="t2"),
]
TUESDAY = [
    action("9", "s5", "2024-01-02 10:30", "remove_from_cart", cart=20, cart_id="c1"),
    action("a", "s5", "2024-01-02 10:31", "transaction", transaction="t3"),
]
SHOWN = ("cart_key", "status", "cart_value", "highest_value", "abandoned_tstamp", "transaction_id")


def test_a_cart_is_bought_emptied_abandoned_or_open(spark: SparkSession):
    carts_of_monday = carted(spark, MONDAY, "2024-01-02 10:05")
    found = carts_of_monday.select(*SHOWN, "cart_id")
    assert rows(found) == [
        ("c1", "abandoned", money(30), money(30), "2024-01-02 10:05:00", None, "c1"),
        ("c2", "open", money(5), money(5), None, None, "c2"),
        ("s2", "bought", money(7), money(7), None, "t1", None),
        ("s3", "emptied", money(0), money(9), None, None, None),
    ]
    # Monday processed again, by a window that ends on Monday: what became of carts is known.
    assert rows(carted(spark, MONDAY, "2024-01-01 23:00", carts_of_monday)) == rows(carts_of_monday)


def test_a_cart_goes_on_in_the_next_session_and_an_open_one_runs_out(spark: SparkSession):
    monday = carted(spark, MONDAY, "2024-01-02 00:00").localCheckpoint()
    tuesday = carted(spark, TUESDAY, "2024-01-03 00:00", monday).localCheckpoint()
    assert rows(tuesday.select(*SHOWN, "created_tstamp", "last_domain_sessionid")) == [
        *[("c1", "bought", money(20), money(30), None, "t3", "2024-01-01 10:00:00", "s5")],
        (
            *("c2", "abandoned", money(5), money(5), "2024-01-02 10:06:00", None),
            *("2024-01-01 10:06:00", "s1"),
        ),
    ]
    # Read again, the same sessions change nothing; and both days at once give the same carts.
    again = carted(spark, TUESDAY, "2024-01-03 00:00", tuesday)
    assert rows(again) == rows(tuesday.where("cart_key = 'c1'"))
    whole = carted(spark, [*MONDAY, *TUESDAY], "2024-01-03 00:00")
    kept = monday.join(tuesday, "cart_key", how="left_anti")
    assert rows(whole) == rows(kept.unionByName(tuesday))
