"""SQL expressions that a project writes into its configuration."""

from __future__ import annotations

import sqlglot
from sqlglot import exp

from windrow.errors import ConfigError, first_line


def columns_in(expression: str, *, alias: str = "e") -> list[str]:
    """The columns that a SQL expression names; `alias`: what it may call the row they belong to."""
    try:
        tree = sqlglot.parse_one(expression, dialect="spark")
    except sqlglot.ParseError as error:
        raise ConfigError(f"'{expression}' is not a SQL expression: {first_line(error)}") from None
    named = [column.parts for column in tree.find_all(exp.Column)]
    return [(it[1] if it[0].name == alias and len(it) > 1 else it[0]).name for it in named]
