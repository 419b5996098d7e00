"""The tables and their columns, from the models' own rules: windrow's and the project's own."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass

from windrow.columns.rules import rule_of
from windrow.models.model import UNDECLARED, Model
from windrow.operations.overview import PackageOverview, TableFacts
from windrow.report.documents import inputs_of
from windrow.report.page.names import anchor


@dataclass(frozen=True)
class ColumnView:
    """A column with its type and its rule."""

    name: str
    type: str
    rule: str
    is_key: bool


@dataclass(frozen=True)
class TableView:
    """A table as a reference shows it."""

    name: str
    """The model's."""
    table: str
    anchor: str
    grain: str
    description: tuple[str, ...]
    """Its paragraphs."""
    facts: tuple[tuple[str, str], ...]
    reads: tuple[tuple[str, str], ...]
    """Name, and where the page tells of it; empty where it does not."""
    read_by: tuple[tuple[str, str], ...]
    checks: tuple[tuple[str, str], ...]
    """Name and severity."""
    is_own: bool
    columns: tuple[ColumnView, ...]


def reference_view(package: PackageOverview) -> tuple[TableView, ...]:
    """Every table of a package, each after those it is made from."""
    places = {
        it.model.name: anchor("table", package.status.package, it.model.name)
        for it in package.tables
    }
    readers: dict[str, list[str]] = {name: [] for name in places}
    for it in package.tables:
        for name in it.model.parents:
            if name in readers:
                readers[name].append(it.model.name)
    return tuple(_table(it, places, readers[it.model.name]) for it in package.tables)


def _table(it: TableFacts, places: Mapping[str, str], readers: list[str]) -> TableView:
    member = it.model
    inputs = dict.fromkeys(name for name, _ in inputs_of(member) if name != member.name)
    return TableView(
        name=member.name,
        table=member.full_name,
        anchor=places[member.name],
        grain=member.grain,
        description=tuple(inspect.cleandoc(member.description).split("\n\n")),
        facts=tuple((name, text) for name, text in _facts(it).items() if text),
        reads=tuple((name, places.get(name, "")) for name in inputs),
        read_by=tuple((name, places[name]) for name in readers),
        checks=tuple((check.name, check.severity) for check in member.all_checks),
        is_own=bool(member.path),
        columns=tuple(
            ColumnView(
                name, "" if kind == UNDECLARED else str(kind), rule_of(kind), name in member.key
            )
            for name, kind in it.columns.items()
        ),
    )


def _facts(it: TableFacts) -> dict[str, str]:
    member = it.model
    return {
        "Key": ", ".join(member.key),
        "Date column": member.date or "",
        "Partitioned by": ", ".join(it.partition_by),
        "Made": _made(member),
        "Declared in": member.path,
        "Tags": ", ".join(member.tags),
    }


def _made(member: Model) -> str:
    if member.kind == "this_run":
        return "for other models in every run, and not stored"
    return "anew in every run" if member.kind == "rebuilt" else ""
