"""Rows that a test writes down, as a frame.

`createDataFrame` of tuples reads them with Python workers, anew whenever the frame is computed. As
an Arrow table they are handed over once, and are part of the plan.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType


@cache
def _schemas(columns: str) -> tuple[StructType, pa.Schema]:
    found = StructType.fromDDL(columns)
    return found, to_arrow_schema(found)


def literal_rows(spark: SparkSession, rows: Iterable[Sequence[Any]], columns: str) -> DataFrame:
    """The rows under these columns, as `createDataFrame` takes both; structs are dicts."""
    schema, arrow = _schemas(columns)
    named = [dict(zip(schema.names, row, strict=True)) for row in rows]
    return spark.createDataFrame(pa.Table.from_pylist(named, schema=arrow), schema)
