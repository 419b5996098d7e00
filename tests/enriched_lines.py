"""Enriched events as lines for tests: literal values in, tab-separated text out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from windrow.atomic.enriched import FIELDS
from windrow.atomic.entity_columns import IAB, WEB_PAGE, WEB_VITALS

OURS = "iglu:com.snowplowanalytics.snowplow"
SCHEMAS = {
    WEB_PAGE.name: f"{OURS}/web_page/jsonschema/1-0-0",
    IAB.name: "iglu:com.iab.snowplow/spiders_and_robots/jsonschema/1-0-3",
    WEB_VITALS.name: f"{OURS}/web_vitals/jsonschema/1-0-0",
}


def contexts(*entities: tuple[str, Any]) -> str:
    """Entities, each a schema and its data, as a line has them."""
    data = [{"schema": schema, "data": it} for schema, it in entities]
    return json.dumps({"schema": f"{OURS}/contexts/jsonschema/1-0-1", "data": data})


def unstruct_event(schema: str, data: Any) -> str:
    """A self-describing event as a line has it."""
    described = {"schema": schema, "data": data}
    return json.dumps({"schema": f"{OURS}/unstruct_event/jsonschema/1-0-0", "data": described})


def line(**fields: Any) -> str:
    """A line with these fields; the others are empty."""
    assert set(fields) <= set(FIELDS)
    given = {"event_id": "e1", "collector_tstamp": "2024-01-02 10:00:00.000", **fields}
    return "\t".join(_text(given.get(name)) for name in FIELDS)


def line_of(event: Mapping[str, Any]) -> str:
    """The line of an event that has a column for each entity, as a table would."""
    flat = {name: value for name, value in event.items() if name in FIELDS}
    sent = [(SCHEMAS[n], it) for n in (WEB_PAGE.name, IAB.name) for it in event.get(n) or ()]
    if sent:
        flat["contexts"] = contexts(*sent)
    return line(**flat)


def write_lines(file: Path, lines: Iterable[str]) -> None:
    """A file of lines."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{it}\n" for it in lines), newline="")


def _text(value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return str(int(value))
        case datetime():
            return f"{value:%Y-%m-%d %H:%M:%S}.{value.microsecond // 1000:03d}"
    return str(value)
