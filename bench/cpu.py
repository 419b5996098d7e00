"""What processes use: CPU seconds and the peak of memory, from Linux's /proc."""

from __future__ import annotations

import contextlib
import os
import re
import time
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

_RESET_PEAK = "5"
"""What clear_refs takes for: begin the peak of memory anew."""


def jvm_of(spark: SparkSession) -> Any:
    """The classes of the JVM that a session speaks to."""
    gateway = spark.sparkContext._gateway
    assert gateway is not None
    return gateway.jvm


def cpu_seconds(pid: int) -> float:
    """CPU seconds of a process so far, threads that have ended included, and of this process."""
    # The name, in brackets, may have blanks in it: fields are counted from behind it.
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    user, system = int(fields[11]), int(fields[12])
    return (user + system) / os.sysconf("SC_CLK_TCK") + time.process_time()


def begin_peak(pid: int) -> None:
    """Let the peak of a process begin at what it holds now; where that is not allowed, it grows."""
    with contextlib.suppress(OSError):
        Path(f"/proc/{pid}/clear_refs").write_text(_RESET_PEAK)


def peak_bytes(pid: int) -> int:
    """The most memory that a process held at once since its peak began."""
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"^VmHWM:\s+(\d+) kB$", status, re.MULTILINE)
    return int(found[1]) * 1024 if found else 0
