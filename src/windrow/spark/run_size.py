"""Spark's settings for the size of a run: what pays off over millions of rows costs a small run."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

# Up to here a run spends more on getting ready than on rows; docs/spark-settings.md has figures.
SMALL_RUN_EVENTS = 50_000

# Settings that mean something only together: whoever chose one of them chose for all of its group.
SMALL_RUN: tuple[Mapping[str, str], ...] = (
    # Plans are not made again after every step. That also joined small partitions; few do as well.
    {"spark.sql.adaptive.enabled": "false", "spark.sql.shuffle.partitions": "2"},
    # Rows are interpreted: they are done before Java for them would have been written and compiled.
    {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"},
)


def settings_for(events: int, chosen: Collection[str] = ()) -> dict[str, str]:
    """The settings that are best for a run over this many events, but for what the user chose."""
    if events > SMALL_RUN_EVENTS:
        return {}
    free = [group for group in SMALL_RUN if not group.keys() & set(chosen)]
    return {key: value for group in free for key, value in group.items()}


@contextmanager
def sized_for(spark: SparkSession, events: int, *, chosen: Collection[str] = ()) -> Iterator[None]:
    """Set Spark for a run over this many events while the block runs, then as it was before.

    `chosen` are the keys under the target's `spark.conf`; they are left alone. Settings belong to
    the session: one run at a time, its threads included.
    """
    before: dict[str, str] = {}
    try:
        for key, value in settings_for(events, chosen).items():
            # Some servers keep some settings to themselves; the run is the same without.
            with suppress(PySparkException):
                found = spark.conf.get(key)
                spark.conf.set(key, value)
                before[key] = str(found)
        yield
    finally:
        for key, found in before.items():
            # A Spark that is lost cannot be set; why it was lost is what the caller must hear.
            with suppress(Exception):
                spark.conf.set(key, found)
