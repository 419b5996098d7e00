"""One side of a comparison as people write it: a schema or a table, perhaps of another target."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pyspark.sql import SparkSession

from windrow.config import Config, Target
from windrow.errors import TableError, UsageError, did_you_mean
from windrow.tables import TableName, Tables, open_tables
from windrow.tables.sql import check_name

_PART = re.compile(r"`((?:[^`]|``)+)`|([^`.\s][^`.]*)")


@dataclass(frozen=True)
class Side:
    """A table or, without a table, a schema, and the tables of the target it belongs to."""

    text: str
    """As it was asked for."""
    tables: Tables
    schema: str
    table: str | None

    def named(self, table: str) -> TableName:
        """A table of the schema."""
        return TableName(self.schema, table)


def side_of(spark: SparkSession, config: Config, text: str) -> Side:
    """`schema`, `schema.table` or `catalog.schema.table`; `target:` in front names another one."""
    target, name = _target_of(config, text)
    parts = _parts_of(name)
    if len(parts) > 3:
        raise UsageError(f"'{text}' has {len(parts)} parts: expected schema.table.")
    for part in parts:
        try:
            check_name(part)
        except TableError as error:
            raise UsageError(str(error)) from None
    # A table of any catalog that the session knows can be named in full.
    catalog = parts.pop(0) if len(parts) == 3 else target.catalog
    warehouse = None if catalog else target.warehouse
    tables = open_tables(spark, format=target.format, warehouse=warehouse, catalog=catalog)
    return Side(text, tables, parts[0], parts[1] if len(parts) == 2 else None)


def _target_of(config: Config, text: str) -> tuple[Target, str]:
    before, colon, name = text.partition(":")
    if not colon:
        return config.chosen_target, text
    if before not in config.targets:
        raise UsageError(
            f"'{text}': there is no target '{before}'.{did_you_mean(before, config.targets)} "
            f"Expected schema.table, or one of {', '.join(config.targets)} before the colon."
        )
    target = config.targets[before]
    if target.format != config.chosen_target.format:
        raise UsageError(
            f"'{text}' has {target.format} tables and the target {config.target} "
            f"{config.chosen_target.format} ones. Compare frames of them in Python, with "
            "windrow.compare, in a session that reads both."
        )
    return target, name


def _parts_of(text: str) -> list[str]:
    """`derived.page_views` -> its parts; a name with a dot in it stands in backticks."""
    parts: list[str] = []
    at = 0
    while found := _PART.match(text, at):
        parts.append(found[1].replace("``", "`") if found[1] else found[2].strip())
        at = found.end()
        if at == len(text):
            return parts
        if text[at] != ".":
            break
        at += 1
    raise UsageError(
        f"'{text}' names no table: expected schema.table or schema. A name with a dot or a blank "
        "in it stands in `backticks`."
    )
