"""Two tables compared by key: one comparison of two small frames, and the claims it makes."""

from __future__ import annotations

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T

from windrow.errors import UsageError
from windrow.tables.common_types import common_type
from windrow.tables.comparison import Comparison, Example, OtherType, compare

A = """
    select *, 'x' as `it's a`, timestamp'2024-01-01' as model_tstamp from values
        ('same', 1, 1.0D, 1L, map('x', 1, 'y', 2)),
        ('other', 1, 0.1D, 2L, map('x', 1)),
        ('near', 1, 1000000.1D, 3L, null),
        ('here', 1, 1.0D, 4L, null),
        ('twice', 1, 1.0D, 5L, null),
        ('twice', 1, 2.0D, 5L, null),
        (null, 1, double('NaN'), 6L, null)
    as t (id, part, amount, number, counts)
"""
B = """
    select *, array(1) as more, timestamp'2025-01-01' as model_tstamp from values
        (null, 1, double('NaN'), 6, null),
        ('same', 1, 1.0D, 1, map('y', 2, 'x', 1)),
        ('other', 1, null, 7, map('x', 2)),
        ('near', 1, 1000000.1000000001D, 3, null),
        ('twice', 1, 1.0D, 5, null),
        ('there', 1, 1.0D, 4, null)
    as t (ID, part, amount, number, counts)
    union all
    select concat('there', id), 1, 1.0D, 4, null, array(1), null from range(2, 10)
"""


@pytest.fixture(scope="module")
def frames(spark: SparkSession) -> tuple[DataFrame, DataFrame]:
    return spark.sql(A), spark.sql(B)


@pytest.fixture(scope="module")
def found(frames: tuple[DataFrame, DataFrame]) -> Comparison:
    return compare(*frames, ["id", "part"], tolerance=1e-9)


def test_rows_and_keys_of_both_sides_are_counted(found: Comparison):
    # A key that is null matches another one, and one that is there twice is one key.
    assert (found.rows_a, found.rows_b, found.keys_in_both) == (7, 14, 5)
    assert (found.null_keys_a, found.null_keys_b) == (1, 1)


def test_keys_on_one_side_only_are_told_with_examples(found: Comparison):
    assert (found.only_a.count, found.only_b.count) == (1, 9)
    assert found.only_a.examples == (Example(("here", "1")),)
    # The first, the last, and one from between.
    first, last, other = (it.key[0] for it in found.only_b.examples)
    assert (first, last) == ("there", "there9")
    assert other not in (first, last)


def test_keys_that_are_there_twice_are_told_and_not_compared(found: Comparison):
    assert found.duplicates_a.examples == (Example(("twice", "1")),)
    assert found.duplicates_b.count == 0


def test_every_column_tells_in_how_many_rows_it_differs(found: Comparison):
    key = ("other", "1")
    assert {name: it.examples for name, it in found.differing.items()} == {
        "amount": (Example(key, "0.1", None),),
        "number": (Example(key, "2", "7"),),
        "counts": (Example(key, "[{x, 1}]", "[{x, 2}]"),),
    }
    assert {it.count for it in found.differing.values()} == {1}


def test_columns_and_types_that_differ_are_told(found: Comparison):
    assert (found.columns_only_a, found.columns_only_b) == (("it's a",), ("more",))
    assert found.other_types == (OtherType("number", "bigint", "int", "bigint"),)
    assert found.ignored == ("model_tstamp",)
    assert not found.is_equal


def test_fractions_are_compared_exactly_unless_there_is_a_tolerance(
    frames: tuple[DataFrame, DataFrame],
):
    found = compare(*frames, ["id"], where="id in ('same', 'near')", ignore=["it's a", "more"])
    assert list(found.differing) == ["amount"]
    near = compare(
        *frames, ["id"], where="id in ('same', 'near')", ignore=["it's a", "more"], tolerance=1e-9
    )
    # A type that differs while all values agree is told, and is no difference.
    assert near.is_equal
    assert near.other_types


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"key": ["idd"]}, "A has no column 'idd' to match rows by. Did you mean 'id'?"),
        ({"key": ["more"]}, "A has no column 'more' to match rows by."),
        ({"key": ["counts"]}, "'counts' is map<string,int> in A"),
        ({"key": []}, "There is no key"),
        ({"ignore": ["amuont"]}, "Did you mean 'amount'?"),
        ({"where": "nothing > 1"}, "The condition 'nothing > 1' does not fit A"),
        ({"where": "id = "}, "The condition 'id = ' does not fit A"),
        ({"tolerance": -1}, "The tolerance is -1"),
        ({"examples": 21}, "expected 0 to 20"),
    ],
)
def test_what_cannot_be_compared_is_said_at_once(
    frames: tuple[DataFrame, DataFrame], options: dict, message: str
):
    with pytest.raises(UsageError) as error:
        compare(*frames, **{"key": ["id"], **options})
    assert message in str(error.value)


def struct(name: str, kind: T.DataType) -> T.StructType:
    return T.StructType([T.StructField(name, kind)])


LONG, DECIMAL = T.LongType(), T.DecimalType(10, 2)


@pytest.mark.parametrize(
    ("a", "b", "common"),
    [
        (T.IntegerType(), LONG, LONG),
        (LONG, DECIMAL, T.DecimalType(21, 2)),
        (T.DecimalType(38, 0), T.DecimalType(38, 18), None),
        (DECIMAL, T.DoubleType(), T.DoubleType()),
        (T.DateType(), T.TimestampNTZType(), T.TimestampType()),
        (T.StringType(), LONG, T.StringType()),
        (T.BooleanType(), LONG, None),
        (T.ArrayType(T.IntegerType()), T.ArrayType(LONG), T.ArrayType(LONG)),
        (T.ArrayType(LONG), T.StringType(), None),
        (struct("x", T.IntegerType()), struct("x", LONG), struct("x", LONG)),
        (struct("x", LONG), struct("y", LONG), None),
    ],
)
def test_types_are_compared_in_one_that_keeps_what_both_say(a, b, common):
    assert common_type(a, b) == common
    assert common_type(b, a) == common
