"""What Delta's own log of a table says, without a query.

Spark has no words for "which version is this at". Delta's object knows, and answers in a fraction
of the time of any statement. It is not there for a Spark Connect client, and not part of what Delta
promises to keep: whoever asks here has another way to find out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyspark.sql import SparkSession

from windrow.errors import TableError
from windrow.tables.refusals import REFUSALS

LOG = "_delta_log"


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


def tables_under(spark: SparkSession, folder: str) -> list[str]:
    """The names of the folders below one that are Delta tables, sorted; none if there is none."""
    jvm: Any = getattr(spark, "_jvm", None)
    session: Any = getattr(spark, "_jsparkSession", None)
    if jvm is None or session is None:
        raise TableError(
            f"The tables below {folder} cannot be listed through Spark Connect. Name tables, "
            "schema.table, instead of a schema."
        )
    path = jvm.org.apache.hadoop.fs.Path
    place = path(folder)
    files = place.getFileSystem(session.sessionState().newHadoopConf())
    if not files.exists(place):
        return []
    found = [it.getPath() for it in files.listStatus(place) if it.isDirectory()]
    return sorted(it.getName() for it in found if files.exists(path(it, LOG)))
