"""Which temporary views a session holds."""

from __future__ import annotations

from pyspark.sql import SparkSession


def temp_views(spark: SparkSession) -> list[str]:
    """Their names. `catalog.listTables` cannot read its own rows while code generation is off."""
    return sorted(row.viewName for row in spark.sql("show views").collect() if row.isTemporary)
