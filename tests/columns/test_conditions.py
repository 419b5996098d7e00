"""Many conditions as one: true where any is, and nested as little as can be."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from windrow.columns.conditions import any_of


@pytest.mark.parametrize("number", [1, 2, 7])
def test_it_is_true_where_one_of_them_is(spark: SparkSession, number: int):
    conditions = [F.col("id") == nth for nth in range(number)]
    rows = spark.range(9).where(any_of(conditions)).collect()
    assert [row["id"] for row in rows] == list(range(number))


def test_thirty_nest_five_deep(spark: SparkSession):
    text = str(any_of([F.col("c") for _ in range(30)]))
    deepest = depth = 0
    for sign in text:
        depth += (sign == "(") - (sign == ")")
        deepest = max(deepest, depth)
    assert text.count(" OR ") + text.lower().count("or(") == 29, text
    assert deepest <= 6, text
