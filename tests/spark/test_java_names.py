"""PySpark's own functions are looked up in Java once."""

from __future__ import annotations

from typing import Any

import pytest
from py4j.java_gateway import JavaClass, JVMView
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from windrow.spark.java_names import ASKED_FOR_OFTEN, remember_java_names


def test_java_is_asked_for_a_function_once(spark: SparkSession, monkeypatch: pytest.MonkeyPatch):
    for name in ASKED_FOR_OFTEN:  # Other tests of this process have asked before.
        monkeypatch.delitem(vars(spark._jvm), name, raising=False)
    remember_java_names(spark)
    asked: list[str] = []
    for kind in (JVMView, JavaClass):

        def ask(self: Any, name: str, ask: Any = kind.__getattr__) -> Any:
            asked.append(name)
            return ask(self, name)

        monkeypatch.setattr(kind, "__getattr__", ask)
    frame = spark.range(3).select(F.hex("id").alias("hex"), F.lit(1).alias("one"))
    first = list(asked)
    asked.clear()
    again = spark.range(3).select(F.hex("id").alias("hex"), F.lit(1).alias("one"))
    assert "hex" in first
    assert asked == []
    assert frame.collect() == again.collect()
