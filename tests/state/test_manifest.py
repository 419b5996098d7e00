"""How far models have come: positions move forward together, and never back."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from pyspark.sql import SparkSession

from windrow.state import manifest
from windrow.tables import TableName, Tables

TABLE = TableName("snowplow_manifest", "snowplow_web_incremental_manifest")


def day(number: int) -> datetime:
    return datetime(2021, 1, number, 0, 0, 0, 123456, tzinfo=UTC)


def test_positions_move_to_what_was_reached_but_never_back():
    before = {"a": day(4), "b": day(2), "d": day(2)}
    assert manifest.advanced(before, ["a", "b", "c"], day(3)) == {"b": day(3), "c": day(3)}


def test_nothing_reached_moves_nothing():
    assert manifest.advanced({"a": day(1)}, ["a", "b"], None) == {}


@pytest.fixture
def stored(spark: SparkSession, tables: Tables) -> Tables:
    tables.create(TABLE, manifest.MANIFEST)
    manifest.commit(spark, tables, TABLE, {"a": day(4), "b": day(2), "d": day(2)})
    return tables


def test_positions_come_back_to_the_microsecond(spark: SparkSession, stored: Tables):
    manifest.commit(spark, stored, TABLE, {"b": day(3), "c": day(3)})
    assert manifest.positions(stored, TABLE) == {
        "a": day(4),
        "b": day(3),
        "c": day(3),
        "d": day(2),
    }


def test_forgotten_models_are_gone_and_unknown_ones_are_not_found(
    spark: SparkSession, stored: Tables
):
    assert manifest.forget(spark, stored, TABLE, ["b", "never"]) == ["b"]
    assert set(manifest.positions(stored, TABLE)) == {"a", "d"}
    assert manifest.forget(spark, stored, TABLE, ["never"]) == []


def test_no_table_is_no_position(tables: Tables):
    assert manifest.positions(tables, TABLE) == {}
