"""What Delta's own log of a table says, without a query.

Spark has no words for "which version is this at". Delta's object knows, and answers in a fraction
of the time of any statement. It is not there for a Spark Connect client, and not part of what Delta
promises to keep: whoever asks here has another way to find out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyspark.sql import SparkSession

from windrow.tables.refusals import REFUSALS


@dataclass(frozen=True)
class Told:
    """What the log said."""

    version: int | None
    """None: there is no table."""


def ask(spark: SparkSession, path: str) -> Told | None:
    """What the log of the table at a path says now; None where it cannot be asked."""
    jvm: Any = getattr(spark, "_jvm", None)
    session: Any = getattr(spark, "_jsparkSession", None)
    if jvm is None or session is None:
        return None
    try:
        # By whole names: each dot would be a question of its own.
        nothing = getattr(jvm, "scala.Option").empty()
        log = getattr(jvm, "org.apache.spark.sql.delta.DeltaLog").forTable(session, path)
        version = int(log.update(False, nothing, nothing).version())
    except REFUSALS:
        # Another Delta, or a place that cannot be read: the statements will say what it is.
        return None
    return Told(version if version >= 0 else None)
