"""Which process holds a lease, and whether it is still there."""

from __future__ import annotations

import os
import platform
import uuid
from dataclasses import dataclass
from pathlib import Path

from windrow.state.records import stored_as


@dataclass(frozen=True)
class Holder:
    """A process that holds a lease.

    Host and number are not enough: in containers every process may be number 1 of the same host.
    """

    host: str = stored_as("string", "Host on which the process runs.")
    pid: int = stored_as("bigint", "Number of the process on its host.")
    process: str = stored_as(
        "string",
        "When the process began, as its host counts; empty where that cannot be told.",
        default="",
    )
    token: str = stored_as(
        "string", "Random digits that no other holder has, of the same process either.", default=""
    )

    @staticmethod
    def this_process() -> Holder:
        """A holder of its own for whoever asks: two of one process are told apart too."""
        pid = os.getpid()
        return Holder(platform.node(), pid, _began(pid) or "", uuid.uuid4().hex)

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}"

    def is_gone(self, *, seen_from: Holder) -> bool:
        """True when the process is known to have ended: only its own host can tell."""
        if self.host != seen_from.host:
            return False
        if self.process and (began := _began(self.pid)) is not None:
            return began != self.process
        return not _is_there(self.pid)


def _began(pid: int) -> str | None:
    """The start time of a process, in ticks since the host was started; None if unknown."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    return text.rpartition(")")[2].split()[19]


def _is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
