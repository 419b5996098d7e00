"""What Spark did in a stretch of time, read from its event log: executions, jobs, tasks, bytes."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

LOG_SETTINGS = {
    "spark.eventLog.enabled": "true",
    # One plain file, which can be read line by line when Spark has stopped.
    "spark.eventLog.rolling.enabled": "false",
    "spark.eventLog.compress": "false",
}

_FILES_READ = {"number of files read", "number of result data files"}
"""What Spark's own scans call it, and what Iceberg's do."""
_FILE_BYTES = {"size of files read", "total data file size (bytes)"}
"""Of whole files, of which a scan reads the columns that it needs."""
DELTA_LOG = "logs of Delta"
_FOLDER = re.compile(r"file:(/[^\],\s]+)")
_ICEBERG = re.compile(r"IcebergScan\(table=([^,\s]+)")


@dataclass(frozen=True)
class Span:
    """A stretch of time, in milliseconds since 1970, as Spark's log has them."""

    first: int
    last: int

    def __contains__(self, moment: int) -> bool:
        return self.first <= moment <= self.last


@dataclass
class Execution:
    """A query or command of Spark SQL, and the one that Python asked for when it was started."""

    root: int
    began: int
    place: str
    ended: int | None = None
    files_read: Counter[str] = field(default_factory=Counter)
    """Table -> data files that scans opened."""
    file_bytes: Counter[str] = field(default_factory=Counter)
    """Table -> the size of these files."""


@dataclass(frozen=True)
class Job:
    """A job, and the execution that it belongs to, if any."""

    began: int
    execution: int | None


@dataclass(frozen=True)
class Task:
    """A task and what it moved."""

    began: int
    bytes_read: int
    bytes_shuffled: int


@dataclass(frozen=True)
class Log:
    """All that a Spark session did."""

    executions: dict[int, Execution] = field(default_factory=dict)
    jobs: list[Job] = field(default_factory=list)
    tasks: list[Task] = field(default_factory=list)


@dataclass(frozen=True)
class Place:
    """A line of code, and what the root executions cost that it asked for."""

    place: str
    executions: int
    seconds: float
    jobs: int


def read_log(lines: Iterable[str]) -> Log:
    """The executions, jobs and tasks of an event log."""
    log = Log()
    counters: dict[int, tuple[str, bool]] = {}
    """Metric -> the table whose files it counts, or of whose files it has the size.

    Plans name the metrics before their values come.
    """
    for line in lines:
        event = json.loads(line)
        kind = event["Event"].rsplit(".", 1)[-1]
        if kind == "SparkListenerSQLExecutionStart":
            log.executions[event["executionId"]] = _execution(event)
        elif kind == "SparkListenerSQLExecutionEnd":
            log.executions[event["executionId"]].ended = event["time"]
        elif kind == "SparkListenerJobStart":
            log.jobs.append(_job(event))
        elif kind == "SparkListenerTaskEnd":
            log.tasks.append(_task(event))
        elif kind == "SparkListenerDriverAccumUpdates":
            _add_files(log.executions[event["executionId"]], event["accumUpdates"], counters)
        if "sparkPlanInfo" in event:
            counters.update(_file_counters(event["sparkPlanInfo"]))
    return log


def counts(log: Log, span: Span) -> dict[str, int]:
    """The figures that the log has of a stretch of time, by the names that Figures give them."""
    executions = [it for it in log.executions.values() if it.began in span]
    tasks = [it for it in log.tasks if it.began in span]
    return {
        "root_executions": len({it.root for it in executions}),
        "executions": len(executions),
        "jobs": sum(it.began in span for it in log.jobs),
        "tasks": len(tasks),
        "bytes_read": sum(it.bytes_read for it in tasks),
        "files_read": sum(it.files_read.total() for it in executions),
        "bytes_shuffled": sum(it.bytes_shuffled for it in tasks),
    }


def files_by_table(log: Log, span: Span) -> dict[str, tuple[int, int]]:
    """Table -> the data files that scans of it opened in a stretch of time, and their size."""
    files, sizes = Counter[str](), Counter[str]()
    for it in log.executions.values():
        if it.began in span:
            files += it.files_read
            sizes += it.file_bytes
    return {table: (files[table], sizes[table]) for table in sorted(files)}


def places(log: Log, span: Span) -> list[Place]:
    """Where the root executions of a stretch of time come from, those that took longest first."""
    roots = {n: it for n, it in log.executions.items() if it.root == n and it.began in span}
    jobs = Counter(
        log.executions[it.execution].root for it in log.jobs if it.execution in log.executions
    )
    by_place: dict[str, list[int]] = {}
    for number, it in roots.items():
        by_place.setdefault(it.place, []).append(number)
    found = [
        Place(
            place,
            executions=len(numbers),
            seconds=sum((roots[n].ended or span.last) - roots[n].began for n in numbers) / 1000,
            jobs=sum(jobs[n] for n in numbers),
        )
        for place, numbers in by_place.items()
    ]
    return sorted(found, key=lambda it: -it.seconds)


def _execution(event: Mapping[str, Any]) -> Execution:
    root = event.get("rootExecutionId")
    return Execution(
        root=event["executionId"] if root is None else root,
        began=event["time"],
        place=_place(event["description"], event["sparkPlanInfo"].get("nodeName", "")),
    )


def _place(description: str, node: str) -> str:
    """`collect at windrow/engine/run.py:12`, wherever this project lies.

    Most calls reach Spark without the line that they come from; then what is done says more, such
    as `sql: Execute MergeIntoCommand`.
    """
    described = " ".join(description.split())
    if ".py:" in described:
        return re.sub(r"/\S*/(?=(windrow|bench)/)", "", described)
    return f"{described.partition(' at ')[0]}: {node}" if node else described


def _job(event: Mapping[str, Any]) -> Job:
    execution = (event.get("Properties") or {}).get("spark.sql.execution.id")
    return Job(event["Submission Time"], None if execution is None else int(execution))


def _task(event: Mapping[str, Any]) -> Task:
    # A task that failed early has no metrics.
    metrics = event.get("Task Metrics") or {}
    return Task(
        began=event["Task Info"]["Launch Time"],
        bytes_read=metrics.get("Input Metrics", {}).get("Bytes Read", 0),
        bytes_shuffled=metrics.get("Shuffle Write Metrics", {}).get("Shuffle Bytes Written", 0),
    )


def _add_files(
    execution: Execution,
    updates: Iterable[tuple[int, int]],
    counters: Mapping[int, tuple[str, bool]],
) -> None:
    for metric, value in updates:
        if metric in counters:
            table, is_size = counters[metric]
            (execution.file_bytes if is_size else execution.files_read)[table] += value


def _file_counters(plan: Mapping[str, Any]) -> Iterator[tuple[int, tuple[str, bool]]]:
    for metric in plan.get("metrics", ()):
        if metric["name"] in _FILES_READ | _FILE_BYTES:
            yield metric["accumulatorId"], (_table(plan), metric["name"] in _FILE_BYTES)
    for child in plan.get("children", ()):
        yield from _file_counters(child)


def _table(scan: Mapping[str, Any]) -> str:
    """The table that a scan reads, as far as its plan tells."""
    found = _FOLDER.search(scan.get("metadata", {}).get("Location", ""))
    if found:
        folder = found[1].rstrip("/").rsplit("/", 1)[-1]
        return DELTA_LOG if "/_delta_log" in found[1] else folder
    found = _ICEBERG.search(scan.get("simpleString", ""))
    return found[1].rsplit(".", 1)[-1] if found else "others"
