"""What `windrow normalize` prints: the tables of the configuration, or a configuration proposed."""

from __future__ import annotations

from collections.abc import Mapping

import yaml
from rich.console import Group, RenderableType
from rich.text import Text

from windrow.columns.rules import rule_of
from windrow.models.model import Model
from windrow.packages.normalize.suggestion import Suggestion
from windrow.report.documents import Document
from windrow.report.text import plain_table
from windrow.tables import Columns


def suggestion_document(found: Suggestion) -> Document:
    """The proposed configuration, and what it was made from."""
    return {
        "event_types": [
            {
                "event_name": it.name,
                "events": it.events,
                "schema": it.schema,
                "contexts": dict(it.contexts),
                "columns": list(it.columns),
            }
            for it in found.types
        ],
        "configuration": found.configuration,
    }


def suggestion_text(found: Suggestion) -> RenderableType:
    """The event types as a table, and the configuration to paste into windrow.yml."""
    table = plain_table(
        "event_name", "events", "self-describing event", "contexts", numbers=["events"]
    )
    for it in found.types:
        table.add_row(it.name, f"{it.events:,}", it.schema or "", "\n".join(it.contexts))
    block = {"packages": {"normalize": found.configuration}}
    written = yaml.safe_dump(block, sort_keys=False, default_flow_style=None, width=100)
    return Group(
        table, Text(), Text("# For windrow.yml; leave out what you do not need."), Text(written)
    )


def tables_document(tables: Mapping[str, tuple[Model, Columns]]) -> Document:
    """Every table of the configuration with its columns."""
    return {
        "tables": [
            {
                "table": name,
                "grain": member.grain,
                "key": list(member.key),
                "event_names": list(member.event_names),
                "columns": [
                    {"name": column, "type": str(type_), "rule": rule_of(type_)}
                    for column, type_ in columns.items()
                ],
            }
            for name, (member, columns) in tables.items()
        ]
    }


def tables_text(tables: Mapping[str, tuple[Model, Columns]]) -> RenderableType:
    """Every table of the configuration with its columns."""
    parts: list[RenderableType] = []
    for name, (member, columns) in tables.items():
        parts.append(Text().append(name, "bold").append(f": {member.grain}"))
        table = plain_table("column", "type", "rule")
        for column, type_ in columns.items():
            table.add_row(column, str(type_), rule_of(type_))
        parts += [table, Text()]
    return Group(*parts)
