"""Columns of a project's own on our tables: values carried through, and aggregates.

`passthrough` takes a value from the one row that a table's row is described by: the page view's own
event, a session's first event, a user's first session. `aggregations` are over all rows that a
table's row stands for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from windrow.columns.expressions import columns_in
from windrow.config import Aggregation, ModelSettings, Passthrough
from windrow.errors import ConfigError

_AGGREGATES: dict[str, Callable[[Column], Column]] = {
    "count": F.count,
    "sum": F.sum,
    "min": F.min,
    "max": F.max,
    "avg": F.avg,
    "countd": F.count_distinct,
}


@dataclass(frozen=True)
class Extras:
    """Where the extra columns of a model come from."""

    source: str
    """The engine input or model whose rows a row of the model stands for."""
    by: tuple[str, ...]
    """Columns that both have: they tell which rows belong together."""
    first: tuple[str, ...]
    """The order in which the earliest of them, which describes the row, comes first."""
    of: Callable[[], Column] | None = None
    """Which of them can describe the row; None means any."""


def names(settings: ModelSettings, model: str) -> list[str]:
    """The extra columns of a model, in the order given."""
    carried, aggregated = _wanted(settings, model)
    return [*(it.alias for it in carried), *(it.alias for it in aggregated)]


def reads(settings: ModelSettings, model: str) -> tuple[str, ...]:
    """The columns that a model's extra columns are made of."""
    carried, aggregated = _wanted(settings, model)
    texts = [*(it.sql for it in carried), *(it.field for it in aggregated)]
    return tuple(dict.fromkeys(name for text in texts for name in columns_in(text)))


def with_extras(
    rows: DataFrame, source: DataFrame, extras: Extras, settings: ModelSettings, model: str
) -> DataFrame:
    """The rows with the extra columns that the settings ask for."""
    carried, aggregated = _wanted(settings, model)
    if not carried and not aggregated:
        return rows
    order = F.struct(*(F.col(name) for name in extras.first))
    describes = order if extras.of is None else F.when(extras.of(), order)
    first = F.struct(*(F.expr(it.sql).alias(it.alias) for it in carried))
    added = (
        source.alias("e")
        .groupBy(*extras.by)
        .agg(
            *([F.min_by(first, describes).alias("first_row")] if carried else []),
            *(_AGGREGATES[it.type](F.expr(it.field)).alias(it.alias) for it in aggregated),
        )
    )
    flat = added.select(
        *extras.by,
        *(F.col(f"first_row.{it.alias}").alias(it.alias) for it in carried),
        *(it.alias for it in aggregated),
    )
    return rows.join(flat, list(extras.by), how="left").select(
        *rows.columns, *names(settings, model)
    )


def check_extras(settings: ModelSettings, known: Mapping[str, Iterable[str]]) -> None:
    """Stop at extra columns for a model that takes none, and at names that are taken.

    `known`: the models that take extra columns, and the columns they have without.
    """
    for option in ("passthrough", "aggregations"):
        for model in getattr(settings, option):
            if model not in known:
                raise ConfigError(
                    f"{option}: '{model}' takes no columns of your own. "
                    f"These do: {', '.join(known) or 'none'}."
                )
    for model, columns in known.items():
        asked = names(settings, model)
        taken = {column.lower() for column in columns}
        for name in asked:
            if name.lower() in taken:
                raise ConfigError(
                    f"passthrough or aggregations: {model} has a column '{name}' already. "
                    "Give yours another alias."
                )
            taken.add(name.lower())
        reads(settings, model)


def _wanted(
    settings: ModelSettings, model: str
) -> tuple[tuple[Passthrough, ...], tuple[Aggregation, ...]]:
    return settings.passthrough.get(model, ()), settings.aggregations.get(model, ())
