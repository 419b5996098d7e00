"""Two tables compared by key: whose rows are where, and which columns differ, how often.

The rows of both are brought together by key in one shuffle and compared there; only counts and a
few examples leave Spark. Keys that are not known (null) match one another. A key that one side has
more than once is counted and told, and its values are not compared: with which of its rows?
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql import types as T

from windrow.errors import UsageError, did_you_mean
from windrow.tables.common_types import common_type, holds_map, same_kind
from windrow.tables.refusals import reason_of
from windrow.tables.sql import quoted

NOT_COMPARED = frozenset({"model_tstamp"})
"""When a run made the row: it differs in any two tables, and says nothing of them."""

MOST_EXAMPLES = 20
_LONGEST_VALUE = 200
_FRACTIONS = (T.FloatType, T.DoubleType, T.DecimalType)


@dataclass(frozen=True)
class Example:
    """A row that differs: its key, and the values, as text; None is null."""

    key: tuple[str | None, ...]
    a: str | None = None
    b: str | None = None


@dataclass(frozen=True)
class Found:
    """How many there are of something, and a few of them."""

    count: int = 0
    examples: tuple[Example, ...] = ()


@dataclass(frozen=True)
class OtherType:
    """A column whose types differ, and in which one it was compared; None: in none."""

    column: str
    a: str
    b: str
    compared_as: str | None


@dataclass(frozen=True)
class Comparison:
    """What two tables have in common, and what not."""

    key: tuple[str, ...]
    rows_a: int
    rows_b: int
    keys_in_both: int
    only_a: Found
    """Keys that B does not have."""
    only_b: Found
    duplicates_a: Found
    """Keys that A has more than once."""
    duplicates_b: Found
    null_keys_a: int
    """Rows of A whose key, or a part of it, is null."""
    null_keys_b: int
    compared: tuple[str, ...]
    """The columns whose values were compared."""
    differing: Mapping[str, Found]
    """Column -> rows in which it differs, of those keys that both have once."""
    columns_only_a: tuple[str, ...]
    columns_only_b: tuple[str, ...]
    other_types: tuple[OtherType, ...]
    ignored: tuple[str, ...]

    @property
    def is_equal(self) -> bool:
        """True when nothing differs; a type that differs while its values agree does not count."""
        found = (self.only_a, self.only_b, self.duplicates_a, self.duplicates_b)
        is_incomparable = any(it.compared_as is None for it in self.other_types)
        columns = self.columns_only_a or self.columns_only_b or is_incomparable
        return not (any(it.count for it in found) or self.differing or columns)


def compare(
    a: DataFrame,
    b: DataFrame,
    key: Sequence[str],
    *,
    where: str | None = None,
    ignore: Collection[str] = (),
    tolerance: float = 0.0,
    examples: int = 3,
    names: tuple[str, str] = ("A", "B"),
) -> Comparison:
    """Compare two frames by key; `names` is what errors call them.

    Floating-point numbers and decimals may differ by `tolerance`, times the greater of the two
    where that is more than one.
    """
    if not 0 <= examples <= MOST_EXAMPLES:
        raise UsageError(f"{examples} examples are asked for, expected 0 to {MOST_EXAMPLES}.")
    if not tolerance >= 0:
        raise UsageError(f"The tolerance is {tolerance}, expected 0 or more.")
    sides = _Sides(a, b, names)
    _check_names(sides, key, ignore)
    left_out = {name.lower() for name in (*ignore, *NOT_COMPARED)} - {name.lower() for name in key}
    values = [name for name in sides.in_both if name.lower() not in left_out | sides.lower(key)]
    kinds = {name: sides.common_type(name) for name in (*key, *values)}
    for name in key:
        if kinds[name] is None or holds_map(_known(kinds[name])):
            raise UsageError(
                f"The key column '{name}' is {sides.type_of(0, name)} in {names[0]} and "
                f"{sides.type_of(1, name)} in {names[1]}: rows cannot be matched by it."
            )
    compared = [name for name in values if kinds[name] is not None]

    rows = sides.together(key, compared, {n: _known(kinds[n]) for n in (*key, *compared)}, where)
    different = {
        name: _differs(number, _known(kinds[name]), tolerance)
        for number, name in enumerate(compared)
    }
    found = {row["what"]: row for row in _facts(rows, key, different, examples).collect()}

    def count_of(what: str, counted: str = "count") -> int:
        return found[what][counted] if what in found else 0

    def told(what: str) -> Found:
        return _found(found[what], examples) if what in found else Found()

    whose = ("both", "only_a", "only_b")
    return Comparison(
        key=tuple(key),
        rows_a=sum(count_of(what, "rows_a") for what in whose),
        rows_b=sum(count_of(what, "rows_b") for what in whose),
        keys_in_both=count_of("both"),
        only_a=told("only_a"),
        only_b=told("only_b"),
        duplicates_a=told("duplicates_a"),
        duplicates_b=told("duplicates_b"),
        null_keys_a=count_of("nulls", "rows_a"),
        null_keys_b=count_of("nulls", "rows_b"),
        compared=tuple(compared),
        differing={
            name: told(f"column_{number}")
            for number, name in enumerate(compared)
            if f"column_{number}" in found
        },
        columns_only_a=sides.only(0, left_out),
        columns_only_b=sides.only(1, left_out),
        other_types=sides.other_types([*key, *values]),
        ignored=tuple(name for name in sides.every if name.lower() in left_out),
    )


@dataclass(frozen=True)
class _Sides:
    """The two frames; names of columns mean the same in upper and lower case, as in Spark."""

    a: DataFrame
    b: DataFrame
    names: tuple[str, str]

    @staticmethod
    def lower(names: Collection[str]) -> set[str]:
        return {name.lower() for name in names}

    @property
    def frames(self) -> tuple[DataFrame, DataFrame]:
        return self.a, self.b

    @property
    def in_both(self) -> list[str]:
        there = self.lower(self.b.columns)
        return [name for name in self.a.columns if name.lower() in there]

    @property
    def every(self) -> list[str]:
        return [*self.a.columns, *self.only(1, set())]

    def only(self, side: int, left_out: set[str]) -> tuple[str, ...]:
        there = self.lower(self.frames[1 - side].columns) | left_out
        return tuple(name for name in self.frames[side].columns if name.lower() not in there)

    def kind(self, side: int, name: str) -> T.DataType:
        fields = self.frames[side].schema.fields
        return next(it.dataType for it in fields if it.name.lower() == name.lower())

    def type_of(self, side: int, name: str) -> str:
        return self.kind(side, name).simpleString()

    def common_type(self, name: str) -> T.DataType | None:
        a, b = self.kind(0, name), self.kind(1, name)
        return a if same_kind(a, b) else common_type(a, b)

    def other_types(self, names: Sequence[str]) -> tuple[OtherType, ...]:
        found = []
        for name in names:
            a, b = self.type_of(0, name), self.type_of(1, name)
            if a != b:
                kind = self.common_type(name)
                found.append(OtherType(name, a, b, kind.simpleString() if kind else None))
        return tuple(found)

    def together(
        self,
        key: Sequence[str],
        compared: Sequence[str],
        kinds: Mapping[str, T.DataType],
        where: str | None,
    ) -> DataFrame:
        """One row per key: how often each side has it, and each side's values if it does."""

        def one_side(side: int) -> DataFrame:
            rows = self.frames[side]
            if where is not None:
                rows = _bounded(rows, where, self.names[side])

            def cast(name: str) -> Column:
                return F.col(quoted(name)).cast(kinds[name])

            keys = [cast(name).alias(f"key_{number}") for number, name in enumerate(key)]
            values = [
                _comparable(cast(name), kinds[name]).alias(f"value_{number}")
                for number, name in enumerate(compared)
            ]
            row = F.struct(F.lit(side).alias("side"), *values)
            return rows.select(*keys, F.lit(side).alias("side"), row.alias("row"))

        def values_of(side: int) -> Column:
            return F.first(F.when(F.col("side") == side, F.col("row")), ignorenulls=True)

        keys = [f"key_{number}" for number in range(len(key))]
        # Where each side brings its own rows of a key, no join is needed to find them together.
        return (
            one_side(0)
            .unionByName(one_side(1))
            .groupBy(*keys)
            .agg(
                F.count_if(F.col("side") == 0).alias("rows_a"),
                F.count_if(F.col("side") == 1).alias("rows_b"),
                values_of(0).alias("a"),
                values_of(1).alias("b"),
            )
        )


