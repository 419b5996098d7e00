"""From the events' columns as they are stored to the shape in which the models flatten them.

A self-describing event is a struct, a context an array of structs, fields in snake_case; stored
they may also be JSON text, have camelCase fields, or be spread over a column per minor version.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, StringType, StructType

from windrow.atomic.names import snake_case
from windrow.atomic.source import Reshaped
from windrow.errors import SourceError
from windrow.packages.normalize.payloads import Fields, Payload, union
from windrow.packages.normalize.settings import NormalizeSettings
from windrow.packages.normalize.tables import all_tables, check_columns, users_table


def reshape(raw: DataFrame, settings: NormalizeSettings) -> Reshaped:
    """The columns that the tables need, made of the stored ones; stops at what cannot be made."""
    types = {field.name: field.dataType for field in raw.schema.fields}
    columns = _in_other_case(types, settings)
    malformed: dict[str, Column] = {}
    notes = []
    for name, same_column in _by_column(settings).items():
        fields = union(same_column)
        payload = same_column[0]
        stored = _stored_as(types, payload)
        texts = [it for it in stored if isinstance(types[it], StringType)]
        if not stored and fields is None:
            raise SourceError(_why_missing(payload))
        if texts and fields is None:
            raise SourceError(_why_unreadable(payload, texts[0]))
        if not stored:
            notes.append(f"The events have no column {name} yet: what is made of it is null.")
        columns[name] = _shaped(types, stored, payload, fields)
        if texts:
            malformed[name] = _is_malformed(texts, fields or ())
    users = users_table(settings)
    if users is not None and "derived_tstamp" not in types:
        columns["derived_tstamp"] = F.lit(None).cast("timestamp")
    if settings.users is not None and settings.users.has_two_ids:
        notes.append("users.user_id names two schemas: the self-describing event is used.")
    shapes = raw.select(*(column.alias(name) for name, column in columns.items())).schema
    found = {field.name: field.dataType for field in shapes.fields}
    check_columns(settings, found)
    notes += _missing_fields(settings, found)
    return Reshaped(columns, malformed, tuple(notes))


def _by_column(settings: NormalizeSettings) -> dict[str, list[Payload]]:
    """Every payload that a table needs, by the events' column that it is in."""
    found: dict[str, list[Payload]] = {}
    users = users_table(settings)
    ids = (users.id_payload,) if users is not None and users.id_payload is not None else ()
    for payload in (*(p for t in all_tables(settings) for p in t.payloads), *ids):
        found.setdefault(payload.column, []).append(payload)
    return found


def _in_other_case(types: Mapping[str, DataType], settings: NormalizeSettings) -> dict[str, Column]:
    """Columns that the configuration spells with other capitals than the events do."""
    spelt = {name.lower(): name for name in types}
    wanted = {name for table in all_tables(settings) for name in table.columns}
    users = users_table(settings)
    if users is not None and users.id_payload is None:
        wanted.add(users.id_column)
    return {
        name: F.col(f"`{spelt[name.lower()]}`")
        for name in sorted(wanted)
        if name not in types and name.lower() in spelt
    }


def _stored_as(types: Mapping[str, DataType], payload: Payload) -> list[str]:
    """The stored columns of the payload: one, or one per minor version."""
    for spelling in payload.columns:
        pattern = re.compile(re.escape(spelling) + r"(_\d+_\d+)?")
        found = [name for name in types if pattern.fullmatch(name.lower())]
        if found:
            return sorted(found, key=lambda name: (name.lower() != spelling, name))
    return []


def _why_missing(payload: Payload) -> str:
    return (
        f"The events have no column {' or '.join(payload.columns)}, and windrow has no document of "
        f"{payload.uri} that would tell its fields. Correct the schema's URI, or put the document "
        "into a folder and name that as packages.normalize.schemas."
    )


def _why_unreadable(payload: Payload, column: str) -> str:
    return (
        f"Column '{column}' of the events is text, presumably JSON, and windrow has no document of "
        f"{payload.uri} that would tell its fields. Put the document into a folder and name that "
        "as packages.normalize.schemas."
    )


