"""Spark's settings for the size of a run: what pays off over millions of rows costs a small run."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

SMALL_RUN_EVENTS = 1_000_000
"""Up to here Spark takes longer to get ready for rows than it then saves on them.

docs/spark-settings.md has figures.
"""
_EVENTS_PER_PARTITION = 50_000
_NOTHING_SENT = {"spark.sql.autoBroadcastJoinThreshold": "-1"}
"""What lies in one partition is joined there; to send it there takes a job. What is sent to stored
rows, however many these are, is said where it is done."""
_LISTING = {"spark.sql.sources.parallelPartitionDiscovery.parallelism": "64"}
"""Events of three years lie in a thousand folders; left alone, Spark lists each in a task of its
own, which takes longer than a small run has otherwise to do."""

_LOGS = {"spark.databricks.delta.snapshotPartitions": "2"}
"""Left alone, Delta puts a table's log together by 50 tasks, whenever the table has a new version.
Whoever says otherwise for a session, knows of larger logs."""


def settings_for(events: int | None, chosen: Collection[str] = ()) -> dict[str, str]:
    """The settings that are best for a run over this many events, but for what the user chose.

    None: nobody knows how many there are.
    """
    if events is None:
        return {}
    free = [group for group in _groups(events) if not group.keys() & set(chosen)]
    return {key: value for group in free for key, value in group.items()}


def _groups(events: int) -> tuple[Mapping[str, str], ...]:
    """In groups that mean something only together: who chose one of a group chose for all of it."""
    partitions = str(max(1, -(-events // _EVENTS_PER_PARTITION)))
    if events > SMALL_RUN_EVENTS:
        # Adaptive execution joins those that turn out small, and splits what would be a large file.
        return (
            {"spark.sql.adaptive.enabled": "true"},
            {"spark.sql.shuffle.partitions": partitions},
            _LISTING,
        )
    return (
        _LISTING,
        _LOGS,
        # Plans are not made again after every step. That also joined small partitions; few do too.
        {
            "spark.sql.adaptive.enabled": "false",
            "spark.sql.shuffle.partitions": partitions,
            **(_NOTHING_SENT if partitions == "1" else {}),
        },
        # Rows are interpreted. Java that is written for rows as wide as ours has to be compiled,
        # and much of it is too long for Java to compile well. What an expression has twice would
        # then be looked up, row by row, in a cache that costs more.
        {
            "spark.sql.codegen.wholeStage": "false",
            "spark.sql.codegen.factoryMode": "NO_CODEGEN",
            "spark.sql.subexpressionElimination.enabled": "false",
        },
        # Spark takes what a run keeps for endless, and computes one side of a join twice, to send a
        # filter of three megabytes with every task of the other.
        {"spark.sql.optimizer.runtime.bloomFilter.enabled": "false"},
        # The events of a run are kept for its length: trying which code would make each column of
        # them smallest takes a sixth of the time in which they are gathered.
        {"spark.sql.inMemoryColumnarStorage.compressed": "false"},
    )


@contextmanager
def sized_for(
    spark: SparkSession, events: int | None, *, chosen: Collection[str] = ()
) -> Iterator[None]:
    """Set Spark for a run over this many events while the block runs, then as it was before.

    `chosen` are the keys under the target's `spark.conf`; they are left alone. Settings belong to
    the session: one run at a time, its threads included.
    """
    before: dict[str, str | None] = {}
    try:
        for key, value in settings_for(events, chosen).items():
            # Some servers keep some settings to themselves; the run is the same without.
            with suppress(PySparkException):
                found = spark.conf.get(key, None)
                if key in _LOGS and found is not None:
                    continue
                spark.conf.set(key, value)
                before[key] = found
        yield
    finally:
        for key, found in before.items():
            # A Spark that is lost cannot be set; why it was lost is what the caller must hear.
            with suppress(Exception):
                if found is None:
                    spark.conf.unset(key)
                else:
                    spark.conf.set(key, found)
