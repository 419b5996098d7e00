"""What `windrow diff` found, as people and programs read it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from windrow.operations.diff import Diff, TableDiff
from windrow.report import words
from windrow.report.documents import Document
from windrow.report.text import indent
from windrow.tables.comparison import Comparison, Example, Found


def diff_document(diff: Diff) -> Document:
    """What `windrow diff --json` prints."""
    return {
        "a": diff.a,
        "b": diff.b,
        "where": diff.where,
        "is_equal": diff.is_equal,
        "only_a": list(diff.only_a),
        "only_b": list(diff.only_b),
        "tables": [_table(table) for table in diff.tables],
    }


def _table(table: TableDiff) -> Document:
    found = table.comparison
    return {
        "a": str(table.a),
        "b": str(table.b),
        "is_equal": table.is_equal,
        "problem": table.problem,
        "comparison": None if found is None else _comparison(found),
    }


def _comparison(found: Comparison) -> Document:
    return {
        "key": list(found.key),
        "rows_a": found.rows_a,
        "rows_b": found.rows_b,
        "keys_in_both": found.keys_in_both,
        "keys_only_a": _keys(found.only_a),
        "keys_only_b": _keys(found.only_b),
        "duplicate_keys_a": _keys(found.duplicates_a),
        "duplicate_keys_b": _keys(found.duplicates_b),
        "null_keys_a": found.null_keys_a,
        "null_keys_b": found.null_keys_b,
        "compared": list(found.compared),
        "differing": [
            {
                "column": column,
                "rows": it.count,
                "examples": [{"key": list(row.key), "a": row.a, "b": row.b} for row in it.examples],
            }
            for column, it in found.differing.items()
        ],
        "columns_only_a": list(found.columns_only_a),
        "columns_only_b": list(found.columns_only_b),
        "other_types": [
            {"column": it.column, "a": it.a, "b": it.b, "compared_as": it.compared_as}
            for it in found.other_types
        ],
        "ignored": list(found.ignored),
    }


def _keys(found: Found) -> Document:
    return {"count": found.count, "examples": [list(it.key) for it in found.examples]}


def diff_text(diff: Diff) -> RenderableType:
    """Table by table what differs; one line for a table in which nothing does."""
    parts: list[RenderableType] = []
    for table in diff.tables:
        parts.append(Text(f"{table.a} and {table.b}", "bold"))
        parts += indent(_sentences(table))
    for names, there, not_there in (
        (diff.only_a, diff.a, diff.b),
        (diff.only_b, diff.b, diff.a),
    ):
        if names:
            listed = ", ".join(names)
            parts.append(Text(f"Only in {there}, not in {not_there}: {listed}."))
    differ = [table for table in diff.tables if not table.is_equal]
    if diff.is_equal:
        parts.append(Text("Equal."))
    elif len(diff.tables) > 1:
        count = words.count(len(diff.tables), "table")
        parts.append(Text(f"{len(differ)} of {count} differ."))
    return Group(*parts)


def _sentences(table: TableDiff) -> Iterator[str]:
    found = table.comparison
    if found is None:
        yield f"Not compared: {table.problem}"
        return
    key = ", ".join(found.key)
    rows, in_both = words.count(found.rows_a, "row"), words.count(found.keys_in_both, "key")
    yield f"{rows} in A, {found.rows_b:,} in B; {in_both} in both ({key})."
    yield from _about_keys(found)
    yield from _about_columns(found)
    values = f"the values of {words.count(len(found.compared), 'column')} agree"
    if not found.differing and found.keys_in_both:
        whole = "Nothing differs" if found.is_equal else "In what both have"
        yield f"{whole}: {values}."
    for column, it in found.differing.items():
        yield f"{column} differs in {words.count(it.count, 'row')}."
        for row in it.examples:
            yield f"    {_key(row)}: {_value(row.a)} in A, {_value(row.b)} in B"


def _about_keys(found: Comparison) -> Iterator[str]:
    for side, only in (("A", found.only_a), ("B", found.only_b)):
        if only.count:
            yield f"{words.count(only.count, 'key')} only in {side}{_such_as(only.examples)}."
    for side, twice in (("A", found.duplicates_a), ("B", found.duplicates_b)):
        if twice.count:
            yield (
                f"{words.count(twice.count, 'key')} more than once in {side}"
                f"{_such_as(twice.examples)}; their values were not compared."
            )
    if found.null_keys_a or found.null_keys_b:
        count = words.count(found.null_keys_a, "row")
        yield f"The key, or a part of it, is null in {count} of A and {found.null_keys_b:,} of B."


def _about_columns(found: Comparison) -> Iterator[str]:
    for side, names in (("A", found.columns_only_a), ("B", found.columns_only_b)):
        if names:
            yield f"Only {side} has the {_plural('column', names)} {', '.join(names)}."
    for it in found.other_types:
        how = f"compared as {it.compared_as}" if it.compared_as else "which cannot be compared"
        yield f"{it.column} is {it.a} in A and {it.b} in B, {how}."
    if found.ignored:
        yield f"Ignored: {', '.join(found.ignored)}."


def _plural(noun: str, names: Sequence[str]) -> str:
    return noun if len(names) == 1 else f"{noun}s"


def _such_as(examples: Sequence[Example]) -> str:
    return f", such as {'; '.join(_key(it) for it in examples)}" if examples else ""


def _key(example: Example) -> str:
    return ", ".join(_value(part) for part in example.key)


def _value(text: str | None) -> str:
    return "null" if text is None else text