def _shaped(
    types: Mapping[str, DataType], stored: Sequence[str], payload: Payload, fields: Fields | None
) -> Column:
    kinds = _fields_of(types, stored, fields)
    if len(stored) == 1 and _is_in_shape(types[stored[0]], payload):
        return F.col(f"`{stored[0]}`")
    element = ",".join(f"`{name}`:{kind}" for name, kind in kinds.items())
    nothing = F.lit(None).cast(f"array<struct<{element}>>")
    versions = [_structs(name, types[name], kinds, fields or ()) for name in stored]
    contexts = F.coalesce(*versions, nothing)
    return contexts if payload.is_context else F.get(contexts, F.lit(0))


def _is_in_shape(kind: DataType, payload: Payload) -> bool:
    if isinstance(kind, ArrayType) != payload.is_context:
        return False
    struct = kind.elementType if isinstance(kind, ArrayType) else kind
    return isinstance(struct, StructType) and all(
        field.name == snake_case(field.name) for field in struct.fields
    )


def _fields_of(
    types: Mapping[str, DataType], stored: Sequence[str], fields: Fields | None
) -> dict[str, str]:
    """Field -> type, over all versions; a stored type counts before that of the schema."""
    kinds: dict[str, str] = {}
    for name in stored:
        kind = types[name]
        struct = kind.elementType if isinstance(kind, ArrayType) else kind
        if isinstance(struct, StructType):
            for field in struct.fields:
                kinds.setdefault(snake_case(field.name), field.dataType.simpleString())
        elif not isinstance(kind, StringType):
            raise SourceError(
                f"Column '{name}' has type {kind.simpleString()}, expected structs or JSON text."
            )
    return {**{it.column: it.spark_type for it in fields or ()}, **kinds} or {"nothing": "string"}


def _structs(name: str, kind: DataType, kinds: Mapping[str, str], fields: Fields) -> Column:
    """Any stored shape as an array of structs with these fields."""
    column = F.col(f"`{name}`")
    if isinstance(kind, StringType):
        structs, found = _parsed(column, fields), _spellings(fields)
    elif isinstance(kind, ArrayType):
        assert isinstance(kind.elementType, StructType)
        structs, found = column, [field.name for field in kind.elementType.fields]
    else:
        assert isinstance(kind, StructType)
        structs = F.when(column.isNotNull(), F.array(column))
        found = [field.name for field in kind.fields]

    def canonical(item: Column) -> Column:
        members = []
        for field, wanted in kinds.items():
            spelt = [item.getField(it) for it in found if snake_case(it) == field]
            value = F.coalesce(*spelt) if spelt else F.lit(None)
            members.append(value.try_cast(wanted).alias(field))
        return F.when(item.isNotNull(), F.struct(*members))

    return F.transform(structs, canonical)


def _spellings(fields: Fields) -> list[str]:
    names = {it.lower(): it for field in fields for it in (field.column, field.name)}
    return list(names.values())


def _parsed(text: Column, fields: Fields) -> Column:
    # Single values are taken as text, because some trackers put numbers in quotes; arrays and
    # objects stay the JSON text that they are.
    members = ",".join(f"`{name}`:string" for name in _spellings(fields))
    return F.from_json(text, f"array<struct<{members}>>")


def _is_malformed(texts: Sequence[str], fields: Fields) -> Column:
    found = F.lit(False)
    for name in texts:
        column = F.col(f"`{name}`")
        found |= column.isNotNull() & _parsed(column, fields).isNull()
    return found


def _missing_fields(settings: NormalizeSettings, stored: Mapping[str, DataType]) -> list[str]:
    """What to say of fields that schemas have and the events lack."""
    missing: dict[str, None] = {}
    for name, same_column in _by_column(settings).items():
        kind = stored[name]
        struct = kind.elementType if isinstance(kind, ArrayType) else kind
        assert isinstance(struct, StructType)
        for field in union(same_column) or ():
            if field.column not in struct.fieldNames():
                missing[f"{name}.{field.column}"] = None
    if not missing:
        return []
    return [f"The events lack these fields of schemas, which are null: {', '.join(missing)}."]
