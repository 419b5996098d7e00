"""What was measured of one piece of work, and the median of several measurements."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any


@dataclass(frozen=True)
class Figures:
    """What one piece of work cost. None: nobody could count it, as Spark's work in another process.

    An execution is a query or command as Spark SQL sees it. A root execution is one that Python
    asked for; table formats start inner ones of their own to carry it out.
    """

    seconds: float
    cpu_seconds: float
    peak_bytes: float
    bytes_written: float
    files_written: float
    root_executions: float | None = None
    executions: float | None = None
    jobs: float | None = None
    tasks: float | None = None
    bytes_read: float | None = None
    files_read: float | None = None
    bytes_shuffled: float | None = None

    def as_dict(self) -> dict[str, float | None]:
        """Every figure by its name."""
        return asdict(self)


def median(measured: Sequence[Figures]) -> Figures:
    """The median of every figure by itself: a slow round need not be the one that read most."""
    found: dict[str, Any] = {}
    for name in (field.name for field in fields(Figures)):
        values = [getattr(it, name) for it in measured]
        found[name] = None if None in values else statistics.median(values)
    return Figures(**found)
