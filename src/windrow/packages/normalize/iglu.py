"""Iglu schemas: how they are named, and the names and types that their fields have in tables."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from windrow.atomic.names import snake_case

_URI = re.compile(
    r"iglu:(?P<vendor>[\w.-]+)/(?P<name>[\w-]+)/(?P<format>[\w-]+)/(?P<version>\d+-\d+-\d+)"
)
_JSON_TYPES = ("null", "boolean", "integer", "number", "array", "object", "string")
"""JSON types, each able to hold the values of those before it."""

_SPARK_TYPES = {"boolean": "boolean", "integer": "bigint", "number": "double"}


@dataclass(frozen=True)
class SchemaUri:
    """A schema by vendor, name, format and version: `iglu:com.acme/thing/jsonschema/1-0-2`."""

    vendor: str
    name: str
    format: str
    version: str

    @staticmethod
    def parse(text: str) -> SchemaUri:
        """The parts of a URI; ValueError when it is none."""
        found = _URI.fullmatch(text)
        if found is None:
            raise ValueError("a schema URI such as iglu:com.acme/thing/jsonschema/1-0-0")
        return SchemaUri(**found.groupdict())

    def __str__(self) -> str:
        return f"iglu:{self.path}"

    @property
    def path(self) -> str:
        """Where registries and folders keep the schema."""
        return f"{self.vendor}/{self.name}/{self.format}/{self.version}"

    @property
    def major(self) -> str:
        """The model number of the version: versions that share it share a column."""
        return self.version.partition("-")[0]

    def columns(self, prefix: str) -> tuple[str, ...]:
        """The column of the events table that holds it, in the spellings that loaders use."""
        names = dict.fromkeys((self.name.lower(), snake_case(self.name)))
        return tuple(
            re.sub(r"[.-]", "_", f"{prefix}_{self.vendor}_{name}_{self.major}").lower()
            for name in names
        )


@dataclass(frozen=True)
class SchemaField:
    """A top-level property of a schema."""

    name: str
    type: str
    """The JSON type that holds all its values."""

    @property
    def column(self) -> str:
        """What it is called in tables."""
        return snake_case(self.name)

    @property
    def spark_type(self) -> str:
        """The type of the column where no stored value tells it."""
        return _SPARK_TYPES.get(self.type, "string")


def fields_of(document: Mapping[str, Any]) -> tuple[SchemaField, ...]:
    """The top-level properties of a JSON Schema, in its order; ValueError when it has none."""
    properties = document.get("properties")
    if not isinstance(properties, Mapping):
        raise ValueError("a JSON Schema with `properties`")
    return tuple(SchemaField(name, property_type(it)) for name, it in properties.items())


def property_type(rule: Any) -> str:
    """The JSON type that holds all values a property may have; ValueError when it names none."""
    if isinstance(rule, Mapping) and "type" in rule:
        given = rule["type"] if isinstance(rule["type"], list) else [rule["type"]]
        types = [str(name).lower() for name in given]
        if types and set(types) <= set(_JSON_TYPES):
            widest = max(types, key=_JSON_TYPES.index)
            return "boolean" if widest == "null" else widest
    elif isinstance(rule, Mapping) and isinstance(rule.get("enum"), list):
        return "number" if all(map(_is_number, rule["enum"])) else "string"
    raise ValueError("properties that each have a `type` or an `enum`")


def _is_number(value: object) -> bool:
    try:
        float(str(value))
    except ValueError:
        return False
    return True