def _known(kind: T.DataType | None) -> T.DataType:
    assert kind is not None
    return kind


def _check_names(sides: _Sides, key: Sequence[str], ignore: Collection[str]) -> None:
    if not key:
        raise UsageError("There is no key to match rows by: name its columns.")
    for frame, called in zip(sides.frames, sides.names, strict=True):
        for name in key:
            if name.lower() not in sides.lower(frame.columns):
                raise UsageError(
                    f"{called} has no column '{name}' to match rows by."
                    f"{did_you_mean(name, frame.columns)}"
                )
    for name in ignore:
        if name.lower() not in sides.lower(sides.every):
            raise UsageError(
                f"Neither {sides.names[0]} nor {sides.names[1]} has a column '{name}' to ignore."
                f"{did_you_mean(name, sides.every)}"
            )


def _bounded(rows: DataFrame, where: str, called: str) -> DataFrame:
    try:
        bounded = rows.where(where)
        _ = bounded.schema
    except PySparkException as error:
        raise UsageError(
            f"The condition '{where}' does not fit {called}: {reason_of(error)}"
        ) from error
    return bounded


def _comparable(value: Column, kind: T.DataType) -> Column:
    """The value in a form that Spark compares: a map's entries have no order of their own."""
    if isinstance(kind, T.MapType) and not holds_map(kind.valueType):
        return F.array_sort(F.map_entries(value))
    is_open = isinstance(kind, T.VariantType) or holds_map(kind)
    return F.to_json(F.struct(value.alias("value"))) if is_open else value


