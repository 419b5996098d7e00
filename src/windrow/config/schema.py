"""A JSON Schema of windrow.yml for editors, made from the same types that check it."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from windrow.config.options import IGNORED_OPTIONS
from windrow.config.overrides import PREFIX
from windrow.config.packages import PACKAGES
from windrow.config.project_file import ProjectFile

_VARIABLE = {
    "type": ["string", "null"],
    "pattern": r"^\$\{[A-Za-z_][A-Za-z0-9_]*(:-[^}]*)?\}$",
    "description": "Nothing, or an environment variable: ${VAR} or ${VAR:-default}.",
}
_IGNORED = {"description": "Accepted and ignored: it means nothing on Spark."}
_ANNOTATIONS = ("title", "description", "default")


def json_schema() -> dict[str, Any]:
    """The schema of windrow.yml, JSON Schema draft 2020-12."""
    models: list[type[BaseModel]] = [ProjectFile, *PACKAGES.values()]
    _, schema = models_json_schema([(model, "validation") for model in models])
    definitions = {name: _with_variables(part) for name, part in schema["$defs"].items()}
    for settings in PACKAGES.values():
        definitions[settings.__name__] = _with_spellings(definitions[settings.__name__])
    definitions["Variable"] = _VARIABLE
    project = definitions.pop(ProjectFile.__name__)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **project,
        "title": "windrow.yml",
        "description": "Configuration of a windrow project.",
        "properties": {**project["properties"], "packages": _packages()},
        "$defs": definitions,
    }


def _packages() -> dict[str, Any]:
    return {
        "type": ["object", "null"],
        "description": "Packages to run, by name, each with its options.",
        "additionalProperties": False,
        "properties": {
            package: {
                "description": f"Options of the {package} package.",
                "anyOf": [{"$ref": f"#/$defs/{settings.__name__}"}, {"type": "null"}],
            }
            for package, settings in PACKAGES.items()
        },
    }


def _with_spellings(settings: dict[str, Any]) -> dict[str, Any]:
    options = settings["properties"] | {name: _IGNORED for name in sorted(IGNORED_OPTIONS)}
    prefixed = {
        f"{PREFIX}{name}": {"$ref": f"#/$defs/{settings['title']}/properties/{name}"}
        for name in options
    }
    return {**settings, "properties": options | prefixed}


def _with_variables(part: dict[str, Any]) -> dict[str, Any]:
    properties = {name: _or_variable(option) for name, option in part.get("properties", {}).items()}
    return {**part, "properties": properties}


def _or_variable(option: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in option or option.get("type") in ("object", "array"):
        return option
    notes = {key: option[key] for key in _ANNOTATIONS if key in option}
    rule = {key: value for key, value in option.items() if key not in _ANNOTATIONS}
    choices = rule.get("anyOf", [rule])
    return {**notes, "anyOf": [*choices, {"$ref": "#/$defs/Variable"}]}
