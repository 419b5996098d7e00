"""Two tables, or all tables of two schemas, compared: what `windrow diff` does."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from windrow.engine.workspace import Workspace
from windrow.errors import TableError, UsageError, did_you_mean
from windrow.operations.sides import Side
from windrow.tables import TableName
from windrow.tables.comparison import Comparison, compare
from windrow.tables.refusals import refusals

_BOOKKEEPING = re.compile(r"windrow_(runs|leases)|snowplow_\w+_(key_days|quarantine_notes)")
"""Tables that tell of runs, not of events: in any two schemas they differ."""


@dataclass(frozen=True)
class TableDiff:
    """Two tables, and what their comparison found or why there was none."""

    a: TableName
    b: TableName
    comparison: Comparison | None
    problem: str | None = None

    @property
    def is_equal(self) -> bool:
        """True when they were compared and nothing differs."""
        return self.comparison is not None and self.comparison.is_equal


@dataclass(frozen=True)
class Diff:
    """What A and B have in common, table by table."""

    a: str
    b: str
    where: str | None
    tables: tuple[TableDiff, ...]
    only_a: tuple[str, ...] = ()
    """Tables that B's schema does not have."""
    only_b: tuple[str, ...] = ()

    @property
    def is_equal(self) -> bool:
        """True when both have the same tables and nothing in them differs."""
        return not (self.only_a or self.only_b) and all(it.is_equal for it in self.tables)


@dataclass(frozen=True)
class Wanted:
    """How tables are compared."""

    key: tuple[str, ...] = ()
    """The key where none is known; of two tables, also in place of the one that is."""
    where: str | None = None
    ignore: tuple[str, ...] = ()
    tolerance: float = 0.0
    examples: int = 3


def keys_of(ws: Workspace) -> dict[str, tuple[str, ...]]:
    """Table -> the columns that tell its rows apart, of a package's tables and manifests."""
    session = (ws.foundation.recorded_session,)
    return {
        ws.manifest.name: ("model",),
        ws.lifecycle.name: session,
        ws.quarantine.name: session,
        **{member.full_name: member.key for member in ws.stored_models},
    }


def diff(a: Side, b: Side, wanted: Wanted, keys: Mapping[str, Sequence[str]]) -> Diff:
    """Compare two tables or two schemas; `keys`: table -> the key of the model that makes it."""
    if (a.table is None) != (b.table is None):
        one, other = (a, b) if a.table is None else (b, a)
        raise UsageError(
            f"'{one.text}' is a schema and '{other.text}' a table: expected two of a kind."
        )
    if a.table is not None and b.table is not None:
        tables = [(a.named(a.table), b.named(b.table))]
        for side, table in zip((a, b), tables[0], strict=True):
            if not side.tables.exists(table):
                raise UsageError(_why_missing(side, table))
        compared = _compare(a, b, tables[0], wanted, wanted.key or _key(a, b, tables[0], keys))
        return Diff(a.text, b.text, wanted.where, (compared,))

    ours, theirs = (_tables_in(side) for side in (a, b))
    common = [name for name in ours if name in theirs]
    if not common:
        raise UsageError(
            f"The schemas '{a.text}' and '{b.text}' have no table in common: the former has "
            f"{_some(ours)}, the latter {_some(theirs)}."
        )
    return Diff(
        a.text,
        b.text,
        wanted.where,
        tuple(_of_schemas(a, b, name, wanted, keys) for name in common),
        only_a=tuple(name for name in ours if name not in theirs),
        only_b=tuple(name for name in theirs if name not in ours),
    )


def _of_schemas(
    a: Side, b: Side, name: str, wanted: Wanted, keys: Mapping[str, Sequence[str]]
) -> TableDiff:
    """One table of two schemas; what stands in the way of comparing it does not stop the others."""
    tables = (a.named(name), b.named(name))
    try:
        return _compare(a, b, tables, wanted, _key(a, b, tables, keys) or wanted.key, is_lax=True)
    except (TableError, UsageError) as error:
        return TableDiff(*tables, None, str(error))


def _compare(
    a: Side,
    b: Side,
    tables: tuple[TableName, TableName],
    wanted: Wanted,
    key: Sequence[str],
    *,
    is_lax: bool = False,
) -> TableDiff:
    """`is_lax`: not every table has every column that is to be ignored."""
    if not key:
        raise UsageError(
            f"The key of {tables[0]} is not known: neither the project has a model of that name "
            "nor does the table tell. Name its columns with --key."
        )
    rows = a.tables.read(tables[0]), b.tables.read(tables[1])
    ignore: Collection[str] = wanted.ignore
    if is_lax:
        there = {name.lower() for side in rows for name in side.columns}
        ignore = [name for name in wanted.ignore if name.lower() in there]
    with refusals(tables[0], "compare"):
        found = compare(
            *rows,
            key,
            where=wanted.where,
            ignore=ignore,
            tolerance=wanted.tolerance,
            examples=wanted.examples,
            names=(_called(a, tables[0]), _called(b, tables[1])),
        )
    return TableDiff(*tables, found)


def _key(
    a: Side, b: Side, tables: tuple[TableName, TableName], keys: Mapping[str, Sequence[str]]
) -> Sequence[str]:
    """The key of the model that makes one of the tables, or else what a table notes of itself."""
    ways: list[Callable[[], Sequence[str]]] = [
        *(lambda table=table: keys.get(table.name, ()) for table in tables),
        lambda: a.tables.note(tables[0]).key,
        lambda: b.tables.note(tables[1]).key,
    ]
    return next((found for way in ways if (found := way())), ())


def _tables_in(side: Side) -> list[str]:
    found = side.tables.names(side.schema)
    if not found:
        raise UsageError(
            f"'{side.text}' has no table: there is no such schema, or it is empty. Expected a "
            "schema, or schema.table."
        )
    return [name for name in found if not _BOOKKEEPING.fullmatch(name)]


def _why_missing(side: Side, table: TableName) -> str:
    try:
        known = side.tables.names(table.schema)
    except TableError:
        known = []
    if not known:
        return f"There is no table {_called(side, table)}: its schema has none."
    return f"There is no table {_called(side, table)}.{did_you_mean(table.name, known)}"


def _called(side: Side, table: TableName) -> str:
    return side.text if side.table is not None else f"{side.text}.{table.name}"


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(names[:3]) or "none"
    return f"{shown}, …" if len(names) > 3 else shown
