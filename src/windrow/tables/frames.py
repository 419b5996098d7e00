"""Frames that are computed once and for all, and frames of rows that Python holds."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any
from weakref import WeakKeyDictionary

from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.utils import is_remote

from windrow.tables import Columns
from windrow.tables.observed import Observed
from windrow.tables.sql import quoted

# As Spark keeps what it settles, but twice: on another executor as well.
TWO_COPIES = StorageLevel(True, True, False, True, 2)
CHECKPOINT_DIR = "spark.checkpoint.dir"

MOST_SENT = 2_000_000
"""So many rows go to every executor, by way of the driver; more are joined where they lie."""

_SETTLES: WeakKeyDictionary[SparkSession, Callable[[DataFrame], DataFrame]] = WeakKeyDictionary()
"""Session -> how it settles rows, which neither its master nor its settings change later on."""


def adding(rows: DataFrame, columns: dict[str, Column]) -> DataFrame:
    """The rows with these columns too, if there are any: Spark Connect refuses to add none."""
    return rows.withColumns(columns) if columns else rows


def materialize(frame: DataFrame) -> DataFrame:
    """The frame's rows, computed now; what is built on them plans quickly and reads no table again.

    Unlike a cached frame it does not drag the plan that made it along, which for small runs costs
    more than the work. So nobody can compute the rows again when an executor takes them with it:
    on a cluster there are two copies of them, or they lie where `spark.checkpoint.dir` says.
    """
    spark = frame.sparkSession
    settle = _SETTLES.get(spark)
    if settle is None:
        settle = _SETTLES[spark] = _way_to_settle(spark)
    return settle(frame)


def _way_to_settle(spark: SparkSession) -> Callable[[DataFrame], DataFrame]:
    if spark.conf.get(CHECKPOINT_DIR, None):
        return lambda frame: frame.checkpoint(eager=True)
    master = spark.conf.get("spark.master", None) or ""
    if not master or re.fullmatch(r"local(\[.*\])?", master):
        return lambda frame: frame.localCheckpoint(eager=True)
    return lambda frame: frame.localCheckpoint(eager=True, storageLevel=TWO_COPIES)


def kept(frame: DataFrame) -> DataFrame:
    """The frame, whose rows are computed when they are first asked for, and kept till `unpersist`.

    A Spark Connect client sends whole plans, which may nest a hundred deep and no deeper. There the
    rows are settled at once, so that what is built on them does not send their plan along.
    """
    return materialize(frame) if is_remote() else frame.persist()


def measured(frame: DataFrame, measures: Mapping[str, Column]) -> tuple[DataFrame, dict[str, Any]]:
    """The frame's rows, computed now, and aggregates over them that were taken on the way."""
    observed = Observed()
    settled = materialize(observed.over(frame, measures))
    return settled, observed.figures(settled=settled)


def few(rows: DataFrame, at_most: int) -> DataFrame:
    """The small side of a join, sent to where the other side lies, unless there may be too many.

    They would pass through the driver, whose memory does not grow with the events. What Spark then
    does costs a shuffle of the other side, and gives the same rows.
    """
    return F.broadcast(rows) if at_most <= MOST_SENT else rows


def join_by(rows: DataFrame, others: DataFrame, by: Sequence[str], how: str) -> DataFrame:
    """A join by columns in which what is not known equals what is not known.

    The others have nothing but these columns where the join would else have any of theirs twice.
    """
    names = {name: f"windrow_by_{number}" for number, name in enumerate(by)}
    is_same = (F.col(quoted(name)).eqNullSafe(F.col(other)) for name, other in names.items())
    renamed = others.withColumnsRenamed(names)
    return rows.join(renamed, reduce(Column.__and__, is_same), how=how).drop(*names.values())


def frame_of(spark: SparkSession, rows: Sequence[Sequence[Any]], columns: Columns) -> DataFrame:
    """A few rows as a frame; instants are given as text.

    They travel as one literal. `createDataFrame` would start Python workers for them, which takes
    longer than everything else that is done with a handful of rows.
    """
    text = json.dumps([dict(zip(columns, row, strict=True)) for row in rows])
    given = {name: "string" if kind == "timestamp" else kind for name, kind in columns.items()}
    fields = ",".join(f"{quoted(name)}:{kind}" for name, kind in given.items())
    parsed = F.from_json(F.lit(text), f"array<struct<{fields}>>")
    exploded = spark.range(1).select(F.inline(parsed))
    return exploded.select(
        *(F.col(quoted(name)).cast(kind).alias(name) for name, kind in columns.items())
    )
