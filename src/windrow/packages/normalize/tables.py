"""Which tables a configuration asks for, and which columns each of them has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import DataType

from windrow.atomic.columns import STANDARD_COLUMNS
from windrow.atomic.names import snake_case
from windrow.columns.rules import column, rule_of
from windrow.errors import ConfigError
from windrow.packages.normalize.iglu import SchemaField, SchemaUri
from windrow.packages.normalize.payloads import Payload, commented, payloads
from windrow.packages.normalize.settings import EventTable, NormalizeSettings
from windrow.tables import Columns

EVENT_COLUMNS: Columns = {
    "event_id": STANDARD_COLUMNS["event_id"],
    "collector_tstamp": STANDARD_COLUMNS["collector_tstamp"],
    "collector_tstamp_date": column("date", "Day of `collector_tstamp` in UTC."),
}
"""What every event table begins with."""

LATEST_COLUMNS: Columns = {
    "latest_collector_tstamp": column(
        "timestamp", "When the collector received the user's latest event."
    ),
    "latest_collector_tstamp_date": column("date", "Day of `latest_collector_tstamp` in UTC."),
}
"""What the users table has behind the user's id."""


@dataclass(frozen=True)
class NormalizedTable:
    """The events of some names, and what becomes columns of them."""

    name: str
    event_names: tuple[str, ...]
    columns: tuple[str, ...]
    payloads: tuple[Payload, ...]

    def names(self, stored: Mapping[str, DataType]) -> list[str]:
        """All columns, as far as schemas or stored types tell them."""
        return [*EVENT_COLUMNS, *self.columns, *_fields(self.payloads, stored)]


@dataclass(frozen=True)
class UsersTable:
    """Where users' ids are, and what becomes columns of a user's latest event."""

    name: str
    key: str
    id_column: str
    """A column of the events, or a field of `id_payload`."""
    id_payload: Payload | None
    columns: tuple[str, ...]
    payloads: tuple[Payload, ...]

    def names(self, stored: Mapping[str, DataType]) -> list[str]:
        """All columns, as far as schemas or stored types tell them."""
        return [self.key, *LATEST_COLUMNS, *self.columns, *_fields(self.payloads, stored)]


def _fields(payloads: Iterable[Payload], stored: Mapping[str, DataType]) -> list[str]:
    return [it.name for p in payloads for it in p.field_columns(stored.get(p.column))]


def event_tables(settings: NormalizeSettings) -> list[NormalizedTable]:
    """The event tables, in the order of the configuration."""
    return [
        _event_table(name, entry, settings)
        for name, entry in zip(settings.table_names, settings.event_tables, strict=True)
    ]


def _event_table(name: str, entry: EventTable, settings: NormalizeSettings) -> NormalizedTable:
    made = partial(payloads, fields=settings.fields, compat=settings.compat)
    events = made(
        entry.self_describing_event_schemas, entry.self_describing_event_aliases, is_context=False
    )
    contexts = made(entry.context_schemas, entry.context_aliases, is_context=True)
    fixed = {"event_id", "collector_tstamp"}
    columns = tuple(sorted(set(entry.event_columns) - fixed))
    return NormalizedTable(name, tuple(entry.event_names), columns, (*events, *contexts))


def users_table(settings: NormalizeSettings) -> UsersTable | None:
    """The users table, if there is to be one."""
    if settings.users is None:
        return None
    users, user_id = settings.users, settings.users.user_id
    id_event, id_context = user_id.id_self_describing_event_schema, user_id.id_context_schema
    id_column, key = snake_case(user_id.id_column), settings.id_alias
    id_payload = None
    if id_event or id_context:
        uri = SchemaUri.parse(id_event or id_context or "")
        fields = settings.fields.get(str(uri), (SchemaField(user_id.id_column, "string"),))
        id_payload = Payload(uri, is_context=not id_event, fields=fields)
    contexts = [
        payload
        for schema in users.user_contexts
        for payload in payloads([schema], is_context=True, fields=settings.fields)
    ]
    columns = tuple(dict.fromkeys(name for name in users.user_columns if name != key))
    return UsersTable(
        settings.config.users_table_name, key, id_column, id_payload, columns, _merged(contexts)
    )


def _merged(contexts: Sequence[Payload]) -> tuple[Payload, ...]:
    """Versions of one context as one."""
    versions: dict[str, list[str]] = {}
    fields = {str(it.uri): it.fields for it in contexts if it.fields is not None}
    for it in contexts:
        versions.setdefault(it.column, []).append(str(it.uri))
    return tuple(
        # The alias that several schemas would get is not wanted here.
        payloads(uris, [""] * len(uris), is_context=True, fields=fields)[0]
        for uris in versions.values()
    )


def all_tables(settings: NormalizeSettings) -> list[NormalizedTable | UsersTable]:
    """The tables whose columns the configuration chooses."""
    users = users_table(settings)
    return [*event_tables(settings), *([users] if users else [])]


def check_columns(settings: NormalizeSettings, stored: Mapping[str, DataType]) -> None:
    """Stop at a table that would have a column twice.

    `stored`: the types of the payloads in the events, by column; those that are missing are not
    known yet.
    """
    for table in all_tables(settings):
        counts = Counter(name.lower() for name in table.names(stored))
        twice = [name for name, count in counts.items() if count > 1]
        if twice and isinstance(table, UsersTable) and table.key.lower() in twice:
            raise ConfigError(
                f"packages.normalize.users: the user id is called '{table.key}', as is another "
                "column of the table. Give user_id another alias."
            )
        if twice:
            raise ConfigError(
                f"packages.normalize: table '{table.name}' would have these columns twice: "
                f"{', '.join(twice)}. Give the schemas aliases, or leave a column out."
            )


def event_columns(names: Sequence[str]) -> list[Column]:
    """Columns of the events as they are, with their rules."""
    return [
        commented(
            F.col(f"`{name}`"),
            name,
            rule_of(STANDARD_COLUMNS.get(name.lower(), "")) or f"Column `{name}` of the event.",
        )
        for name in names
    ]
