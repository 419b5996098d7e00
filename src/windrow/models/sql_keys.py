"""What the key of a SQL model is made of: the expressions behind its columns, over one input."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from windrow.models.model import KeySource

_CHANGING = {
    *("uuid", "rand", "randn", "random", "shuffle", "monotonically_increasing_id"),
    *("now", "current_date", "current_timestamp", "localtimestamp", "current_user"),
    *("spark_partition_id", "input_file_name"),
}
"""Functions that answer differently for the same row."""


def key_source(query: exp.Query, key: Sequence[str], table: str) -> KeySource:
    """What each key column is made of, or why the query does not tell.

    It tells if it is one plain SELECT, so that each of its rows rests on the rows of its key alone.
    """
    if not isinstance(query, exp.Select) or query.find(exp.CTE, exp.Subquery, exp.SetOperation):
        return KeySource(unclear="it is more than one plain SELECT")
    if query.find(exp.Window):
        return KeySource(unclear="it has a window function, which looks at the rows of other keys")
    if query.find(exp.Limit, exp.Offset):
        return KeySource(unclear="it has a LIMIT, which looks at the rows of other keys")
    sources = list(query.find_all(exp.Table))
    names = {name for it in sources if it.name == table for name in (it.alias_or_name, it.name)}
    found: dict[str, str] = {}
    for column in key:
        expression = _behind(query, column)
        if expression is None or not _is_plain(expression, names, is_alone=len(sources) == 1):
            return KeySource(unclear=f"'{column}' is no plain expression over columns of {table}")
        found[column] = _without_table(expression).sql(dialect="spark")
    return KeySource(found)


def _behind(query: exp.Select, column: str) -> exp.Expression | None:
    """The expression that a column of the query's rows stands for."""
    for projection in query.expressions:
        if projection.alias_or_name.lower() == column.lower():
            behind: exp.Expression = projection.unalias()
            return behind
    is_star = any(isinstance(it, exp.Star) for it in query.expressions)
    return exp.column(column) if is_star else None


def _is_plain(expression: exp.Expression, names: set[str], *, is_alone: bool) -> bool:
    """True when a row of the input has one answer, and no other table has a say in it."""
    if expression.find(exp.AggFunc, exp.Query, exp.Explode, exp.Star):
        return False
    called = {it.sql_name().lower() for it in expression.find_all(exp.Func)}
    called |= {it.name.lower() for it in expression.find_all(exp.Anonymous)}
    if called & _CHANGING:
        return False
    tables = {it.table for it in expression.find_all(exp.Column)}
    return bool(tables) and tables <= (names | {""} if is_alone else names)


def _without_table(expression: exp.Expression) -> exp.Expression:
    plain = expression.copy()
    for column in plain.find_all(exp.Column):
        column.set("table", None)
        column.set("db", None)
    return plain
