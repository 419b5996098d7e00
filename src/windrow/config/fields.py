"""The frozen base of every settings value, and the kinds of field they are made of."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import date
from typing import Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    field_validator,
    model_validator,
)

from windrow.config.secrets import SecretText, redacted
from windrow.config.substitution import Variable
from windrow.config.times import USABLE, is_usable

IDENTIFIER = r"^[A-Za-z_][A-Za-z0-9_]*$"
LAYOUT_KEY = (
    r"^([A-Za-z_][A-Za-z0-9_]*"
    r"|(years|months|days|hours)\( *[A-Za-z_][A-Za-z0-9_]* *\)"
    r"|(bucket|truncate)\( *[1-9][0-9]{0,8} *, *[A-Za-z_][A-Za-z0-9_]* *\))$"
)
TABLE_NAME = r"^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$"


class Frozen(BaseModel):
    """A value read from configuration: immutable, no unknown keys, no silent conversions."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, allow_inf_nan=False, hide_input_in_errors=True
    )

    @model_validator(mode="before")
    @classmethod
    def _empty_means_default(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        return {k: v for k, v in data.items() if k not in cls.model_fields or not _is_empty(v)}

    @field_validator("*", mode="wrap")
    @classmethod
    def _variables_take_the_type_wanted(
        cls, value: Any, handler: ValidatorFunctionWrapHandler
    ) -> Any:
        result = _validated(value, handler)
        # A secret stays marked as one, so that no repr shows it later.
        return value if isinstance(value, SecretText) and value == result else result

    def __repr_args__(self) -> Iterator[tuple[str, Any]]:
        return ((name, _safe(name, value)) for name, value in self)


def _validated(value: object, handler: ValidatorFunctionWrapHandler) -> Any:
    if not isinstance(value, Variable):
        return handler(value)
    try:
        return handler(value)
    except ValidationError as as_text:
        try:
            return handler(value.parsed())
        except ValidationError:
            if isinstance(value, SecretText):
                raise as_text from None
            raise


def _is_empty(value: object) -> bool:
    return value is None or (isinstance(value, Variable) and value == "")


def _safe(name: str, value: object) -> object:
    # Nested settings keep their own repr, which is as careful as this one.
    if isinstance(value, Frozen | date):
        return value
    return redacted(value, name)


def _identifier(text: str) -> str:
    if re.fullmatch(IDENTIFIER, text) is None:
        raise ValueError("a name of letters, digits and underscores that starts with no digit")
    return text


def _layout_key(text: str) -> str:
    if re.fullmatch(LAYOUT_KEY, text) is None:
        raise ValueError("a column, or on Iceberg a transform such as days(x) or bucket(16, x)")
    return text


def _table_name(text: str) -> str:
    if re.fullmatch(TABLE_NAME, text) is None:
        raise ValueError("a table name such as atomic.events or catalog.atomic.events")
    return text


def _name_part(text: str) -> str:
    if "." in text:
        raise ValueError("a single name without dots")
    return _table_name(text)


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"a regular expression (this one fails: {error})") from None
    return text


def _iso_date(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return date.fromisoformat(value)
    except ValueError:
        raise ValueError("a date such as 2024-01-31") from None


def _usable_day(value: date) -> date:
    if not is_usable(value):
        raise ValueError(f"a date {USABLE}")
    return value


def one_as_many(value: object) -> object:
    """A list as a tuple, a single entry as a tuple of one."""
    return tuple(value) if isinstance(value, list | tuple) else (value,)


def no_repeats(what: str, names: Iterable[str]) -> None:
    """Refuse names of columns that come twice; Spark's do not tell upper from lower case."""
    counts = Counter(name.lower() for name in names)
    repeated = sorted(name for name, count in counts.items() if count > 1)
    if repeated:
        raise ValueError(f"{what} with different names; repeated: {', '.join(repeated)}")


def _scalar_as_text(value: object, handler: ValidatorFunctionWrapHandler) -> Any:
    match value:
        case SecretText():
            return value
        case bool():
            return "true" if value else "false"
        case int() | float():
            return str(value)
    return handler(value)


def _number(value: object) -> object:
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return value
    raise ValueError("a number")


Text = Annotated[str, Field(min_length=1)]
Identifier = Annotated[
    str, AfterValidator(_identifier), Field(json_schema_extra={"pattern": IDENTIFIER})
]
LayoutKey = Annotated[
    str, AfterValidator(_layout_key), Field(json_schema_extra={"pattern": LAYOUT_KEY})
]
NamePart = Annotated[
    str, AfterValidator(_name_part), Field(json_schema_extra={"pattern": r"^[A-Za-z0-9_-]+$"})
]
TableName = Annotated[
    str, AfterValidator(_table_name), Field(json_schema_extra={"pattern": TABLE_NAME})
]
Pattern = Annotated[str, AfterValidator(_pattern), Field(json_schema_extra={"format": "regex"})]
IsoDate = Annotated[
    date,
    BeforeValidator(_iso_date, json_schema_input_type=date),
    AfterValidator(_usable_day),
]
Number = Annotated[int | float, BeforeValidator(_number, json_schema_input_type=int | float)]
_MOST = 100_000
"""More days than this before or after today are no date any more."""

Count = Annotated[int, Field(ge=0, le=_MOST)]
CountOrOff = Annotated[int, Field(ge=-1, le=_MOST)]
Positive = Annotated[int, Field(ge=1, le=_MOST)]

Entry = TypeVar("Entry")
Many = Annotated[tuple[Entry, ...], BeforeValidator(one_as_many)]
"""Several entries, or one that stands by itself."""

Texts = Annotated[
    tuple[Text, ...], BeforeValidator(one_as_many, json_schema_input_type=Text | tuple[Text, ...])
]
TextMap = dict[
    str,
    Annotated[
        str,
        WrapValidator(_scalar_as_text, json_schema_input_type=str | int | float | bool),
    ],
]
