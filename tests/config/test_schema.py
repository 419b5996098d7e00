"""The JSON Schema: complete, described, and in agreement with what loading accepts."""

import json
import re
from typing import Any

import pytest
import yaml

from project_files import MINIMAL, Loaded, Problems, with_web
from windrow import config
from windrow.config import json_schema
from windrow.packages import SETTINGS

from .test_load import SAMPLE

SCHEMA = json_schema(SETTINGS)
TYPES: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
}


def is_valid(value: Any, rule: dict[str, Any]) -> bool:
    """Whether a value keeps the rules of a schema, as far as ours uses them."""
    if "$ref" in rule and not is_valid(value, referred(rule["$ref"])):
        return False
    if "anyOf" in rule and not any(is_valid(value, choice) for choice in rule["anyOf"]):
        return False
    if "enum" in rule and value not in rule["enum"]:
        return False
    if "type" in rule and not any(is_of_type(value, name) for name in names(rule["type"])):
        return False
    match value:
        case dict():
            return set(rule.get("required", ())) <= set(value) and all(
                is_valid(part, rule_for(key, rule)) for key, part in value.items()
            )
        case list():
            return all(is_valid(part, rule.get("items", {})) for part in value)
        case str():
            return re.search(rule.get("pattern", ""), value) is not None
        case int() | float():
            return bool(rule.get("minimum", value) <= value <= rule.get("maximum", value))
    return True


def rule_for(key: str, rule: dict[str, Any]) -> Any:
    other = rule.get("additionalProperties", {})
    return rule.get("properties", {}).get(key, {"enum": []} if other is False else other)


def referred(reference: str) -> dict[str, Any]:
    part = SCHEMA
    for step in reference.removeprefix("#/").split("/"):
        part = part[step]
    return part


def names(types: str | list[str]) -> list[str]:
    return [types] if isinstance(types, str) else types


def is_of_type(value: Any, name: str) -> bool:
    return isinstance(value, TYPES[name]) and (name == "boolean" or not isinstance(value, bool))


def read(text: str) -> Any:
    return json.loads(json.dumps(yaml.safe_load(text), default=str))


def test_schema_is_draft_2020_12_and_plain_json() -> None:
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert SCHEMA["title"] == "windrow.yml"
    assert json.loads(json.dumps(SCHEMA)) == SCHEMA


def test_every_object_refuses_unknown_keys() -> None:
    objects = [SCHEMA, *(part for part in SCHEMA["$defs"].values() if part["type"] == "object")]
    assert all(part["additionalProperties"] is False for part in objects)


def test_every_key_has_a_description() -> None:
    parts = [SCHEMA, *SCHEMA["$defs"].values()]
    options = [option for part in parts for option in part.get("properties", {}).items()]
    assert [name for name, it in options if not {"description", "$ref"} & set(it)] == []


@pytest.mark.parametrize("package", SETTINGS)
def test_every_option_is_there_in_both_spellings(package: str) -> None:
    settings = SETTINGS[package]
    ignored = {name for other in SETTINGS.values() for name in other.ignored_options}
    names = {*settings.model_fields, *settings.written_as.values(), *ignored}
    properties = SCHEMA["$defs"][settings.__name__]["properties"]
    assert set(properties) == names | {f"snowplow__{name}" for name in names}


@pytest.mark.parametrize(
    "text",
    [
        SAMPLE,
        MINIMAL,
        with_web(""),
        with_web("snowplow__start_date: 2024-01-01\nsnowplow__query_tag: x"),
        with_web("app_id: shop\nheartbeat: ${HEARTBEAT:-5}\ncompat: ${COMPAT:-true}"),
        with_web("events: a.b\ncluster_by: {page_views: [a]}\nmin_visit_length:"),
        with_web("conversion_events: {name: a, condition: x, default_value: 0.5}"),
        with_web("conversion_events: [{name: a, condition: x}]\nreference: {countries: a.csv}"),
        "name: x\ntargets: {a: {catalog: c, spark: {conf: {a: 1, b: true}, jars: a.jar}}}",
    ],
)
def test_what_loads_is_valid(loaded: Loaded, text: str) -> None:
    loaded(text)
    assert is_valid(read(text), SCHEMA)


@pytest.mark.parametrize(
    "text",
    [
        "name: x\n",
        MINIMAL + "event: {path: x}",
        MINIMAL + "packages: {wbe: {}}",
        MINIMAL + "schemas: {derived: a b}",
        "name: x\ntargets: {dev: {warehouse: w, format: dleta}}",
        with_web("heartbeet: 3"),
        with_web("heartbeat: 0"),
        with_web("snowplow__heartbeat: 0"),
        with_web("heartbeat: '3'"),
        with_web("compat: 1"),
        with_web("conversion_events: {name: a b, condition: x}"),
    ],
)
def test_what_does_not_load_is_not_valid(problems: Problems, text: str) -> None:
    problems(text)
    assert not is_valid(read(text), SCHEMA)


def test_public_names_are_pinned() -> None:
    assert set(config.__all__) == {
        "ATOMIC",
        "Aggregation",
        "Config",
        "EventsSource",
        "IdentifierSource",
        "InvalidConfigError",
        "Known",
        "ModelSettings",
        "PackageSettings",
        "Passthrough",
        "Problem",
        "ReferenceLists",
        "Schemas",
        "SparkSettings",
        "Target",
        "find_project",
        "flat",
        "json_schema",
        "load",
        "of_entity",
    }
    assert all(hasattr(config, name) for name in config.__all__)
