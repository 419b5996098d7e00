"""Published tables come of small and of large runs: on Iceberg, Spark is set for the latter."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from large_runs import as_large_runs


@pytest.fixture(autouse=True)
def size_of_runs(request: pytest.FixtureRequest, spark: SparkSession) -> Iterator[None]:
    callspec = getattr(request.node, "callspec", None)
    if callspec is None or callspec.params.get("format") != "iceberg":
        yield
        return
    with as_large_runs(spark):
        yield
