"""SIGTERM ends a command as Ctrl-C does: what it has begun is taken back, and it says so."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from windrow.spark.jvm import can_interrupt, interrupt


class Terminated(KeyboardInterrupt):
    """Somebody asked the process to end."""


@contextmanager
def terminable() -> Iterator[None]:
    """Inside, SIGTERM raises Terminated."""
    # Python lets no other thread do this.
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def handle(number: int, frame: FrameType | None) -> None:
        if not can_interrupt(number, frame):
            return
        # Once is enough: a second one must not stop the way back.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        interrupt(Terminated)

    before = signal.signal(signal.SIGTERM, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL if before is None else before)
