"""From the events' columns as they are stored to the shape in which the models flatten them.

A payload may be stored in any shape that entities have (`atomic/entities.py`). Its fields are those
that its schema has, or those that are stored.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, StructType

from windrow.atomic.entities import StoredEntity, stored_fields, stored_versions, struct_of
from windrow.atomic.names import snake_case
from windrow.atomic.source import Reshaped
from windrow.errors import SourceError
from windrow.packages.normalize.payloads import Fields, Payload, union
from windrow.packages.normalize.settings import NormalizeSettings
from windrow.packages.normalize.tables import all_tables, check_columns, users_table
from windrow.tables.sql import quoted


def reshape(raw: DataFrame, settings: NormalizeSettings) -> Reshaped:
    """The columns that the tables need, made of the stored ones; stops at what cannot be made."""
    types = {field.name: field.dataType for field in raw.schema.fields}
    columns = _in_other_case(types, settings)
    malformed: dict[str, Column] = {}
    notes = []
    for name, same_column in _by_column(settings).items():
        fields, payload = union(same_column), same_column[0]
        stored = _stored(types, payload, fields)
        if not stored.columns and fields is None:
            raise SourceError(_why_missing(payload))
        if stored.texts and fields is None:
            raise SourceError(_why_unreadable(payload, stored.texts[0]))
        if not stored.columns:
            notes.append(f"The events have no column {name} yet: what is made of it is null.")
        columns[name] = _shaped(stored)
        if stored.texts:
            malformed[name] = stored.is_malformed()
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
        name: F.col(quoted(spelt[name.lower()]))
        for name in sorted(wanted)
        if name not in types and name.lower() in spelt
    }


def _stored(types: Mapping[str, DataType], payload: Payload, fields: Fields | None) -> StoredEntity:
    """The payload in the events; a stored type counts before that of the schema."""
    columns = stored_versions(types, *payload.columns)
    kinds = {it.column: it.spark_type for it in fields or ()} | stored_fields(columns)
    spellings = tuple(name for it in fields or () for name in (it.column, it.name))
    return StoredEntity(columns, kinds or {"nothing": "string"}, payload.is_context, spellings)


def _shaped(stored: StoredEntity) -> Column:
    """The payload as the models take it; as it is where it is stored so."""
    if len(stored.columns) == 1:
        ((name, kind),) = stored.columns.items()
        names = (struct_of(kind) or StructType()).fieldNames()
        is_in_shape = names and isinstance(kind, ArrayType) == stored.is_array
        if is_in_shape and all(it == snake_case(it) for it in names):
            return F.col(quoted(name))
    return stored.column()


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


def _missing_fields(settings: NormalizeSettings, stored: Mapping[str, DataType]) -> list[str]:
    """What to say of fields that schemas have and the events lack."""
    missing: dict[str, None] = {}
    for name, same_column in _by_column(settings).items():
        struct = struct_of(stored[name])
        assert struct is not None
        for field in union(same_column) or ():
            if field.column not in struct.fieldNames():
                missing[f"{name}.{field.column}"] = None
    if not missing:
        return []
    return [f"The events lack these fields of schemas, which are null: {', '.join(missing)}."]
