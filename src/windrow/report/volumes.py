"""What a run would read and write, table by table: for people, and for programs."""

from __future__ import annotations

from typing import Any

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table

from windrow.engine.volumes import Volumes
from windrow.report import words
from windrow.tables import FileSizes


def volumes_text(volumes: Volumes, events: FileSizes | None, table: Table) -> RenderableType:
    """The tables, one a line, in an empty table of three columns."""
    table.add_row("events", _words(events), "")
    for it in volumes.tables:
        table.add_row(it.table, _words(it.reads), _words(it.writes))
    reads = [it for it in (events, *(found.reads for found in volumes.tables)) if it]
    writes = [it.writes for it in volumes.tables if it.writes]
    table.add_row("together", _words(_sum(reads)), _words(_sum(writes)))
    return Padding(table, (1, 0, 1, 2), expand=False)


def volumes_sentence(volumes: Volumes) -> str:
    """What kind of figures these are."""
    if volumes.like is None:
        return (
            "Of its tables it would read about this; what it writes cannot be told, as no run of "
            "this kind went before:"
        )
    return (
        f"Of its tables it would read about this, and write about what run {volumes.like} wrote, "
        "the last of its kind:"
    )


def _sum(sizes: list[FileSizes]) -> FileSizes | None:
    return sum(sizes[1:], sizes[0]) if sizes else None


def _words(sizes: FileSizes | None) -> str:
    return (
        "-" if sizes is None else f"{words.count(sizes.files, 'file')}, {words.size(sizes.bytes)}"
    )


def sizes_document(sizes: FileSizes | None) -> dict[str, int] | None:
    """Files and bytes for programs."""
    return None if sizes is None else {"files": sizes.files, "bytes": sizes.bytes}


def volumes_document(volumes: Volumes | None) -> dict[str, Any] | None:
    """The same for programs."""
    if volumes is None:
        return None
    return {
        "like_run": volumes.like,
        "tables": [
            {
                "table": it.table,
                "reads": sizes_document(it.reads),
                "writes": sizes_document(it.writes),
            }
            for it in volumes.tables
        ],
    }
