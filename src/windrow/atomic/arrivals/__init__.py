"""What was added to the events since a version of them, whatever its collector time.

values.py   what is asked of a history     delta.py   iceberg.py   how each format answers
loads.py    where there are plain files
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from windrow.atomic.arrivals.delta import DeltaHistory
from windrow.atomic.arrivals.iceberg import IcebergHistory
from windrow.atomic.arrivals.loads import LOADED, FileTimes, LoadTimes
from windrow.atomic.arrivals.values import Arrived, History
from windrow.atomic.source import Source, stored_rows
from windrow.config import EventsSource
from windrow.errors import SourceError
from windrow.tables.refusals import REFUSALS, reason_of
from windrow.tables.sql import quoted, quoted_parts

__all__ = ["Arrived", "History", "history_of", "version_of"]


def version_of(spark: SparkSession, events: EventsSource) -> str | None:
    """What a table of events is at, where commits decide what is new.

    To be asked before it is opened: what is committed between is then looked at twice, and not
    missed, whichever of the two a format shows from then on.
    """
    if events.new_by != "commit":
        return None
    return _table_history(spark, events, StructType(), "").version()


def history_of(spark: SparkSession, events: EventsSource, source: Source) -> History | None:
    """The history of the events; None where collector time alone decides what is new."""
    if events.new_by == "collector":
        return None
    if events.new_by == "load":
        return _by_load(spark, events, source)
    return _table_history(spark, events, source.raw.schema, source.time_column)


def _table_history(
    spark: SparkSession, events: EventsSource, schema: StructType, time_column: str
) -> History:
    if events.table is not None:
        table = quoted_parts(events.table)
        format = _provider(spark, table)
    else:
        assert events.path is not None
        format, table = events.format, events.path
    if format == "delta":
        name = table if events.table is not None else f"delta.{quoted(table)}"
        return DeltaHistory(spark, name, schema, time_column)
    if format == "iceberg":
        is_path = events.table is None
        return IcebergHistory(spark, table, is_path=is_path, options=dict(events.options))
    raise SourceError(
        f"events.new_by is `commit`, but the events at {events.table or events.path} are {format}: "
        "only tables of Delta and Iceberg remember what was committed when. With `load`, the time "
        "at which events were loaded decides; without `new_by`, their collector time."
    )


def _by_load(spark: SparkSession, events: EventsSource, source: Source) -> History:
    """By `load_tstamp` where events have it, else by when their files were written."""
    if LOADED in source.adapted:
        return LoadTimes(source)
    if events.path is None or events.format in ("delta", "iceberg"):
        raise SourceError(
            f"events.new_by is `load`, but {events.table or events.path} has no column {LOADED}. "
            "Take `new_by` away, so that collector time decides; a Delta or Iceberg table takes "
            "`commit`."
        )

    def read(options: Mapping[str, str]) -> DataFrame:
        again = events.model_copy(update={"options": {**events.options, **options}})
        return stored_rows(spark, again, schema=source.raw.schema)

    return FileTimes(spark, read)


def _provider(spark: SparkSession, table: str) -> str:
    """The format of a table that Spark knows by name."""
    try:
        described = spark.sql(f"describe table extended {table}").collect()
    except REFUSALS as error:
        raise SourceError(f"Cannot look at the events table: {reason_of(error)}") from error
    found = [row["data_type"] for row in described if row["col_name"] == "Provider"]
    return str(found[-1]).lower() if found else "of no format that Spark names"
