"""What keeps a run that lost its lease from writing: asked before and after every commit."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from windrow.errors import LockedError, TableError, first_line

LOOK_AGAIN_AFTER = timedelta(seconds=5)
"""Whoever ends a lease and works on takes longer than that."""

_LOG = logging.getLogger("windrow.lease")


class Fence:
    """True to its lease: called, it raises once the lease is lost or may have lapsed.

    A process that stood still wakes up with its lease lapsed, or ended by someone, and must not
    write a row before it has noticed. So it goes by the clock and, whenever some seconds have gone
    by since, looks whose the lease is.
    """

    def __init__(
        self,
        why_lost: str,
        until: datetime,
        wall_clock: Callable[[], datetime],
        is_ours: Callable[[], bool] = lambda: True,
    ) -> None:
        self._why_lost = why_lost
        self._until = until
        self._wall_clock = wall_clock
        self._is_ours = is_ours
        self._looked_at = wall_clock()
        self._problem: str | None = None

    def __call__(self) -> None:
        now = self._wall_clock()
        if now >= self._until:
            reason = f" Renewing it failed: {self._problem}" if self._problem else ""
            raise LockedError(self._why_lost + reason)
        if now - self._looked_at >= LOOK_AGAIN_AFTER:
            self._looked_at = now
            if not self._is_ours():
                self._until = now
                raise LockedError(self._why_lost)

    @contextmanager
    def renewed_by(self, renew: Callable[[], datetime], *, every_seconds: float) -> Iterator[None]:
        """Renew the lease in the background for as long as the block runs."""
        done = threading.Event()

        def keep() -> None:
            while not done.wait(every_seconds):
                self._renew(renew)

        thread = threading.Thread(target=keep, name="windrow-lease", daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()

    def _renew(self, renew: Callable[[], datetime]) -> None:
        try:
            self._until = renew()
            self._problem = None
        except LockedError as error:
            self._problem = str(error)
            self._until = self._wall_clock()
            _LOG.error("%s", error)
        except TableError as error:
            # Tried again in a third of the lease's time; it outlives two failures.
            self._problem = first_line(error)
            _LOG.warning("Renewing the lease failed, and is tried again: %s", self._problem)
