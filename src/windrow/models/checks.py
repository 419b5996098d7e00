"""What must be true of a table's rows: the kinds of check, and what came of one.

    @model(key="order_id", checks=[NotNull("amount"), AcceptedValues("state", ("open", "paid"))])
    def orders(events: DataFrame) -> DataFrame: ...

A check of severity `error` that fails fails the command; one of severity `warn` is only told.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from windrow.errors import ConfigError, did_you_mean

Severity = Literal["error", "warn"]


@dataclass(frozen=True, kw_only=True)
class Check(ABC):
    """Something that must be true of a table's rows."""

    severity: Severity = "error"

    def __post_init__(self) -> None:
        known = get_args(Severity)
        if self.severity not in known:
            raise ConfigError(
                f"{self.name}: severity is '{self.severity}', expected error or warn."
                + did_you_mean(str(self.severity), known)
            )

    @property
    @abstractmethod
    def name(self) -> str:
        """The check as reports call it; it is the same for equal demands."""

    @property
    @abstractmethod
    def reads(self) -> tuple[str, ...]:
        """The columns of the table that the check names."""

    def apart(self) -> tuple[Check, ...]:
        """The checks that are counted and told one by one."""
        return (self,)


@dataclass(frozen=True)
class Unique(Check):
    """No two rows have the same values in these columns. Rows with a null in one do not count."""

    columns: str | Sequence[str]

    @property
    def name(self) -> str:
        return f"unique({', '.join(self.reads)})"

    @property
    def reads(self) -> tuple[str, ...]:
        return _names(self.columns)


@dataclass(frozen=True)
class NotNull(Check):
    """No row has a null in any of these columns; each column is told on its own."""

    columns: str | Sequence[str]

    @property
    def name(self) -> str:
        return f"not_null({', '.join(self.reads)})"

    @property
    def reads(self) -> tuple[str, ...]:
        return _names(self.columns)

    def apart(self) -> tuple[Check, ...]:
        return tuple(replace(self, columns=(column,)) for column in self.reads)


@dataclass(frozen=True)
class AcceptedValues(Check):
    """The column holds one of these values, or null."""

    column: str
    values: Sequence[str | int | bool]

    @property
    def name(self) -> str:
        return f"accepted_values({self.column})"

    @property
    def reads(self) -> tuple[str, ...]:
        return (self.column,)


@dataclass(frozen=True)
class Relationship(Check):
    """The column's value, unless null, stands in a column of another model's table."""

    column: str
    to: str
    to_column: str

    @property
    def name(self) -> str:
        return f"relationship({self.column} -> {self.to}.{self.to_column})"

    @property
    def reads(self) -> tuple[str, ...]:
        return (self.column,)


@dataclass(frozen=True)
class OneValuePer(Check):
    """All rows of a group have the same value in the column; nulls do not count."""

    column: str
    per: str | Sequence[str]

    @property
    def name(self) -> str:
        return f"one_value_per({self.column}, {', '.join(self.group)})"

    @property
    def group(self) -> tuple[str, ...]:
        """The columns that make a group."""
        return _names(self.per)

    @property
    def reads(self) -> tuple[str, ...]:
        return (*self.group, self.column)


@dataclass(frozen=True)
class Expression(Check):
    """A SQL condition is true, or null, for every row: `end_tstamp >= start_tstamp`."""

    condition: str
    shows: str | Sequence[str] = ()
    """Columns to show of rows that offend, beside the key."""

    @property
    def name(self) -> str:
        return f"expression({self.condition})"

    @property
    def reads(self) -> tuple[str, ...]:
        return _names(self.shows)


def _names(columns: str | Sequence[str]) -> tuple[str, ...]:
    return (columns,) if isinstance(columns, str) else tuple(columns)


@dataclass(frozen=True)
class CheckResult:
    """What came of one check on one table."""

    table: str
    check: str
    severity: Severity
    failures: int = 0
    """How many rows offend; of `unique` and `one_value_per`, how many keys or groups."""
    sample: tuple[Mapping[str, str | None], ...] = ()
    """A few of them: the key and the columns in question, as text."""

    @property
    def outcome(self) -> Literal["passed", "warned", "failed"]:
        """`failed` for severity error only."""
        if not self.failures:
            return "passed"
        return "failed" if self.severity == "error" else "warned"


def has_failed(results: Sequence[CheckResult]) -> bool:
    """True when a check of severity error failed."""
    return any(result.outcome == "failed" for result in results)
