"""Small runs, carried out as Spark is set for those over millions of events."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from pyspark.sql import SparkSession

from windrow.spark import run_size

_AS_SPARK_HAS_THEM = {
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "FALLBACK",
}


@contextmanager
def as_large_runs(spark: SparkSession) -> Iterator[None]:
    """In the block, plans are made anew after each step, and rows go through generated code.

    The suite's session has neither, as small runs have not.
    """
    before = {key: spark.conf.get(key) for key in _AS_SPARK_HAS_THEM}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run_size, "SMALL_RUN_EVENTS", -1)
        for key, value in _AS_SPARK_HAS_THEM.items():
            spark.conf.set(key, value)
        try:
            yield
        finally:
            for key, value in before.items():
                spark.conf.set(key, value)
