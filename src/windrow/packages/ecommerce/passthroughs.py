"""Columns of the project's own choice that rows take from their event."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import Column
from pyspark.sql import functions as F

from windrow.columns.expressions import columns_in
from windrow.config import Passthrough
from windrow.errors import ConfigError
from windrow.models.model import UNDECLARED
from windrow.tables import Columns


def with_passthroughs(columns: Columns, option: str, entries: Iterable[Passthrough]) -> Columns:
    """The table's columns with those of the option behind them, of whatever type they have."""
    taken = {name.lower() for name in columns}
    for entry in entries:
        if entry.alias.lower() in taken:
            raise ConfigError(
                f"packages.ecommerce.{option}: the table has a column '{entry.alias}' already. "
                "Give yours another alias."
            )
    return {**columns, **{entry.alias: UNDECLARED for entry in entries}}


def values(entries: Iterable[Passthrough]) -> dict[str, Column]:
    """Column -> what it holds, over events."""
    return {entry.alias: F.expr(entry.sql) for entry in entries}


def struct(entries: Iterable[Passthrough]) -> list[Column]:
    """The columns, for a struct of them."""
    return [value.alias(name) for name, value in values(entries).items()]


def reads(entries: Iterable[Passthrough], *, alias: str = "e") -> tuple[str, ...]:
    """The event columns that the expressions name."""
    return tuple(name for entry in entries for name in columns_in(entry.sql, alias=alias))
