"""However many carts there were, a run reads those that its events touch, and those still open."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from histories import DAYS, LAST_DAY, delete_old_days
from shop import Shop, action, money
from website import Event, rows

pytestmark = pytest.mark.ci


def visit(day: date) -> list[Event]:
    """Two carts: one is bought, and nobody comes back to the other."""
    return [
        action(f"{day}-1", f"s-{day}", f"{day} 10:00", "add_to_cart", cart=10, cart_id=f"b-{day}"),
        action(f"{day}-2", f"s-{day}", f"{day} 10:05", "transaction", transaction=f"t-{day}"),
        action(f"{day}-3", f"u-{day}", f"{day} 11:00", "add_to_cart", cart=7, cart_id=f"l-{day}"),
    ]


def test_a_run_reads_no_file_of_days_without_a_cart_of_its_own_or_an_open_one(
    spark: SparkSession, tmp_path: Path, format: str
):
    shop = Shop(spark, tmp_path, format=format, backfill_limit_days=100)
    shop.arrive_by_day(*(it for day in DAYS for it in visit(day)))
    assert shop.run(f"{LAST_DAY + timedelta(days=1)} 00:00").outcome == "succeeded"
    noted = shop.workspace.runs.last("ecommerce", 1)[0].key_days
    assert "snowplow_ecommerce_carts(cart_key)" in noted
    open_ones = shop.table("carts").where("status = 'open'")
    assert [row[0] for row in open_ones.select("cart_key").collect()] == [f"l-{LAST_DAY}"]

    delete_old_days(
        shop,
        {
            "events": "load_tstamp_date",
            "warehouse/derived/snowplow_ecommerce_carts": "created_tstamp_date",
            "warehouse/derived/snowplow_ecommerce_sessions": "start_tstamp_date",
        },
    )
    today = LAST_DAY + timedelta(days=1)
    back = date(2024, 1, 5)
    shop.arrive_by_day(
        *visit(today),
        # A cart of three weeks ago is bought after all.
        action("x1", "back", f"{today} 12:00", "add_to_cart", cart=9, cart_id=f"l-{back}"),
        action("x2", "back", f"{today} 12:01", "transaction", transaction="tx"),
    )
    assert shop.run(f"{today + timedelta(days=1)} 00:00").outcome == "succeeded"

    near = f"created_tstamp_date <= '{back}' or created_tstamp_date > '2024-01-20'"
    carts = shop.table("carts").where(near)
    shown = ("status", "created_tstamp", "cart_value", "last_domain_sessionid")
    of_back = carts.where(f"cart_key = 'l-{back}'").select(*shown)
    assert rows(of_back) == [("bought", f"{back} 11:00:00", money(9), "back")]
    # Yesterday's, to which nothing happened, has run out.
    ended = carts.where("created_tstamp_date >= '2024-01-28'").select("cart_key", "status")
    assert rows(ended) == [
        ("b-2024-01-28", "bought"),
        ("b-2024-01-29", "bought"),
        ("l-2024-01-28", "abandoned"),
        ("l-2024-01-29", "open"),
    ]
    assert carts.select("cart_key").distinct().count() == carts.count()
