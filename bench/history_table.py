"""What runs cost after histories of different lengths, as tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bench.figures import Figures
from bench.table import UNKNOWN


@dataclass(frozen=True)
class Measured:
    """A standard run after so many days."""

    days: int
    figures: Figures
    written: dict[str, tuple[int, int]]
    """Table -> files and bytes that are new in its folder."""
    read: dict[str, tuple[int, int]]
    """Table -> files that scans opened, and their size."""


def totals(found: Sequence[Measured]) -> str:
    """What each run cost as a whole, and how many times what it cost after the first history."""
    base = found[0].figures
    lines = [
        "| after | read MB | files | written MB | files | executions | jobs | CPU s | s |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for it in found:
        figures = it.figures
        cells = [
            _times(figures.bytes_read, base.bytes_read, 1_000_000),
            _times(figures.files_read, base.files_read),
            _times(figures.bytes_written, base.bytes_written, 1_000_000),
            _times(figures.files_written, base.files_written),
            str(figures.root_executions),
            str(figures.jobs),
            _times(figures.cpu_seconds, base.cpu_seconds),
            f"{figures.seconds:.1f}",
        ]
        lines.append(f"| {it.days} days | {' | '.join(cells)} |")
    return "\n".join(lines)


def _times(value: float | None, base: float | None, unit: float = 1) -> str:
    """A figure, and how often it holds that of the shortest history."""
    if value is None or base is None:
        return UNKNOWN
    shown = f"{value / unit:.1f}" if unit != 1 or isinstance(value, float) else f"{value}"
    return f"{shown} ({value / base:.2f})" if base else shown


def by_table(found: Sequence[Measured]) -> str:
    """What each run read and wrote of each table."""
    names = sorted({name for it in found for name in (*it.read, *it.written)})
    after = " | ".join(f"{it.days} days" for it in found)
    lines = [
        f"| table | files read, and their kB: {after} | files written, and their kB: {after} |",
        f"|---|{'---:|' * 2 * len(found)}",
    ]
    for name in names:
        cells = [_cell(it.read.get(name)) for it in found]
        cells += [_cell(it.written.get(name)) for it in found]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(found: tuple[int, int] | None) -> str:
    return "" if found is None else f"{found[0]}, {found[1] / 1000:.0f}"
