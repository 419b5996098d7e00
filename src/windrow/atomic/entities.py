"""Entities and self-describing events in any shape in which they are stored -> one shape.

Stored, one is an array of structs, a struct or JSON text; its fields are in snake_case or as the
tracker spells them; it has one column, or one for each minor version of its schema. Made of that:
an array of structs, or of a self-describing event one struct, with fields in snake_case.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import or_

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, StringType, StructType

from windrow.atomic.entity_columns import EntityColumn
from windrow.atomic.names import camel_case, snake_case
from windrow.errors import SourceError
from windrow.tables.sql import quoted


@dataclass(frozen=True)
class StoredEntity:
    """The stored columns of an entity or self-describing event, and what is to be made of them."""

    columns: Mapping[str, DataType]
    """Stored column -> its type; none where the events have no such column."""
    fields: Mapping[str, str]
    """Field, in snake_case -> its type."""
    is_array: bool
    """True for an entity, of which an event may have several."""
    spellings: tuple[str, ...]
    """The names that the fields may have in JSON text."""

    @property
    def texts(self) -> list[str]:
        """The stored columns that are JSON text."""
        return [name for name, kind in self.columns.items() if isinstance(kind, StringType)]

    def column(self) -> Column:
        """It in the one shape; null where an event has none, or where its text cannot be read."""
        members = ",".join(f"{quoted(name)}:{kind}" for name, kind in self.fields.items())
        nothing = F.lit(None).cast(f"array<struct<{members}>>")
        versions = [self._structs(name, kind) for name, kind in self.columns.items()]
        structs = F.coalesce(*versions, nothing)
        return structs if self.is_array else F.get(structs, F.lit(0))

    def is_malformed(self) -> Column:
        """True where it has JSON text that cannot be read."""
        texts = [F.col(quoted(name)) for name in self.texts]
        bad = (text.isNotNull() & self._parsed(text).isNull() for text in texts)
        return reduce(or_, bad, F.lit(False))

    def _structs(self, name: str, kind: DataType) -> Column:
        """One stored column as an array of structs with the wanted fields."""
        column = F.col(quoted(name))
        struct = struct_of(kind)
        if struct is None:
            return F.transform(self._parsed(column), lambda it: self._shaped(it, self.spellings))
        names = struct.fieldNames()
        several = isinstance(kind, ArrayType)
        structs = column if several else F.when(column.isNotNull(), F.array(column))
        return F.transform(structs, lambda it: self._shaped(it, names))

    def _shaped(self, item: Column, names: Iterable[str]) -> Column:
        """One struct with the wanted fields, of one that has fields of these names."""
        members = []
        for field, wanted in self.fields.items():
            spelt = [item.getField(name) for name in names if snake_case(name) == field]
            value = F.coalesce(*spelt) if spelt else F.lit(None)
            members.append(value.try_cast(wanted).alias(field))
        return F.when(item.isNotNull(), F.struct(*members))

    def _parsed(self, text: Column) -> Column:
        # Column names do not tell upper from lower case, so that a spelling must come once only.
        spellings = {name.lower(): name for name in self.spellings}.values()
        members = ",".join(f"{quoted(name)}:{self._json_type(name)}" for name in spellings)
        return F.from_json(text, f"array<struct<{members}>>")

    def _json_type(self, spelling: str) -> str:
        # Single values are taken as text, because some trackers put numbers in quotes.
        wanted = self.fields.get(snake_case(spelling), "string")
        return wanted if wanted.startswith(("array", "map", "struct")) else "string"


def known_entity(entity: EntityColumn, types: Mapping[str, DataType]) -> StoredEntity:
    """An entity that windrow knows, in events whose columns have these types."""
    both = ((name, camel_case(name)) for name in entity.fields)
    spellings = tuple(spelling for pair in both for spelling in pair)
    columns = stored_versions(types, entity.name)
    return StoredEntity(columns, entity.fields, entity.is_array, spellings)


def stored_versions(types: Mapping[str, DataType], *names: str) -> dict[str, DataType]:
    """The stored columns of an entity, or of the first of its names that there is a column of.

    There is one, or one for each minor version of the schema; a column of another type than an
    entity can have stops the command.
    """
    for name in names:
        pattern = re.compile(rf"{re.escape(name)}(_\d+_\d+)?", re.IGNORECASE)
        found = [it for it in types if pattern.fullmatch(it)]
        for it in found:
            if struct_of(types[it]) is None and not isinstance(types[it], StringType):
                raise SourceError(
                    f"Column '{it}' has type {types[it].simpleString()}, expected structs or JSON "
                    "text."
                )
        if found:
            return {it: types[it] for it in sorted(found, key=lambda it: (it.lower() != name, it))}
    return {}


def stored_fields(columns: Mapping[str, DataType]) -> dict[str, str]:
    """Field, in snake_case -> its type, over all stored versions; of JSON text none is known."""
    fields: dict[str, str] = {}
    for kind in columns.values():
        for field in struct_of(kind) or ():
            fields.setdefault(snake_case(field.name), field.dataType.simpleString())
    return fields


def struct_of(kind: DataType) -> StructType | None:
    """The struct that a stored entity is, or is an array of; None for any other type."""
    inner = kind.elementType if isinstance(kind, ArrayType) else kind
    return inner if isinstance(inner, StructType) else None
