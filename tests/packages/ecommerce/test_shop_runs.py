"""Runs of the e-commerce package: what they read, how the manifest moves, any split the same."""

from __future__ import annotations

import random
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from random_runs import any_cuts, days_become_old, few_examples, run_in_pieces
from shop import Shop, action, product
from website import Event, Site, at, event, rows
from windrow import SourceError
from windrow.atomic.entity_columns import ECOMMERCE_CART, ECOMMERCE_USER

TABLES = (
    *("product_interactions", "cart_interactions", "checkout_interactions"),
    *("transaction_interactions", "sessions", "funnel_sessions", "funnel_days", "carts"),
    *("lifecycle", "quarantine"),
)
END = "2024-01-07 00:00"


def contents(site: Site) -> dict[str, list[tuple[Any, ...]]]:
    """Every table: what any split into runs must agree on."""
    found = {name: rows(site.table(name)) for name in TABLES}
    assert found["product_interactions"]
    return found


HAT = [product("hat", 10, category="clothes/hats")]
WEEK = [
    action("1", "s1", "2024-01-01 23:50", "product_view", products=HAT, page="p"),
    action("2", "s1", "2024-01-01 23:55", "add_to_cart", products=HAT, cart=10, cart_id="c1"),
    action("2", "s1", "2024-01-01 23:58", "add_to_cart", products=HAT, cart=10, cart_id="c1"),
    action("3", "s1", "2024-01-02 00:10", "checkout_step", step=1),
    action(
        "4", "s1", "2024-01-02 00:12", "transaction", transaction="t1", revenue=12, products=HAT
    ),
    action(
        "5", "s1", "2024-01-02 00:13", "transaction", transaction="t1", revenue=12, products=HAT
    ),
    action("6", "s2", "2024-01-02 09:00", "add_to_cart", products=HAT, cart=10, cart_id="c2"),
    action("late", "s2", "2024-01-02 09:10", "add_to_cart", cart=99, delay=timedelta(days=4)),
    event("7", "s3", "2024-01-03 12:00", cookie="c3"),
    event("8", "s3", "2024-01-03 12:01", cookie="c4"),
    # The page of thanks, loaded again two days later.
    action("9", "s4", "2024-01-04 08:00", "transaction", transaction="t1", revenue=12),
    event("a", "s5", "2024-01-04 10:00", cookie="before"),
    event("d", "s8", "2024-01-04 11:00", cookie="looked"),
    action("e", "s8", "2024-01-04 11:01", "product_view", products=HAT, cookie="bought"),
    action("b", "s5", "2024-01-04 10:01", "product_view", products=HAT, cookie=None),
    action("c", "s6", "2024-01-05 10:00", "transaction", revenue=3),
    *(
        action(f"x{d}", "s7", f"2024-01-0{d} 15:00", "list_view", products=HAT)
        for d in (1, 3, 5, 6)
    ),
]


OWN_COLUMNS: dict[str, Any] = {
    "cart_passthroughs": [{"sql": "length(e.page_url)", "alias": "long"}],
    "passthrough": {
        "cart_interactions": [{"sql": "e.dvce_created_tstamp", "alias": "tracker_time"}],
        "sessions": [{"sql": "page_url", "alias": "first_page"}],
    },
    "aggregations": {"sessions": [{"type": "count", "alias": "number_events"}]},
}


