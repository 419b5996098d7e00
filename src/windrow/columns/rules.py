"""A column's type together with its rule: one sentence on what its values are.

    columns = {"visitors": column("bigint", "Number of different visitors on that day.")}

The rule becomes the column's comment in the table and its line in the reference pages.
"""

from __future__ import annotations

from collections.abc import Mapping


class ColumnType(str):
    """A Spark SQL type that carries its column's rule. To everything else it is plain text."""

    rule: str

    def __new__(cls, type_: str, rule: str = "") -> ColumnType:
        self = super().__new__(cls, type_)
        self.rule = rule
        return self


def column(type_: str, rule: str) -> ColumnType:
    """A column's type and, in one sentence, its rule."""
    return ColumnType(type_, rule)


def rule_of(type_: str) -> str:
    """The rule that a column's type carries; empty when it carries none."""
    return type_.rule if isinstance(type_, ColumnType) else ""


def with_note(columns: Mapping[str, str], note: str, *, prefix: str = "") -> dict[str, str]:
    """The columns, perhaps under a prefix, with a note behind each rule.

    Title of the page. -> Title of the page; from the session's first page event.
    """
    return {
        prefix + name: column(type_, f"{rule_of(type_).removesuffix('.')}; {note}.")
        for name, type_ in columns.items()
    }
