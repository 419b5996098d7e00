"""One process after the other where several would write the same files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows has none.
    fcntl = None  # type: ignore[assignment]


@contextmanager
def one_at_a_time(folder: Path, waits: Callable[[], None]) -> Iterator[None]:
    """Run the block while no other process has it; `waits` is told before that takes its time.

    Where a folder cannot be locked, as some shares cannot, the block runs all the same. Whoever is
    killed lets go.
    """
    with ExitStack() as held:
        if fcntl is not None:
            with suppress(OSError):
                folder.mkdir(parents=True, exist_ok=True)
                file = held.enter_context((folder / "windrow.lock").open("a"))
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    waits()
                    fcntl.flock(file, fcntl.LOCK_EX)
        yield
