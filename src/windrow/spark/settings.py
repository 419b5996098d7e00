"""What a target says of Spark -> every setting of a session that we start ourselves."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from windrow.spark.jars import FORMATS, SHIPPED_WITH_SPARK, ivy_home
from windrow.spark.java_flags import with_java_flags
from windrow.spark.surroundings import SUBMIT_ARGUMENTS

# Every sort, join and aggregate of a task takes memory by the page. Spark's own size is 64 MB here:
# filled with zeros for some hundred rows, and copied about by the garbage collector. A task has
# 8,192 pages at most, so memory beyond what we give ourselves keeps Spark's choice.
_SMALL_PAGES = {"spark.buffer.pageSize": "2m"}
_MEMORY = frozenset({"spark.driver.memory", "spark.memory.offHeap.size"})
# Else Java begins with a 64th of the machine's, and collects garbage every 0.2 s of a small run. It
# does not start where it may not have as much, so we say that only where nobody else has a say.
_HEAP_AT_ONCE = "-Xms1g"


class SparkSettings(Protocol):
    """What a target says of Spark (`targets.<name>.spark` in windrow.yml)."""

    @property
    def master(self) -> str | None: ...
    @property
    def remote(self) -> str | None: ...
    @property
    def conf(self) -> Mapping[str, str]: ...
    @property
    def jars(self) -> tuple[str, ...]: ...


def is_local(master: str) -> bool:
    """Whether the executors live in the driver: `local`, `local[*]`, `local[2]`."""
    return master == "local" or master.startswith("local[")


def session_conf(
    settings: SparkSettings,
    app_name: str,
    formats: Sequence[str],
    scratch: Path,
    *,
    is_brief: bool = False,
) -> dict[str, str]:
    """Every Spark setting of a session that we start ourselves; the user's come last and win.

    `is_brief`: it is for the work of some seconds.
    """
    master = settings.conf.get("spark.master") or settings.master or "local[*]"
    conf = {
        "spark.app.name": app_name,
        "spark.master": master,
        "spark.ui.showConsoleProgress": "false",
        # Else every call that makes a column asks the JVM three times more, for error messages.
        "spark.python.sql.dataFrameDebugging.enabled": "false",
        # Else each column carries a stack trace, which every task is sent and has to unpack.
        "spark.sql.dataFrameQueryContext.enabled": "false",
        # Rows that lie session by session need not be sent about to be joined by session and more.
        "spark.sql.requireAllClusterKeysForCoPartition": "false",
        # A task has thousands of sessions; by default it begins to sort them after 128.
        "spark.sql.objectHashAggregate.sortBased.fallbackThreshold": "20000",
    }
    is_memory_ours = not _MEMORY & settings.conf.keys() and not _is_memory_given()
    if is_local(master):
        conf |= _local_conf(scratch)
        conf |= _SMALL_PAGES if is_memory_ours else {}
    for name in formats:
        conf |= FORMATS[name].conf
    conf |= settings.conf
    if is_local(master):
        heap = _HEAP_AT_ONCE if is_memory_ours else ""
        conf = with_java_flags(conf, is_brief=is_brief, heap=heap)
    conf["spark.sql.session.timeZone"] = "UTC"

    _append(conf, "spark.sql.extensions", [FORMATS[name].extension for name in formats])
    if settings.jars:
        _append(conf, "spark.jars", settings.jars)
    else:
        _append_packages(conf, formats)
    return conf


def _local_conf(scratch: Path) -> dict[str, str]:
    """What makes small runs quick on one machine, and leaves nothing lying about."""
    return {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": f"{_driver_memory_gib()}g",
        "spark.ui.enabled": "false",
        # Nobody sees the plans, which Spark puts into words for a page of that user interface.
        "spark.sql.ui.explainMode": "simple",
        "spark.sql.maxPlanStringLength": "100",
        "spark.sql.shuffle.partitions": str(max(4, os.cpu_count() or 1)),
        "spark.databricks.delta.snapshotPartitions": "1",
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.warehouse.dir": str(scratch.absolute() / "spark-warehouse"),
        "spark.jars.ivy": str(ivy_home(scratch)),
    }


def _is_memory_given() -> bool:
    """Whether the environment says how much memory the driver has, which then is the last word."""
    given = os.environ.get(SUBMIT_ARGUMENTS, "")
    return "--driver-memory" in given or any(key in given for key in _MEMORY)


def _driver_memory_gib() -> int:
    """Half of what this machine or container has, but 1 to 4 GiB."""
    have = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    container_limit = Path("/sys/fs/cgroup/memory.max")
    if container_limit.exists() and (text := container_limit.read_text().strip()).isdigit():
        have = min(have, int(text))
    return max(1, min(4, have // 2**30 // 2))


def _append(conf: dict[str, str], key: str, values: Sequence[str]) -> None:
    given = [value.strip() for value in conf.get(key, "").split(",") if value.strip()]
    conf[key] = ",".join(dict.fromkeys([*given, *values]))


def _append_packages(conf: dict[str, str], formats: Sequence[str]) -> None:
    given = conf.get("spark.jars.packages", "")
    ours = [FORMATS[name] for name in formats if FORMATS[name].artifact not in given]
    _append(conf, "spark.jars.packages", [jars.coordinates for jars in ours])
    _append(conf, "spark.jars.excludes", SHIPPED_WITH_SPARK)
