"""Self-describing events and contexts, and the columns that their fields become."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType

from windrow.atomic.entities import struct_of
from windrow.atomic.names import snake_case
from windrow.packages.normalize.iglu import SchemaField, SchemaUri

Fields = tuple[SchemaField, ...]


@dataclass(frozen=True)
class FieldColumn:
    """A column that a field becomes."""

    name: str
    field: str
    rule: str
    type: str | None = None
    """Its type where no stored value tells it; None when the field is known from those only."""


@dataclass(frozen=True)
class Payload:
    """A self-describing event, or a context, of which fields become columns."""

    uri: SchemaUri
    is_context: bool
    alias: str | None = None
    """What the columns begin with; None: nothing."""
    fields: Fields | None = None
    """The fields that its schema has; None: those that are stored."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The spellings of the events' column, the first of which the models use."""
        return self.uri.columns("contexts" if self.is_context else "unstruct_event")

    @property
    def column(self) -> str:
        """The events' column as the models see it."""
        return self.columns[0]

    def field_columns(self, stored: DataType | None) -> list[FieldColumn]:
        """The columns that the fields become, in the order of the schema or of the stored type."""
        found: list[tuple[str, str | None]] = []
        if self.fields is not None:
            found = [(it.column, it.spark_type) for it in self.fields]
        elif stored is not None:
            found = [(field.name, None) for field in struct_of(stored) or ()]
        prefix = f"{self.alias}_" if self.alias else ""
        return [
            FieldColumn(f"{prefix}{name}", name, self._rule(name), kind) for name, kind in found
        ]

    def _rule(self, field: str) -> str:
        what = "first context" if self.is_context else "self-describing event"
        return f"Field `{field}` of the {what} `{self.uri.vendor}/{self.uri.name}`."

    def flattened(self, events: DataFrame) -> list[Column]:
        """The columns, from events that have the payload in the models' shape."""
        stored = events.schema[self.column].dataType
        names = {field.name for field in struct_of(stored) or ()}
        payload = self.value(events)
        return [
            commented(
                payload.getField(it.field)
                if it.field in names
                else F.lit(None).cast(it.type or "string"),
                it.name,
                it.rule,
            )
            for it in self.field_columns(stored)
        ]

    def value(self, events: DataFrame) -> Column:
        """The self-describing event, or the first context; null when there is none."""
        column = F.col(self.column)
        stored = events.schema[self.column].dataType
        return F.get(column, F.lit(0)) if isinstance(stored, ArrayType) else column


def commented(value: Column, name: str, rule: str) -> Column:
    """A column whose rule becomes its comment in the table."""
    return value.alias(name, metadata={"comment": rule})


def payloads(
    schemas: Sequence[str],
    aliases: Sequence[str] = (),
    *,
    is_context: bool,
    fields: Mapping[str, Fields],
    compat: bool = False,
) -> list[Payload]:
    """The payloads that schemas name; versions that share column and alias are one payload.

    Without aliases, several schemas get their own names for it, and a single one gets none.
    """
    found: dict[tuple[str, str | None], Payload] = {}
    for number, text in enumerate(schemas):
        uri = SchemaUri.parse(text)
        alias = _alias(uri, number, schemas, aliases, compat)
        payload = Payload(uri, is_context, alias, fields.get(text))
        same = found.get((payload.column, alias))
        if same is not None:
            payload = Payload(same.uri, is_context, alias, union([same, payload]))
        found[payload.column, alias] = payload
    return list(found.values())


def _alias(
    uri: SchemaUri, number: int, schemas: Sequence[str], aliases: Sequence[str], compat: bool
) -> str | None:
    if aliases:
        return aliases[number]
    if len(schemas) == 1:
        return None
    return uri.name if compat else snake_case(uri.name)


def union(same_column: Iterable[Payload]) -> Fields | None:
    """The fields of payloads that share a column; None when one of them takes what is stored."""
    found: dict[str, SchemaField] = {}
    for payload in same_column:
        if payload.fields is None:
            return None
        for field in payload.fields:
            found.setdefault(field.column, field)
    return tuple(found.values())
