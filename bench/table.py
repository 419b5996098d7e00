"""Figures as a table that is read in a terminal and pasted into a page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bench.anatomy import Place
from bench.figures import Figures

UNKNOWN = "-"
MEGABYTE = 1_000_000
LABEL_WIDTH = 50
"""Of a command there is shown so much; figures shall stay in sight."""


@dataclass(frozen=True)
class Row:
    """A line of the table: what was measured, and the floor's figures if it is not the floor."""

    label: str
    figures: Figures
    floor: Figures | None = None


def table(rows: Sequence[Row], *, than: str = "floor") -> str:
    """The rows as Markdown, every column as wide as its widest cell; `than`: what a floor is."""
    cells = [[title.format(than=than) for title, _ in _COLUMNS]]
    cells += [[cell(row) for _, cell in _COLUMNS] for row in rows]
    widths = [max(len(line[n]) for line in cells) for n in range(len(_COLUMNS))]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    padded = [
        [line[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(line[1:], widths[1:], strict=True))]
        for line in cells
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in [padded[0], rule, *padded[1:]])


def detail(title: str, places: Sequence[Place]) -> str:
    """Where the executions of a run come from, a line each."""
    total = sum(it.executions for it in places)
    lines = [
        f"{it.executions:4d} executions {it.seconds:7.1f} s {it.jobs:4d} jobs  {it.place[:120]}"
        for it in places
    ]
    return "\n".join([f"{title}: {total} executions, by where they come from", *lines])


def _label(row: Row) -> str:
    # A stroke would end the cell.
    text = row.label.replace("|", "/")
    return text if len(text) <= LABEL_WIDTH else f"{text[: LABEL_WIDTH - 1]}…"


def _ratio(row: Row) -> str:
    if row.floor is None:
        return ""
    return f"{row.figures.seconds / row.floor.seconds:.2f}"


def _cpu_ratio(row: Row) -> str:
    if row.floor is None or not row.floor.cpu_seconds:
        return ""
    return f"{row.figures.cpu_seconds / row.floor.cpu_seconds:.2f}"


def _number(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.0f}"


def _megabytes(value: float | None, digits: int = 1) -> str:
    return UNKNOWN if value is None else f"{value / MEGABYTE:.{digits}f}"


_COLUMNS: Sequence[tuple[str, Callable[[Row], str]]] = (
    ("step", _label),
    ("s", lambda row: f"{row.figures.seconds:.1f}"),
    ("x {than}", _ratio),
    ("CPU s", lambda row: f"{row.figures.cpu_seconds:.1f}"),
    ("x {than}", _cpu_ratio),
    ("executions", lambda row: _number(row.figures.root_executions)),
    ("with inner", lambda row: _number(row.figures.executions)),
    ("jobs", lambda row: _number(row.figures.jobs)),
    ("tasks", lambda row: _number(row.figures.tasks)),
    ("read MB", lambda row: _megabytes(row.figures.bytes_read)),
    ("files", lambda row: _number(row.figures.files_read)),
    ("written MB", lambda row: _megabytes(row.figures.bytes_written)),
    ("files", lambda row: _number(row.figures.files_written)),
    ("shuffled MB", lambda row: _megabytes(row.figures.bytes_shuffled)),
    ("peak MB", lambda row: _megabytes(row.figures.peak_bytes, 0)),
)
