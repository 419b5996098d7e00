"""Plans in words, whole: the suite's session cuts them short, as windrow's own does."""

from __future__ import annotations

from pyspark.sql import DataFrame

LENGTH = "spark.sql.maxPlanStringLength"


def optimized_plan(frame: DataFrame) -> str:
    return _whole(frame, "optimizedPlan")


def executed_plan(frame: DataFrame) -> str:
    return _whole(frame, "executedPlan")


def _whole(frame: DataFrame, stage: str) -> str:
    spark = frame.sparkSession
    before = spark.conf.get(LENGTH)
    spark.conf.set(LENGTH, str(2**30))
    try:
        return str(getattr(frame._jdf.queryExecution(), stage)().toString())
    finally:
        spark.conf.set(LENGTH, str(before))
