"""Two writers at once: the slower one learns of it, and has written nothing."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tables.rows import COLUMNS, ORDERS, orders, stored
from windrow.tables import ConflictError, Tables

pytestmark = pytest.mark.ci

SLOW, QUICK = ("a", "2024-01-01", 5, "slow"), ("a", "2024-01-01", 7, "quick")


def overtake(
    slow: DataFrame, folder: Path, write: Callable[[DataFrame], Any], other: Callable[[], Any]
) -> None:
    """Write the slow rows; the other writer begins after that, and has done before it ends."""
    is_writing, may_go_on = str(folder / "is-writing"), str(folder / "may-go-on")

    def wait(text):  # type: ignore[no-untyped-def] # PySpark warns of hints it cannot use
        Path(is_writing).touch()
        while not Path(may_go_on).exists():
            time.sleep(0.05)
        return text

    rows = slow.withColumn("note", F.udf(wait, "string")("note"))
    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(write, rows)
        try:
            while not Path(is_writing).exists() and not writing.done():
                time.sleep(0.05)
            other()
        finally:
            Path(may_go_on).touch()
        writing.result()


@pytest.fixture
def empty(tables: Tables) -> Tables:
    """A table that nobody has written to."""
    tables.create(ORDERS, COLUMNS)
    return tables


def test_the_slower_of_two_writers_learns_of_the_conflict(
    spark: SparkSession, empty: Tables, tmp_path: Path
) -> None:
    empty.append(ORDERS, orders(spark, ("a", "2024-01-01", 1, "x")))

    def merge(rows: DataFrame) -> None:
        empty.merge(ORDERS, rows, key=["order_id"])

    def overwrite() -> None:
        empty.overwrite(ORDERS, orders(spark, QUICK))

    with pytest.raises(ConflictError, match=r"derived\.orders.*try again"):
        overtake(orders(spark, SLOW), tmp_path, merge, overwrite)
    assert stored(empty.read(ORDERS)) == [QUICK]


def test_of_two_that_insert_a_key_at_once_one_does(
    spark: SparkSession, empty: Tables, tmp_path: Path
) -> None:
    def insert(rows: DataFrame) -> None:
        empty.merge(ORDERS, rows, key=["order_id"], update=False)

    with pytest.raises(ConflictError, match=r"derived\.orders.*try again"):
        overtake(orders(spark, SLOW), tmp_path, insert, lambda: insert(orders(spark, QUICK)))
    assert stored(empty.read(ORDERS)) == [QUICK]
    # Whoever comes later leaves it as it is.
    insert(orders(spark, SLOW))
    assert stored(empty.read(ORDERS)) == [QUICK]
