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
    files_read: int = 0


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
    counters: set[int] = set()
    """The metrics that count files: plans name them before their values come."""
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
            found = [n for metric, n in event["accumUpdates"] if metric in counters]
            log.executions[event["executionId"]].files_read += sum(found)
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
        "files_read": sum(it.files_read for it in executions),
        "bytes_shuffled": sum(it.bytes_shuffled for it in tasks),
    }


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


def _file_counters(plan: Mapping[str, Any]) -> Iterator[int]:
    for metric in plan.get("metrics", ()):
        if metric["name"] in _FILES_READ:
            yield metric["accumulatorId"]
    for child in plan.get("children", ()):
        yield from _file_counters(child)
