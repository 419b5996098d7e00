"""A table that someone else made, held against what windrow would make in its place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from windrow.engine.workspace import Workspace
from windrow.errors import TableError
from windrow.models.extras import names as extra_columns
from windrow.models.model import UNDECLARED, Model
from windrow.state.manifest import MANIFEST
from windrow.tables import Columns, Layout, TableName
from windrow.tables.sql import quoted

_NO_LAYOUT = Layout()


@dataclass(frozen=True)
class TypeChange:
    """A column that is stored as another type than windrow's."""

    column: str
    stored: str
    wanted: str
    misfits: int | None
    """Values that the wanted type cannot hold as they are; None: it cannot hold any."""

    @property
    def is_safe(self) -> bool:
        """True when every stored value comes back from the wanted type unchanged."""
        return self.misfits == 0


@dataclass(frozen=True)
class Inherited:
    """What was found where a table of windrow's belongs."""

    table: TableName
    model: str | None
    """The model whose rows it holds; None: a manifest."""
    key: tuple[str, ...] = ()
    is_there: bool = True
    rows: int = 0
    duplicates: int = 0
    """Keys that several rows have."""
    layout: Layout = _NO_LAYOUT
    adds: Columns = field(default_factory=dict)
    """Columns that windrow makes and the table lacks."""
    unknown: tuple[str, ...] = ()
    """Columns that windrow does not make; they are kept."""
    changes: tuple[TypeChange, ...] = ()
    is_noted: bool = False
    """True when the table knows its key and windrow's columns."""
    problem: str | None = None
    """Why it cannot be gone on from; None: it can."""

    @property
    def wanted_types(self) -> dict[str, str]:
        """Columns that are given another type."""
        return {it.column: it.wanted for it in self.changes}

    @property
    def is_ready(self) -> bool:
        """True when there is nothing to change."""
        return not (self.adds or self.changes) and (self.model is None or self.is_noted)


@dataclass(frozen=True)
class Expected:
    """A table as windrow would make it."""

    table: TableName
    key: tuple[str, ...]
    columns: Columns
    model: Model | None = None

    @property
    def is_made_anew(self) -> bool:
        """True when the next run writes all its rows, so that those of before do not matter."""
        return self.model is not None and self.model.kind == "rebuilt"


def expected_tables(ws: Workspace) -> list[Expected]:
    """The manifests and the tables of all models that a command means."""
    sessions = (ws.foundation.recorded_session,)
    columns = {
        ws.manifest: (MANIFEST, ("model",)),
        ws.lifecycle: (ws.foundation.lifecycle, sessions),
        ws.quarantine: (ws.foundation.quarantine, sessions),
    }
    manifests = [Expected(table, columns[table][1], columns[table][0]) for table in ws.protected]
    members = [m for m in ws.stored_models if not ws.means or m.package in ws.means]
    return manifests + [Expected(ws.table(m), m.key, _declared(ws, m), m) for m in members]


def _declared(ws: Workspace, member: Model) -> Columns:
    """The columns that are known before a run; those of some models only their rows tell."""
    found = member.columns_for(ws.settings_of(member)) or {}
    return {name: kind for name, kind in found.items() if kind != UNDECLARED}


