"""The last step of a model: declared columns, in order and type."""

from __future__ import annotations

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from windrow.models.model import UNDECLARED
from windrow.models.parts.declared_columns import select_declared
from windrow.tables.frames import frame_of


def test_columns_come_as_declared_worked_out_or_as_they_are(spark: SparkSession) -> None:
    rows = frame_of(spark, [[1, "7", 2.5]], {"b": "int", "a": "string", "left": "double"})
    columns = {"a": "int", "b": "bigint", "c": "string", "own": UNDECLARED}
    found = select_declared(rows, columns, {"c": F.col("b") + 1, "own": F.col("left")})
    assert dict(found.dtypes) == {"a": "int", "b": "bigint", "c": "string", "own": "double"}
    assert [tuple(row) for row in found.collect()] == [(7, 1, "2", 2.5)]
