"""The checks of one table on its rows: counted in one job, shown where they fail."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from windrow.errors import ConfigError, did_you_mean
from windrow.models.checks import (
    AcceptedValues,
    Check,
    CheckResult,
    Expression,
    NotNull,
    OneValuePer,
    Relationship,
    Unique,
)
from windrow.tables.frames import materialize

SAMPLE_ROWS = 5


@dataclass(frozen=True)
class CheckedRows:
    """The rows of a run in one table, and what they are compared with."""

    table: str
    key: tuple[str, ...]
    rows: DataFrame
    """The run's rows."""
    stored: DataFrame
    """Stored rows, the run's among them, in which a value of the run's rows must be unique."""
    parent: Callable[[str], Sequence[DataFrame]] = lambda model: ()
    """Rows of a named model: those near at hand first, then all there are."""


def check_rows(checked: CheckedRows, checks: Sequence[Check]) -> list[CheckResult]:
    """What came of the checks, in their order."""
    single = [part for check in checks for part in check.apart()]
    for check in single:
        _refuse_unknown(checked, check)
    if not single:
        return []
    try:
        offenders = [_offenders(checked, check) for check in single]
        failures = _counted(checked, single, offenders)
    except AnalysisException as error:
        reason = str(error).strip().splitlines()[0]
        raise ConfigError(f"{checked.table}: a check cannot be made. {reason}") from error
    return [
        CheckResult(
            checked.table,
            check.name,
            check.severity,
            failures[position],
            _sample(offenders[position]) if failures[position] else (),
        )
        for position, check in enumerate(single)
    ]


def _counted(
    checked: CheckedRows, checks: Sequence[Check], offenders: Sequence[DataFrame]
) -> dict[int, int]:
    """Position of a check -> how many offend, all of them asked for at once.

    What can be seen row by row is counted in one pass over the rows.
    """
    counts: list[Column] = []
    frames: list[DataFrame] = []
    for position, (check, found) in enumerate(zip(checks, offenders, strict=True)):
        is_wrong = _is_wrong(check)
        number = F.count(F.lit(1)) if is_wrong is None else F.count_if(is_wrong)
        count = F.struct(F.lit(position).alias("position"), number.alias("failures"))
        if is_wrong is None:
            frames.append(found.agg(count.alias("count")).select("count.*"))
        else:
            counts.append(count)
    if counts:
        frames.append(checked.rows.agg(F.array(*counts).alias("counts")).select(F.inline("counts")))
    rows = reduce(DataFrame.union, frames).collect()
    return {row["position"]: row["failures"] for row in rows}


def _is_wrong(check: Check) -> Column | None:
    """True for a row that offends; None when a row alone does not tell."""
    match check:
        case NotNull():
            return _column(check.reads[0]).isNull()
        case AcceptedValues():
            return ~_column(check.column).isin(*check.values)
        case Expression():
            return ~F.expr(check.condition)
        case _:
            return None


def _offenders(checked: CheckedRows, check: Check) -> DataFrame:
    """What a sample shows: rows, or keys and groups, that offend."""
    is_wrong = _is_wrong(check)
    if is_wrong is not None:
        return checked.rows.where(is_wrong).select(*_shown(checked, check))
    match check:
        case Unique():
            return _repeated(checked, check.reads)
        case OneValuePer():
            values = F.count_distinct(_column(check.column)).alias("values")
            groups = checked.rows.groupBy(*map(_column, check.group)).agg(values)
            return groups.where(F.col("values") > 1)
        case Relationship():
            return _without_parent(checked, check)
        case _:
            raise ConfigError(f"{checked.table}: windrow knows no check like {check!r}.")


def _shown(checked: CheckedRows, check: Check) -> list[Column]:
    return [_column(name) for name in dict.fromkeys((*checked.key, *check.reads))]


def _repeated(checked: CheckedRows, names: Sequence[str]) -> DataFrame:
    """Keys of the run's rows that occur more than once, stored rows included."""
    columns = [_column(name) for name in names]
    is_whole = reduce(Column.__and__, (column.isNotNull() for column in columns))
    counted = checked.stored.where(is_whole).groupBy(*columns).agg(F.count(F.lit(1)).alias("times"))
    repeated = counted.where(F.col("times") > 1)
    if checked.rows is checked.stored:
        return repeated
    return repeated.join(checked.rows.select(*columns), list(names), how="left_semi")


def _without_parent(checked: CheckedRows, check: Relationship) -> DataFrame:
    """Rows whose parent is nowhere. Only those that have none at hand are looked for everywhere."""
    value = _column(check.column)
    orphans = checked.rows.where(value.isNotNull()).select(*_shown(checked, check))
    for parents in checked.parent(check.to):
        if check.to_column not in parents.columns:
            raise ConfigError(
                f"{checked.table}, {check.name}: '{check.to}' has no column '{check.to_column}'."
                + did_you_mean(check.to_column, parents.columns)
            )
        known = parents.select(_column(check.to_column).alias("__parent"))
        orphans = materialize(orphans.join(known, value == F.col("__parent"), how="left_anti"))
        if orphans.isEmpty():
            break
    return orphans


def _sample(offenders: DataFrame) -> tuple[Mapping[str, str | None], ...]:
    shown = offenders.select(*(_column(name).cast("string") for name in offenders.columns))
    first = shown.orderBy(*map(_column, shown.columns)).limit(SAMPLE_ROWS)
    return tuple(row.asDict() for row in first.collect())


def _refuse_unknown(checked: CheckedRows, check: Check) -> None:
    for name in check.reads:
        if name not in checked.rows.columns:
            raise ConfigError(
                f"{checked.table}, {check.name}: there is no column '{name}'."
                + did_you_mean(name, checked.rows.columns)
            )


def _column(name: str) -> Column:
    return F.col(f"`{name.replace('`', '``')}`")
