"""What Spark did, from its event log: of a real session, and of a few lines written here."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from bench.anatomy import (
    DELTA_LOG,
    LOG_SETTINGS,
    Place,
    Span,
    counts,
    files_by_table,
    places,
    read_log,
)

SQL = "org.apache.spark.sql.execution.ui"


@contextmanager
def event_log(spark: SparkSession, folder: Path) -> Iterator[Path]:
    """The event log of what a session does in the block, complete when the block is left."""
    context, jvm = spark.sparkContext._jsc.sc(), spark.sparkContext._jvm
    conf = context.getConf().clone()
    for name, value in LOG_SETTINGS.items():
        conf.set(name, value)
    log = jvm.org.apache.spark.scheduler.EventLoggingListener(
        "log", jvm.scala.Option.empty(), jvm.java.net.URI(folder.as_uri()), conf
    )
    log.start()
    context.addSparkListener(log)
    yield folder / "log"
    context.listenerBus().waitUntilEmpty()
    context.removeSparkListener(log)
    log.stop()


def now() -> int:
    return int(time.time() * 1000)


def test_a_query_is_counted_with_its_files_and_its_shuffle(spark: SparkSession, tmp_path: Path):
    stored = str(tmp_path / "rows")
    spark.range(30, numPartitions=3).write.parquet(stored)
    with event_log(spark, tmp_path) as log:
        # Also looks at the files for their columns: a job that belongs to no execution.
        numbers = spark.read.parquet(stored)
        numbers.count()
        time.sleep(0.01)
        began = now()
        rows = numbers.groupBy((F.col("id") % 7).alias("n")).count().collect()
        span = Span(began, now())
    with log.open() as lines:
        read = read_log(lines)

    assert len(rows) == 7
    found = counts(read, span)
    assert found["bytes_read"] > 1000
    assert found["bytes_shuffled"] > 100
    assert (found["root_executions"], found["executions"], found["files_read"]) == (1, 1, 3)
    assert found["tasks"] >= found["jobs"] > 0
    (place,) = places(read, span)
    assert place.place.startswith("collect at bench/test_anatomy.py:")
    assert (place.executions, place.jobs) == (1, found["jobs"])


def start(number: int, root: int | None, time: int, place: str, **plan: object) -> str:
    event = {
        "Event": f"{SQL}.SparkListenerSQLExecutionStart",
        "executionId": number,
        "time": time,
        "description": place,
        "sparkPlanInfo": {"metrics": [], "children": [], **plan},
    }
    return json.dumps(event if root is None else {**event, "rootExecutionId": root})


def end(number: int, time: int) -> str:
    event = {"Event": f"{SQL}.SparkListenerSQLExecutionEnd", "executionId": number, "time": time}
    return json.dumps(event)


def job(time: int, execution: int | None) -> str:
    properties = {} if execution is None else {"spark.sql.execution.id": str(execution)}
    event = {"Event": "SparkListenerJobStart", "Submission Time": time, "Properties": properties}
    return json.dumps(event)


def test_inner_executions_and_their_jobs_belong_to_the_one_that_python_asked_for():
    log = read_log(
        [
            start(1, 1, 1000, "save at /home/me/src/windrow/tables/delta.py:7"),
            start(2, 1, 1200, "$anonfun at Delta.scala:1"),
            job(1300, 2),
            end(2, 1400),
            end(1, 3000),
            start(3, 3, 3500, "save at /home/me/src/windrow/tables/delta.py:7"),
            job(3600, None),
            end(3, 4000),
            start(4, None, 6000, "later at /x.py:1"),
        ]
    )
    span = Span(1000, 5000)
    found = counts(log, span)
    assert (found["root_executions"], found["executions"], found["jobs"]) == (2, 3, 2)
    assert places(log, span) == [
        Place("save at windrow/tables/delta.py:7", executions=2, seconds=2.5, jobs=1)
    ]


def test_a_call_without_its_line_is_told_by_what_it_does():
    lines = [start(1, 1, 1000, "sql at <unknown>:0", nodeName="Execute MergeIntoCommand")]
    (place,) = places(read_log(lines), Span(1000, 1000))
    assert place.place == "sql: Execute MergeIntoCommand"


def test_files_are_counted_by_what_the_plan_says_counts_them_however_deep():
    scan = {
        "metrics": [
            {"name": "number of files read", "accumulatorId": 8, "metricType": "sum"},
            {"name": "scan time", "accumulatorId": 9, "metricType": "timing"},
        ],
        "children": [],
    }
    update = {
        "Event": f"{SQL}.SparkListenerDriverAccumUpdates",
        "executionId": 1,
        "accumUpdates": [[8, 5], [9, 70]],
    }
    log = read_log([start(1, 1, 1000, "x", children=[scan]), json.dumps(update)])
    assert counts(log, Span(1000, 1000))["files_read"] == 5


def test_files_belong_to_the_table_that_a_scan_reads():
    def scan(number: int, text: str, place: str) -> dict[str, object]:
        return {
            "metrics": [
                {"name": "number of files read", "accumulatorId": number},
                {"name": "size of files read", "accumulatorId": number + 1},
            ],
            "simpleString": text,
            "metadata": {"Location": place} if place else {},
            "children": [],
        }

    scans = [
        scan(1, "FileScan", "PreparedDeltaFileIndex(1 paths)[file:/w/derived/users]"),
        scan(3, "FileScan", "DeltaLogFileIndex(1 paths)[file:/w/derived/users/_delta_log/0.json]"),
        scan(5, "IcebergScan(table=local.derived.sessions, branch=null)", ""),
    ]
    update = {
        "Event": f"{SQL}.SparkListenerDriverAccumUpdates",
        "executionId": 1,
        "accumUpdates": [[1, 2], [2, 900], [3, 1], [4, 50], [5, 3], [6, 70]],
    }
    log = read_log([start(1, 1, 1000, "x", children=scans), json.dumps(update)])
    assert files_by_table(log, Span(1000, 1000)) == {
        "users": (2, 900),
        DELTA_LOG: (1, 50),
        "sessions": (3, 70),
    }


def test_a_task_that_failed_before_it_had_figures_is_a_task():
    event = {"Event": "SparkListenerTaskEnd", "Task Info": {"Launch Time": 5}, "Task Metrics": None}
    found = counts(read_log([json.dumps(event)]), Span(5, 5))
    assert (found["tasks"], found["bytes_read"]) == (1, 0)
