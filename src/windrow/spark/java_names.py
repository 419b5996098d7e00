"""Names that Python asks Java for again and again: asked once, then remembered."""

from __future__ import annotations

from typing import Any

# py4j ships no types.
from py4j.java_gateway import JavaClass, JavaMember  # type: ignore[import-untyped]
from pyspark.sql import SparkSession

# What PySpark looks up anew for each column and each list of columns, by the names it uses.
ASKED_FOR_OFTEN = ("org.apache.spark.sql.functions", "functions", "PythonUtils")


class _RememberedClass(JavaClass):  # type: ignore[misc]  # py4j has no types
    """A class of Java that asks for each of its static methods once."""

    def __getattr__(self, name: str) -> Any:
        found = super().__getattr__(name)
        if isinstance(found, JavaMember):  # A method; the value of a field may change.
            self.__dict__[name] = found
        return found


def remember_java_names(spark: SparkSession) -> None:
    """Let PySpark find its own functions without asking Java.

    A run writes thousands of columns. For each, PySpark asks what the class is and then what the
    method is: a third of all messages to Java, and Java looks through its jars for an answer.
    """
    jvm: Any = spark._jvm
    for name in ASKED_FOR_OFTEN:
        if name not in vars(jvm):
            found = getattr(jvm, name)
            if type(found) is JavaClass:
                setattr(jvm, name, _RememberedClass(found._fqn, found._gateway_client))