def look_at(ws: Workspace, expected: Expected) -> Inherited:
    """What is there, in one query over the key and the columns whose types differ."""
    table, tables = expected.table, ws.tables
    model = expected.model.full_name if expected.model else None
    if not tables.exists(table):
        return Inherited(table, model, expected.key, is_there=False)
    try:
        layout = tables.layout(table)
    except TableError:
        problem = f"{table} is a view, or a table of another format than {tables.format}."
        if model is not None:
            problem += " Drop it, or move it away: windrow makes a table of this name."
        return Inherited(table, model, expected.key, problem=problem)
    rows, stored = tables.read(table), tables.columns(table)
    missing = {n: kind for n, kind in expected.columns.items() if n not in stored}
    if lacking := sorted({*expected.key, *({} if model else expected.columns)} - {*stored}):
        problem = (
            f"{table} has no column '{lacking[0]}', without which its rows mean nothing here. Was "
            "it made by another version of the package, or with other identifiers?"
        )
        return Inherited(table, model, expected.key, layout=layout, problem=problem)
    other = {
        name: kind
        for name, kind in expected.columns.items()
        if name in stored and stored[name] != kind and not expected.is_made_anew
    }
    found = _count(rows, expected.key, other)
    changes = tuple(
        TypeChange(name, stored[name], str(kind), found.get(name)) for name, kind in other.items()
    )
    note = tables.note(table)
    return Inherited(
        table,
        model,
        expected.key,
        rows=found[_ROWS] or 0,
        duplicates=found[_DUPLICATES] or 0,
        layout=layout,
        adds=missing,
        unknown=_unknown(ws, expected, stored),
        changes=changes,
        is_noted=note.key == expected.key and note.columns >= {*expected.columns},
        problem=_why_not(table, changes, expected, found[_DUPLICATES] or 0),
    )


def _unknown(ws: Workspace, expected: Expected, stored: Columns) -> tuple[str, ...]:
    """Columns that neither windrow nor the project's own options make."""
    member = expected.model
    if not expected.columns or (member is not None and member.path):
        return ()
    own = [] if member is None else extra_columns(ws.settings_of(member), member.name)
    return tuple(name for name in stored if name not in (*expected.columns, *own))


_NESTED = ("array<", "map<", "struct<")
_ROWS, _DUPLICATES = "windrow rows", "windrow duplicates"


def _count(rows: DataFrame, key: Sequence[str], other: Columns) -> dict[str, int | None]:
    """Rows, keys that come again, and for each column the values that another type cannot hold."""
    misfits = {
        name: misfit
        for name, kind in other.items()
        if (misfit := _is_misfit(rows, name, kind)) is not None
    }
    counted = [
        F.count_if(misfit).alias(f"misfits_{number}")
        for number, misfit in enumerate(misfits.values())
    ]
    by_key = rows.groupBy(*(F.col(quoted(name)) for name in key)).agg(
        F.count(F.lit(1)).alias("windrow_rows"), *counted
    )
    found = by_key.agg(
        F.sum("windrow_rows"),
        F.count_if(F.col("windrow_rows") > 1),
        *(F.sum(f"misfits_{number}") for number in range(len(misfits))),
    ).collect()[0]
    return {
        _ROWS: found[0],
        _DUPLICATES: found[1],
        **{name: found[2 + number] or 0 for number, name in enumerate(misfits)},
    }


def _is_misfit(rows: DataFrame, name: str, kind: str) -> Column | None:
    """Whether a value does not come back unchanged from another type; None: there is no cast."""
    value, stored = F.col(quoted(name)), dict(rows.dtypes)[name]
    if stored.startswith(_NESTED) != kind.startswith(_NESTED):
        return None
    is_same = _plain(value.try_cast(kind).try_cast(stored), stored).eqNullSafe(
        _plain(value, stored)
    )
    try:
        _ = rows.select(is_same).schema
    except PySparkException:
        return None
    return ~is_same


def _plain(value: Column, kind: str) -> Column:
    """Spark compares no maps, but the entries of one."""
    return F.array_sort(F.map_entries(value)) if kind.startswith("map<") else value


def _why_not(
    table: TableName, changes: Sequence[TypeChange], expected: Expected, duplicates: int
) -> str | None:
    for change in changes:
        if change.is_safe:
            continue
        values = (
            "which cannot be converted"
            if change.misfits is None
            else f"and {change.misfits} of its values would not stay what they are"
        )
        model = expected.model
        advice = (
            f" Convert the column, or rebuild the table with `--full-refresh --select {model.name}`"
            " once the others are adopted; until then name it in disabled_models."
            if model
            else " Convert the column first."
        )
        return (
            f"{table}: '{change.column}' is {change.stored}, expected {change.wanted}, {values}."
            + advice
        )
    if duplicates and expected.model is None:
        return (
            f"{table} has {duplicates} keys ({', '.join(expected.key)}) more than once: a run in "
            "which one of them gets new events would stop. Keep one row of each."
        )
    return None
