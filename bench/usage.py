"""What a shell command and all that it started used.

    python usage.py FILE COMMAND

runs the command and writes the figures to the file. A process of its own does this: it takes in
what the command leaves running when it ends, such as a JVM that notices a little later, and so sees
the CPU seconds of that, too.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

_TAKE_IN_ORPHANS = 36
"""PR_SET_CHILD_SUBREAPER of Linux's prctl."""
_SECONDS_TO_END = 20
"""For what a command leaves behind; a server that it started must not hold us up."""


def run(report: Path, command: str) -> int:
    """Run the command to its end, and write down what it used; gives its exit code."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_TAKE_IN_ORPHANS, 1, 0, 0, 0)
    began = time.monotonic()
    exit_code = subprocess.run(command, shell=True).returncode
    seconds = time.monotonic() - began
    _wait_for_orphans()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    figures = {
        "seconds": seconds,
        "cpu_seconds": used.ru_utime + used.ru_stime,
        "peak_bytes": used.ru_maxrss * 1024,
    }
    report.write_text(json.dumps(figures))
    return exit_code


def _wait_for_orphans() -> None:
    signal.signal(signal.SIGALRM, _give_up)
    signal.alarm(_SECONDS_TO_END)
    with contextlib.suppress(ChildProcessError, TimeoutError):
        while True:
            os.wait()


def _give_up(*_: object) -> None:
    raise TimeoutError


if __name__ == "__main__":
    sys.exit(run(Path(sys.argv[1]), sys.argv[2]))
