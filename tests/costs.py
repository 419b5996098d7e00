"""How many executions and jobs Spark made of something."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from pyspark.sql import SparkSession


@dataclass
class Cost:
    """What was counted once the block is over."""

    executions: int = 0
    """Those that were asked for, without those that a table format starts inside of them."""
    jobs: int = 0
    scans: int = 0
    """Of files with rows, in all executions, those of a table format's own statements too."""
    what: list[str] = field(default_factory=list)


@contextmanager
def counted(spark: SparkSession) -> Iterator[Cost]:
    """Count what Spark does inside."""
    context = spark.sparkContext._jsc.sc()
    status = spark._jsparkSession.sharedState().statusStore()

    def executions() -> dict[int, tuple[int, str]]:
        context.listenerBus().waitUntilEmpty()
        found = status.executionsList()
        every = [found.apply(number) for number in range(found.size())]
        return {it.executionId(): (it.rootExecutionId(), it.description()) for it in every}

    def jobs() -> set[int]:
        found = context.statusStore().jobsList(None)
        return {found.apply(number).jobId() for number in range(found.size())}

    def scans(execution: int) -> int:
        nodes = status.planGraph(execution).allNodes()
        names = [nodes.apply(number).name() for number in range(nodes.size())]
        return sum(name.startswith("Scan parquet") for name in names)

    cost, known, done = Cost(), executions(), jobs()
    yield cost
    new = {key: value for key, value in executions().items() if key not in known}
    cost.what = [what for key, (root, what) in new.items() if root == key]
    cost.executions = len(cost.what)
    cost.jobs = len(jobs() - done)
    cost.scans = sum(map(scans, new))
