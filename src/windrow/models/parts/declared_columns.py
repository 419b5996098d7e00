"""The last step of a model: its rows in the columns and types that it declares."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from windrow.models.model import UNDECLARED
from windrow.tables import Columns


def select_declared(
    rows: DataFrame, columns: Columns, values: Mapping[str, Column] | None = None
) -> DataFrame:
    """The declared columns in order: as worked out in `values`, or else as the rows have them."""
    known = values or {}

    def typed(name: str, kind: str) -> Column:
        value = known.get(name, F.col(name))
        return (value if kind == UNDECLARED else value.cast(kind)).alias(name)

    return rows.select(*(typed(name, kind) for name, kind in columns.items()))
