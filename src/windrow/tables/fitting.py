"""Rows in the shape of the table that they go into."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from windrow.errors import TableError, did_you_mean
from windrow.tables import sql
from windrow.tables.seam import Columns, TableName


def with_columns(table: TableName, rows: DataFrame, stored: Columns) -> DataFrame:
    """The rows with exactly the stored columns; those they lack are null."""
    refuse_unknown(table, rows.columns, stored)
    return rows.select(
        *(
            F.col(sql.quoted(name)) if name in rows.columns else F.lit(None).cast(type_).alias(name)
            for name, type_ in stored.items()
        )
    )


def refuse_unknown(table: TableName, names: Sequence[str], stored: Columns) -> None:
    """Stop at a column that the table does not have."""
    for name in names:
        if name not in stored:
            raise TableError(
                f"{table} has no column '{name}'.{did_you_mean(name, stored)} "
                "Add it with add_columns first."
            )
