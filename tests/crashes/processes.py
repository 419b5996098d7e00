"""windrow in a process of its own that is killed, or paused, at a change of a table."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml

from crashes import kills
from crashes.kills import Moment
from website import Site

PATIENCE_SECONDS = 300
QUICK = {
    "spark.sql.shuffle.partitions": "2",
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.driver.memory": "1g",
}


def for_processes(site: Site) -> Site:
    """The site with settings that make a Spark of its own quick with a handful of rows."""
    path = site.folder / "windrow.yml"
    document = yaml.safe_load(path.read_text())
    for target in document["targets"].values():
        target["spark"] = {"master": "local[2]", "conf": QUICK}
    path.write_text(yaml.safe_dump(document))
    return site


@contextmanager
def stopped(site: Site, what: str, moment: Moment, *command: str) -> Iterator[subprocess.Popen]:
    """A process that got its signal at the moment; whatever is left of it ends with the block."""
    log = site.folder / f"{what}.log"
    where = ["--number", str(moment.number), "--table", moment.table, "--log", str(log)]
    after = ["--after"] if moment.is_after else []
    windrow = ["--", *command, "--project-dir", str(site.folder)]
    process = subprocess.Popen(
        [sys.executable, kills.__file__, *where, *after, what, *windrow],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        until(lambda: log.exists() or process.poll() is not None)
        assert log.exists(), f"nothing was stopped {moment}: {process.communicate()}"
        yield process
    finally:
        process.kill()
        process.communicate()
        if log.exists():
            # The JVM ends by itself when the process that started it is gone.
            jvm = int(log.read_text().split()[0])
            until(lambda: not is_running(jvm))


def killed(site: Site, moment: Moment, *command: str) -> None:
    """Run a command of windrow in a process that is killed at the moment, and its JVM with it."""
    with stopped(site, "kill", moment, *command) as process:
        process.communicate(timeout=PATIENCE_SECONDS)
        assert process.returncode == -signal.SIGKILL


def killed_later(site: Site, seconds: float, *command: str) -> bool:
    """Kill a process so many seconds after its Spark is there; False if it had ended by then."""
    process = subprocess.Popen(
        [sys.executable, "-m", "windrow", *command, "--project-dir", str(site.folder)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    until(lambda: "version" in process.stdout.readline())
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    time.sleep(seconds)
    process.kill()
    process.communicate()
    until(lambda: not any(is_running(int(child)) for child in children))
    return process.returncode == -signal.SIGKILL


@contextmanager
def paused(site: Site, moment: Moment, *command: str) -> Iterator[subprocess.Popen]:
    """A process that stands still, all its threads, since the moment."""
    with stopped(site, "pause", moment, *command) as process:
        until(lambda: _state(process.pid) == "T")
        yield process


def resumed(process: subprocess.Popen) -> tuple[int, str]:
    """Let it go on to its end; gives its exit code and what it said."""
    os.kill(process.pid, signal.SIGCONT)
    said = "".join(process.communicate(timeout=PATIENCE_SECONDS))
    return process.returncode, said


def until(is_so: Callable[[], bool]) -> None:
    """Wait for something, but not for ever."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not is_so():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)


def is_running(pid: int) -> bool:
    """True while there is a process of this number that has not ended."""
    return _state(pid) not in ("", "Z")


def _state(pid: int) -> str:
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return ""
    return status.rpartition(")")[2].split()[0]
