"""A table as reference pages show it: what a row is, key, layout, columns with their rules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from windrow.columns.rules import rule_of
from windrow.tables import Columns


@dataclass(frozen=True)
class Table:
    """A table as a reference page shows it."""

    name: str
    description: str
    grain: str
    key: tuple[str, ...]
    columns: Columns
    date: str | None = None
    partition: Sequence[str] = ()
    is_rebuilt: bool = False
    is_state: bool = False
    options: Sequence[str] = ()
    """The options without which the table is not made."""


def page(intro: str, tables: Iterable[Table]) -> str:
    """A page of tables."""
    return "\n".join([intro, *(_section(table) for table in tables)])


def _section(table: Table) -> str:
    facts = {
        "Grain": table.grain,
        "Key": code(table.key),
        "Date column": code([table.date]) if table.date else "",
        "Layout": f"partitioned by {code(table.partition)}" if table.partition else "",
        "Made": "anew in every run" if table.is_rebuilt else "",
        "Lies": "with the manifests" if table.is_state else "",
        "Only with": code(table.options),
    }
    rows = [
        f"| `{name}` | `{type_}` | {rule_of(type_).replace('|', chr(92) + '|')} |"
        for name, type_ in table.columns.items()
    ]
    return "\n".join(
        [
            f"## {code([table.name])}\n",
            f"{table.description}\n",
            *(f"- {name}: {text}" for name, text in facts.items() if text),
            "",
            "| column | type | rule |",
            "|---|---|---|",
            *rows,
            "",
        ]
    )


def code(names: Iterable[str]) -> str:
    """Names as code, side by side."""
    return ", ".join(f"`{name}`" for name in names)