def _differs(number: int, kind: T.DataType, tolerance: float) -> Column:
    a, b = (F.col(f"{side}.value_{number}") for side in ("a", "b"))
    if not tolerance or not isinstance(kind, _FRACTIONS):
        return ~a.eqNullSafe(b)
    x, y = a.cast("double"), b.cast("double")
    reach = F.lit(tolerance) * F.greatest(F.lit(1.0), F.abs(x), F.abs(y))
    is_near = F.coalesce(F.abs(x - y) <= reach, F.lit(False))
    return ~(x.eqNullSafe(y) | is_near)


def _facts(
    rows: DataFrame, key: Sequence[str], different: Mapping[str, Column], examples: int
) -> DataFrame:
    """One row per kind of thing that was found: how often, and a few examples."""
    keys = [F.col(f"key_{number}") for number in range(len(key))]
    has_a, has_b = F.col("rows_a") > 0, F.col("rows_b") > 0
    is_single = (F.col("rows_a") == 1) & (F.col("rows_b") == 1)
    has_null = reduce(Column.__or__, (it.isNull() for it in keys))

    def fact(what: Column, holds: Column, number: int | None = None) -> Column:
        a, b = (
            F.lit(None).cast("string") if number is None else _text(F.col(f"{side}.value_{number}"))
            for side in ("a", "b")
        )
        return F.when(holds, F.struct(what.alias("what"), a.alias("a"), b.alias("b")))

    whose = F.when(has_a & has_b, "both").when(has_a, "only_a").otherwise("only_b")
    facts = [
        fact(whose, F.lit(True)),
        fact(F.lit("duplicates_a"), F.col("rows_a") > 1),
        fact(F.lit("duplicates_b"), F.col("rows_b") > 1),
        fact(F.lit("nulls"), has_null),
        *(
            fact(F.lit(f"column_{number}"), is_single & differs, number)
            for number, differs in enumerate(different.values())
        ),
    ]
    told = rows.select(
        F.array(*(_text(it) for it in keys)).alias("key"),
        "rows_a",
        "rows_b",
        F.inline(F.array_compact(F.array(*facts))),
    )
    return told.groupBy("what").agg(
        F.count(F.lit(1)).alias("count"),
        F.sum("rows_a").alias("rows_a"),
        F.sum("rows_b").alias("rows_b"),
        F.array(*_examples(examples)).alias("examples"),
    )


def _examples(most: int) -> list[Column]:
    """The first and the last by key, and some from between: what is kept does not grow."""
    row, key, number = F.struct("key", "a", "b"), F.col("key"), F.xxhash64("key")
    share = F.pmod(number, F.lit(max(1, most)))
    between = [
        pick(F.when(share == part, row), F.when(share == part, number))
        for part in range(most)
        for pick in (F.min_by, F.max_by)
    ]
    return [F.min_by(row, key), F.max_by(row, key), *between]


def _text(value: Column) -> Column:
    text = value.cast("string")
    cut = F.concat(F.substring(text, 1, _LONGEST_VALUE), F.lit("…"))
    return F.when(F.length(text) > _LONGEST_VALUE, cut).otherwise(text)


def _found(row: Row, most: int) -> Found:
    kept = [Example(tuple(it["key"]), it["a"], it["b"]) for it in row["examples"] if it is not None]
    return Found(row["count"], tuple(dict.fromkeys(kept))[:most])