@pytest.fixture(scope="module")
def split(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Shop:
    """A week in two runs."""
    shop = Shop(spark, tmp_path_factory.mktemp("split"), **OWN_COLUMNS)
    shop.arrive(*WEEK)
    for now in ("2024-01-03 00:00", END):
        shop.run(now)
    return shop


@pytest.mark.ci
@pytest.mark.parametrize("compat", [False, True])
def test_an_event_from_before_the_recorded_start_of_its_session_counts_unless_compat(
    spark: SparkSession, tmp_path: Path, compat: bool
):
    shop = Shop(spark, tmp_path, compat=compat)
    shop.arrive(
        action("1", "long", "2024-01-01 08:00", "list_view", products=HAT),
        action("2", "s1", "2024-01-02 10:00", "checkout_step", step=2),
        action("6", "bad", "2024-01-02 03:00", "checkout_step", step=7),
    )
    shop.run("2024-01-03 00:00")
    shop.project().add_to_quarantine("ecommerce", ["bad"])
    shop.arrive(
        action("7", "bad", "2024-01-03 09:00", "checkout_step", step=8),
        action("3", "long", "2024-01-03 09:00", "list_view", products=HAT),
        action("4", "s1", "2024-01-03 09:30", "checkout_step", step=3),
        # Loaded long after it was collected, so that no window has it.
        action("5", "s1", "2024-01-01 12:00", "checkout_step", step=1),
    )
    shop.run("2024-01-04 00:00")
    steps = [row[0] for row in shop.rows("checkout_interactions", "checkout_step_number")]
    # Of the session in quarantine there is what there was, in both.
    assert sorted(steps) == ([2, 3, 7] if compat else [1, 2, 3, 7])


@pytest.mark.ci
def test_carts_that_are_asked_for_in_compat_can_be_run_alone(spark: SparkSession, tmp_path: Path):
    shop = Shop(spark, tmp_path, compat=True, enable_carts=True)
    shop.arrive(*WEEK)
    shop.run("2024-01-03 12:00", select="carts")
    assert shop.rows("carts", "cart_key", "status") == [("c1", "bought"), ("c2", "abandoned")]
    assert shop.rows("manifest", "model") == [("snowplow_ecommerce_carts",)]


@pytest.mark.ci
def test_a_past_window_processed_again_changes_nothing(split: Shop):
    before = contents(split)
    project = split.project()
    # c2 was abandoned after the window's end.
    window = {"first": at("2024-01-02"), "last": at("2024-01-02 12:00")}
    plan = project.plan_rerun("ecommerce", now=at(END), **window)
    results = project.rerun("ecommerce", plan)
    assert [result.has_failed for result in results] == [False]
    assert contents(split) == before


@pytest.mark.ci
def test_two_runs_equal_one_run(split: Shop, spark: SparkSession, tmp_path: Path):
    whole = Shop(spark, tmp_path, **OWN_COLUMNS)
    whole.arrive(*WEEK)
    result = whole.run(END)
    expected = contents(whole)
    assert contents(split) == expected
    assert all(expected.values())
    assert result.counts is not None
    assert result.counts["transactions_without_id"] == 1
    assert result.counts["duplicates"] == 1
    assert result.counts["window_too_late"] == 1


@pytest.mark.ci
def test_a_repeated_transaction_is_sold_once(split: Shop):
    assert split.rows("transaction_interactions", "transaction_id", "event_id") == [("t1", "4")]
    sold = split.table("sessions").selectExpr(
        "sum(total_number_transactions)", "sum(total_transaction_revenue)"
    )
    assert [str(value) for value in sold.first() or ()] == ["1", "12.00"]


@pytest.mark.ci
def test_sessions_of_other_events_have_a_row_and_a_user(split: Shop):
    found = split.rows("sessions", "domain_sessionid", "domain_userid", "app_id", "start_tstamp")
    assert ("s3", "c3", None, "2024-01-03 12:00:00") in found
    # Its e-commerce event names no user; the page view before it does.
    assert ("s5", "before", "shop", "2024-01-04 10:00:00") in found
    assert ("b", "before") in split.rows("product_interactions", "event_id", "domain_userid")


@pytest.mark.ci
def test_sessions_known_again_from_the_events_are_whose_they_were(split: Shop):
    lives = rows(split.table("lifecycle"))
    # The user of the first e-commerce event, not of the page view before it.
    whose = split.rows("lifecycle", "session_identifier", "user_identifier")
    assert ("s8", "bought") in whose
    split.project().refresh_manifests("ecommerce", ["base_sessions_lifecycle_manifest"])
    assert rows(split.table("lifecycle")) == lives


@pytest.mark.ci
def test_tables_take_columns_by_the_options_of_every_package(split: Shop):
    found = split.rows("sessions", "domain_sessionid", "first_page", "number_events")
    assert [row for row in found if row[0] in ("s1", "s3")] == [
        ("s1", "https://shop.example/home", 5),
        ("s3", None, None),
    ]
    added = split.rows("cart_interactions", "event_id", "long", "tracker_time")
    assert added[:2] == [("2", 25, "2024-01-01 23:55:00"), ("4", 25, "2024-01-02 00:12:00")]


@pytest.mark.ci
def test_an_endless_session_is_quarantined_under_its_identifier(split: Shop):
    assert split.rows("quarantine", "session_identifier") == [("s7",)]
    found = split.rows("product_interactions", "domain_sessionid", "event_id")
    assert [row[1] for row in found if row[0] == "s7"] == ["x1", "x3"]


@pytest.mark.ci
def test_carts_run_out_while_nothing_happens_to_them(split: Shop):
    assert split.rows("carts", "cart_key", "status") == [("c1", "bought"), ("c2", "abandoned")]


@pytest.mark.ci
def test_a_window_without_e_commerce_events_moves_the_manifest(spark: SparkSession, tmp_path: Path):
    shop = Shop(spark, tmp_path, enable_funnel=False, enable_carts=False)
    shop.arrive(event("1", "s1", "2024-01-02 10:00"))
    told = []
    result = shop.run("2024-01-03 00:00", listener=told.append)
    assert {row[1] for row in shop.rows("manifest", "model", "last_success")} == {
        "2024-01-02 10:00:00"
    }
    assert len(shop.rows("manifest", "model")) == 10
    assert result.counts is not None
    assert result.counts["events"] == 0
    assert any("hold no event" in step.detail for step in told)
    # The reference stays where it is.
    stuck = Shop(spark, tmp_path / "stuck", compat=True)
    stuck.arrive(event("1", "s1", "2024-01-02 10:00"))
    stuck.run("2024-01-03 00:00")
    assert stuck.rows("manifest", "model") == []


@pytest.mark.ci
def test_a_session_that_moves_over_midnight_leaves_no_day_behind(
    spark: SparkSession, tmp_path: Path
):
    shop = Shop(spark, tmp_path)
    shop.arrive(
        action("2", "s1", "2024-01-03 00:10", "product_view"),
        action("3", "s2", "2024-01-02 12:00", "add_to_cart", cart=5),
    )
    shop.run("2024-01-03 01:00", select="+funnel_days")
    names = ("start_tstamp_date", "sessions", "lost_value")
    before = [(str(day), *rest) for day, *rest in shop.rows("funnel_days", *names)]
    assert before == [("2024-01-02", 1, Decimal("5.00")), ("2024-01-03", 1, None)]

    shop.arrive(action("1", "s1", "2024-01-02 23:50", "add_to_cart", cart=7))
    shop.run("2024-01-03 02:00", select="+funnel_days")
    after = [(str(day), *rest) for day, *rest in shop.rows("funnel_days", *names)]
    assert after == [("2024-01-02", 2, Decimal("12.00"))]


def test_a_missing_entity_is_asked_for_unless_it_is_switched_off(
    spark: SparkSession, tmp_path: Path
):
    shop = Shop(spark, tmp_path)
    shop.arrive(action("1", "s1", "2024-01-02 10:00", "product_view"))
    frame = spark.read.parquet(str(tmp_path / "events"))
    frame.drop(ECOMMERCE_CART.name, ECOMMERCE_USER.name).write.parquet(str(tmp_path / "narrow"))
    narrow = {"events": {"path": str(tmp_path / "narrow")}}
    with pytest.raises(SourceError) as error:
        shop.project({"ecommerce": narrow}).plan("ecommerce")
    assert f"'{ECOMMERCE_CART.name}' is missing (disable_ecommerce_carts: false" in str(error.value)
    off = {"disable_ecommerce_carts": True, "disable_ecommerce_user_context": True}
    assert shop.project({"ecommerce": narrow | off}).plan("ecommerce").models


def traffic(seed: int) -> list[Event]:
    """A week of a small shop with every kind of trouble: the same seed gives the same events."""
    draw = random.Random(seed)
    events: list[Event] = []
    kinds = ("product_view", "list_view", "add_to_cart", "remove_from_cart", "checkout_step")
    for visit in range(14):
        start = at("2024-01-01") + timedelta(hours=draw.uniform(0, 24 * 5))
        length = draw.choice([0.1, 0.5, 3, 30, 80])
        for number in range(draw.randrange(1, 9)):
            moment = start + timedelta(hours=draw.uniform(0, length))
            when = f"{moment:%Y-%m-%d %H:%M:%S.%f}"[:-3]
            own = {"cookie": f"c{visit}" if draw.random() < 0.9 else None}
            if draw.random() < 0.3:
                events.append(event(f"e{visit:02d}{number}", f"s{visit:02d}", when, **own))
                continue
            kind = draw.choice([*kinds, "transaction", "refund", None])
            cart_id = f"cart{draw.randrange(4)}" if draw.random() < 0.5 else None
            events.append(
                action(
                    f"e{visit:02d}{number}",
                    f"s{visit:02d}",
                    when,
                    kind,
                    products=[product(f"p{draw.randrange(5)}", draw.randrange(50))],
                    cart=draw.choice([0, 10, 20]) if kind != "transaction" else None,
                    cart_id=cart_id,
                    step=draw.randrange(1, 4) if kind == "checkout_step" else None,
                    transaction=f"t{draw.randrange(6)}" if kind == "transaction" else None,
                    revenue=draw.randrange(100),
                    delay=timedelta(
                        days=4 if draw.random() < 0.05 else 0, seconds=draw.randrange(60)
                    ),
                    **own,
                )
            )
            if draw.random() < 0.1:
                events.append(dict(events[-1]))
    return events


@pytest.mark.ci
@days_become_old()
def test_daily_runs_that_look_carts_up_equal_one_run(spark: SparkSession, tmp_path: Path):
    whole, daily = Shop(spark, tmp_path / "whole"), Shop(spark, tmp_path / "daily")
    for shop in (whole, daily):
        shop.arrive(*traffic(4))
    assert not whole.run("2024-01-09 00:00").has_failed
    run_in_pieces(daily, [24 * day for day in (2, 3, 5, 6)], again=1, days=8)
    noted = daily.workspace.runs.last("ecommerce", 1)[0].key_days
    assert "snowplow_ecommerce_carts(cart_key)" in noted
    assert contents(daily) == contents(whole)


@pytest.mark.slow
@days_become_old()
@few_examples(3)
@any_cuts(days=6, most=3)
def test_random_runs_with_reruns_equal_one_run(
    spark: SparkSession,
    tmp_path_factory: pytest.TempPathFactory,
    seed: int,
    cuts: list[int],
    again: int,
):
    folder = tmp_path_factory.mktemp("splits")
    whole, split = Shop(spark, folder / "whole"), Shop(spark, folder / "split")
    for shop in (whole, split):
        shop.arrive(*traffic(seed))
    end = at("2024-01-09")
    assert not whole.run(f"{end:%Y-%m-%d %H:%M}").has_failed
    run_in_pieces(split, cuts, again, days=8)
    assert contents(split) == contents(whole)
