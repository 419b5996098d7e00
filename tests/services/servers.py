"""Real servers on the loopback address, from PySpark's own distribution, on free ports."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pyspark

from windrow.spark.jars import FORMATS

SPARK_HOME = Path(pyspark.__file__).parent
PATIENCE_SECONDS = 120
# Java that lives for some minutes, and little data. With one compiler alone it would have room for
# 48 MB of code, which Delta and s3a together fill.
QUICK = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=200m -XX:+UseSerialGC"


@contextmanager
def connect_server(folder: Path) -> Iterator[str]:
    """A Spark Connect server with both table formats; its address."""
    port = free_port()
    conf = {
        "spark.connect.grpc.binding.port": str(port),
        "spark.jars.packages": ",".join(jars.coordinates for jars in FORMATS.values()),
        "spark.sql.extensions": ",".join(jars.extension for jars in FORMATS.values()),
        **FORMATS["delta"].conf,
        "spark.master": "local[2]",
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": QUICK,
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.databricks.delta.snapshotPartitions": "2",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.warehouse.dir": str(folder / "spark-warehouse"),
        # What is settled in a run lies here then, and not in executors.
        "spark.checkpoint.dir": str(folder / "checkpoints"),
        "spark.cleaner.referenceTracking.cleanCheckpoints": "true",
    }
    command = [str(SPARK_HOME / "bin" / "spark-submit")]
    command += ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer"]
    command += [part for key, value in conf.items() for part in ("--conf", f"{key}={value}")]
    with running(command, folder / "connect.log", port):
        yield f"sc://127.0.0.1:{port}"


@dataclass(frozen=True)
class Cluster:
    """A standalone cluster: where its master is, and its workers' processes."""

    master: str
    workers: tuple[subprocess.Popen[bytes], ...]


@contextmanager
def standalone_cluster(folder: Path, workers: int = 2) -> Iterator[Cluster]:
    """A master and workers of one core each, which run executors in processes of their own."""
    port = free_port()
    own = ["--host", "127.0.0.1", "--webui-port", "0"]
    with ExitStack() as stack:
        stack.enter_context(
            running(
                [*_class("master.Master"), *own, "--port", str(port)], folder / "master.log", port
            )
        )
        master = f"spark://127.0.0.1:{port}"
        started = []
        for number in range(workers):
            theirs = free_port()
            room = ["--cores", "1", "--memory", "1g", "--port", str(theirs)]
            place = ["--work-dir", str(folder / f"worker{number}")]
            command = [*_class("worker.Worker"), *own, *room, *place, master]
            log = folder / f"worker{number}.log"
            started.append(stack.enter_context(running(command, log, theirs)))
        yield Cluster(master, tuple(started))


def executors(worker: subprocess.Popen[bytes]) -> list[int]:
    """The processes of the executors that a worker has started."""
    children = Path(f"/proc/{worker.pid}/task").glob("*/children")
    return [int(pid) for found in children for pid in found.read_text().split()]


def _class(name: str) -> list[str]:
    return [str(SPARK_HOME / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}"]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running(
    command: Sequence[str],
    log: Path,
    port: int,
    user: str | None = None,
    env: Mapping[str, str] | None = None,
) -> Iterator[subprocess.Popen[bytes]]:
    """A server until the end of the block, from when it answers; what it starts ends with it."""
    surroundings = {
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_JAVA_OPTS": QUICK,
    }
    with log.open("wb") as out:
        process = subprocess.Popen(
            command,
            stdout=out,
            stderr=subprocess.STDOUT,
            env={**os.environ, **surroundings, **(env or {})},
            start_new_session=True,
            user=user,
            cwd=log.parent,
        )
    try:
        _wait_for(process, port, log)
        yield process
    finally:
        kill(process)


def _wait_for(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end and process.poll() is None:
        with socket.socket() as knock:
            if knock.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    raise AssertionError(f"it does not answer: {log.read_text()[-2000:]}")


def kill(process: subprocess.Popen[bytes]) -> None:
    """At once, and with all it has started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
