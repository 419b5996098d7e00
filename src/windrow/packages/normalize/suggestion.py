"""A configuration proposed from the events: which types there are, and what is filled in them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, StructType

from windrow.atomic.names import snake_case
from windrow.packages.normalize.iglu import SchemaUri

MOST_TYPES = 1000
"""More event types than that are names that something makes up, such as a URL."""

COMMON = 0.5
"""A column is proposed when this share of a type's events has it."""

_PAYLOAD = re.compile(r"(?P<kind>unstruct_event|contexts)_(?P<name>.+?)_(?P<major>\d+)(_\d+_\d+)?")
_VENDORS = (
    "com_snowplowanalytics_snowplow_ecommerce",
    "com_snowplowanalytics_snowplow_media",
    "com_snowplowanalytics_snowplow",
    "com_snowplowanalytics_mobile",
    "com_iab_snowplow",
    "nl_basjes",
    "org_w3",
    "org_ietf",
)
_TECHNICAL = re.compile(
    r"event(_.*)?|v_.*|name_tracker|etl_.*|collector_tstamp|load_tstamp.*|true_tstamp|contexts"
    r"|derived_contexts|unstruct_event|txn_id|refr_dvce_tstamp|.*_date"
)


@dataclass(frozen=True)
class EventType:
    """One value of `event_name`, and what its events carry."""

    name: str
    events: int
    schema: str | None
    """The self-describing event that they are, if they are one."""
    contexts: Mapping[str, int]
    """Schema URI -> how many of the events have that context."""
    columns: tuple[str, ...]
    """Columns that most of the events fill."""

    def entry(self, fields: Mapping[str, Sequence[str]]) -> dict[str, Any]:
        """The entry of `events` that makes a table of the type."""
        found: dict[str, Any] = {
            "event_names": [self.name],
            "event_columns": list(self.columns),
        }
        if self.schema:
            found["self_describing_event_schemas"] = [self.schema]
            if set(fields.get(self.schema, ())) & {*self.columns, "event_id", "collector_tstamp"}:
                found["self_describing_event_aliases"] = [snake_case(self.name)]
        if self.contexts:
            found["context_schemas"] = list(self.contexts)
            # With aliases no two contexts, nor a context and the event, can share a column.
            found["context_aliases"] = [snake_case(SchemaUri.parse(u).name) for u in self.contexts]
        if re.fullmatch(r"[A-Za-z0-9_-]+", self.name) is None:
            found["table_name"] = re.sub(r"\W+", "_", snake_case(self.name)).strip("_") or "events"
        return found


@dataclass(frozen=True)
class Suggestion:
    """What was found, and the configuration that takes all of it."""

    types: tuple[EventType, ...]
    configuration: dict[str, Any]


def suggest(events: DataFrame) -> Suggestion:
    """Look at the events once and propose a table for each type, most frequent first."""
    payloads = {
        field.name: found
        for field in events.schema.fields
        if (found := _PAYLOAD.fullmatch(field.name.lower())) and field.name not in ("event",)
    }
    flat = [
        field.name
        for field in events.schema.fields
        if field.name not in payloads and not _TECHNICAL.fullmatch(field.name.lower())
    ]
    versions = [n for n in ("event_vendor", "event_format", "event_version") if n in events.columns]
    kinds = {field.name: field.dataType for field in events.schema.fields}
    counted = (
        events.where(F.col("event_name").isNotNull())
        .groupBy("event_name")
        .agg(
            F.count(F.lit(1)).alias("events"),
            *(F.max(name).alias(name) for name in versions),
            *(F.count_if(_is_filled(name, kinds[name])).alias(name) for name in (*payloads, *flat)),
        )
        .orderBy(F.desc("events"), "event_name")
        .limit(MOST_TYPES)
        .collect()
    )
    types = tuple(_event_type(row, payloads, flat) for row in counted)
    fields = _fields_of_schemas(types, kinds)
    configuration = {
        "config": {"filtered_events_table_name": "snowplow_events_normalized"},
        "events": [it.entry(fields) for it in types],
        "users": {"user_columns": [n for n in ("domain_userid", "app_id") if n in flat]},
    }
    return Suggestion(types, configuration)


def _is_filled(name: str, kind: DataType) -> Column:
    column = F.col(f"`{name}`")
    return F.size(column) > 0 if isinstance(kind, ArrayType) else column.isNotNull()


def _event_type(row: Row, payloads: Mapping[str, re.Match[str]], flat: Sequence[str]) -> EventType:
    filled = {name: row[name] for name in payloads if row[name]}
    own = [name for name in filled if payloads[name]["kind"] == "unstruct_event"]
    contexts: dict[str, int] = {}
    for name, count in filled.items():
        if payloads[name]["kind"] == "contexts":
            uri = _uri(payloads[name])
            contexts[uri] = max(count, contexts.get(uri, 0))
    least = COMMON * row["events"]
    return EventType(
        name=row["event_name"],
        events=row["events"],
        schema=_schema(row, payloads[max(own, key=lambda n: filled[n])]) if own else None,
        contexts=contexts,
        columns=tuple(sorted(name for name in flat if row[name] >= least and row[name])),
    )


def _schema(row: Row, column: re.Match[str]) -> str:
    """The schema that the events name, if the column is that schema's; else one that fits it."""
    told = row.asDict()
    parts = (told.get(f"event_{part}") for part in ("vendor", "format", "version"))
    vendor, format_, version = parts
    try:
        uri = SchemaUri.parse(f"iglu:{vendor}/{row['event_name']}/{format_}/{version}")
    except ValueError:
        return _uri(column)
    is_it = _without_minor(column) in uri.columns("unstruct_event")
    return str(uri) if is_it else _uri(column)


def _without_minor(column: re.Match[str]) -> str:
    return f"{column['kind']}_{column['name']}_{column['major']}"


def _uri(column: re.Match[str]) -> str:
    """A schema whose column it is. Dots and hyphens of its vendor cannot be told from the name."""
    name = column["name"]
    vendor = next((it for it in _VENDORS if name.startswith(f"{it}_")), None)
    if vendor is None:
        parts = name.split("_")
        vendor = "_".join(parts[: 2 if len(parts) > 2 else 1])
    rest = name.removeprefix(f"{vendor}_") if name != vendor else name
    return f"iglu:{vendor.replace('_', '.')}/{rest}/jsonschema/{column['major']}-0-0"


def _fields_of_schemas(
    types: Sequence[EventType], kinds: Mapping[str, DataType]
) -> dict[str, list[str]]:
    """Schema URI -> the columns that its fields would become, where structs tell them."""
    structs = {n.lower(): k for n, k in kinds.items() if isinstance(k, StructType)}
    found: dict[str, list[str]] = {}
    for schema in {it.schema for it in types if it.schema}:
        for spelling in SchemaUri.parse(schema).columns("unstruct_event"):
            if spelling in structs:
                found[schema] = [snake_case(f.name) for f in structs[spelling].fields]
    return found
