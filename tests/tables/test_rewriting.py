"""Partitions written anew, rows set in place, and what commits bring tables to; on both formats."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from filled_tables import filled_by
from tables.rows import COLUMNS, ORDERS, orders, stored
from windrow.errors import TableError
from windrow.tables import TableName, Tables

A = ("a", "2024-01-01", 1, "x")
B = ("b", "2024-01-02", 2, "y")
C = ("c", "2024-01-02", 3, "z")
SECOND_DAY = "day = DATE '2024-01-02'"


def three_orders(spark: SparkSession, tables: Tables) -> None:
    tables.create(ORDERS, COLUMNS, partition_by=["day"])
    tables.append(ORDERS, orders(spark, A, B, C))


@pytest.fixture
def filled(spark: SparkSession, tables: Tables, tmp_path: Path) -> Tables:
    return filled_by(three_orders, spark, tables, tmp_path)


def test_a_day_is_written_anew_in_one_commit_and_others_are_left_alone(
    spark: SparkSession, filled: Tables
):
    before = len(filled.history(ORDERS))
    new = ("d", "2024-01-02", 4, "w")
    filled.rewrite(
        ORDERS, SECOND_DAY, lambda old: old.where("order_id = 'c'").union(orders(spark, new))
    )
    assert stored(filled.read(ORDERS)) == [A, C, new]
    assert len(filled.history(ORDERS)) == before + 1
    # A day without rows is no table without rows: what came before still counts.
    filled.rewrite(ORDERS, SECOND_DAY, lambda old: old.limit(0))
    assert stored(filled.read(ORDERS)) == [A]
    assert len(filled.history(ORDERS)) == before + 2


def test_what_another_writer_adds_meanwhile_is_not_lost(spark: SparkSession, filled: Tables):
    theirs = ("t", "2024-01-02", 9, "theirs")

    def while_they_write(old: DataFrame) -> DataFrame:
        filled.append(ORDERS, orders(spark, theirs))
        return old.where("order_id = 'c'")

    try:
        filled.rewrite(ORDERS, SECOND_DAY, while_they_write)
    except TableError:
        # Refused: the run fails, is undone, and tries again.
        assert stored(filled.read(ORDERS)) == [A, B, C, theirs]
    else:
        assert stored(filled.read(ORDERS)) == [A, C, theirs]


def test_rows_are_set_in_place_where_a_condition_holds(filled: Tables):
    changed = filled.update(ORDERS, {"note": "'set'", "amount": "amount + 1"}, "amount > 1")
    assert changed in (2, None)
    assert stored(filled.read(ORDERS)) == [
        A,
        ("b", "2024-01-02", 3, "set"),
        ("c", "2024-01-02", 4, "set"),
    ]
    assert filled.update(ORDERS, {"note": "'never'"}, "amount > 99") in (0, None)


def test_tables_know_what_their_commits_brought_them_to(spark: SparkSession, filled: Tables):
    other = TableName("derived", "others")
    with filled.commits_of("run-1", lambda: None):
        assert filled.written() == {}
        filled.append(ORDERS, orders(spark, ("d", "2024-01-02", 4, "w")))
        filled.create(other, COLUMNS)
        filled.append(other, orders(spark, A))
        with filled.commits_of("run-1-within"):
            filled.rewrite(ORDERS, SECOND_DAY, lambda old: old.limit(1))
        expected = {table: filled.version(table) for table in (ORDERS, other)}
        assert filled.written() == expected
    with filled.commits_of("run-2", lambda: None):
        assert filled.written() == {}


def test_partitions_are_known_and_follow_the_layout(filled: Tables):
    assert filled.partitions(ORDERS) == {"day"}
    plain = TableName("derived", "plain")
    filled.create(plain, COLUMNS)
    assert filled.partitions(plain) == frozenset()
