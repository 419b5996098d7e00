"""How old tables are to be made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True)
class Age:
    """What years of runs leave of a table."""

    runs: int
    """So many commits it has had."""
    kept: int
    """So many of them it still knows one by one."""
    days: Sequence[date]
    """The days, long past, on which it has files."""
    files_per_day: int
