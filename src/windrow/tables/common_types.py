"""The type in which two values of different types can be compared without losing what they say."""

from __future__ import annotations

from pyspark.sql import types as T

_WHOLE = (T.ByteType, T.ShortType, T.IntegerType, T.LongType)
_WHOLE_DIGITS: dict[type[T.DataType], int] = {
    T.ByteType: 3,
    T.ShortType: 5,
    T.IntegerType: 10,
    T.LongType: 19,
}
_FRACTIONS = (T.FloatType, T.DoubleType)
_TIMES = (T.DateType, T.TimestampType, T.TimestampNTZType)
_TEXTS = (T.StringType, T.CharType, T.VarcharType)
_MOST_DIGITS = 38


def common_type(a: T.DataType, b: T.DataType) -> T.DataType | None:
    """What both can be cast to; None where there is nothing that keeps both apart as they were.

    Text takes any single value. Of fractions it is double, in which long decimals are rounded.
    """
    if a == b:
        return a
    if isinstance(a, T.ArrayType) and isinstance(b, T.ArrayType):
        item = common_type(a.elementType, b.elementType)
        return None if item is None else T.ArrayType(item)
    if isinstance(a, T.StructType) and isinstance(b, T.StructType):
        return _common_struct(a, b)
    if isinstance(a, T.MapType) and isinstance(b, T.MapType):
        key, value = common_type(a.keyType, b.keyType), common_type(a.valueType, b.valueType)
        return None if key is None or value is None else T.MapType(key, value)
    if isinstance(a, T.NumericType) and isinstance(b, T.NumericType):
        return _common_number(a, b)
    if isinstance(a, _TIMES) and isinstance(b, _TIMES):
        return T.TimestampType()
    is_single = isinstance(a, T.AtomicType) and isinstance(b, T.AtomicType)
    is_text = isinstance(a, _TEXTS) or isinstance(b, _TEXTS)
    return T.StringType() if is_single and is_text else None


def _common_number(a: T.NumericType, b: T.NumericType) -> T.DataType | None:
    if isinstance(a, _FRACTIONS) or isinstance(b, _FRACTIONS):
        return T.DoubleType()
    if isinstance(a, _WHOLE) and isinstance(b, _WHOLE):
        return max(a, b, key=lambda it: _WHOLE_DIGITS[type(it)])
    (left, left_scale), (right, right_scale) = _digits(a), _digits(b)
    whole, scale = max(left - left_scale, right - right_scale), max(left_scale, right_scale)
    return T.DecimalType(whole + scale, scale) if whole + scale <= _MOST_DIGITS else None


def _digits(kind: T.NumericType) -> tuple[int, int]:
    """How many digits there are, and how many of them behind the point."""
    if isinstance(kind, T.DecimalType):
        return kind.precision, kind.scale
    return _WHOLE_DIGITS[type(kind)], 0


def _common_struct(a: T.StructType, b: T.StructType) -> T.DataType | None:
    """Only of the same fields in the same order: a cast goes by their places."""
    if a.fieldNames() != b.fieldNames():
        return None
    fields = []
    for left, right in zip(a.fields, b.fields, strict=True):
        kind = common_type(left.dataType, right.dataType)
        if kind is None:
            return None
        fields.append(T.StructField(left.name, kind))
    return T.StructType(fields)


def same_kind(a: T.DataType, b: T.DataType) -> bool:
    """Whether two types are one to a reader, who cannot see what may be null."""
    return a.simpleString() == b.simpleString()


def holds_map(kind: T.DataType) -> bool:
    """Whether values of the type have maps in them, which Spark does not compare."""
    if isinstance(kind, T.ArrayType):
        return holds_map(kind.elementType)
    if isinstance(kind, T.StructType):
        return any(holds_map(field.dataType) for field in kind.fields)
    return isinstance(kind, T.MapType)
