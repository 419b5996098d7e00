"""A JSON Schema of windrow.yml for editors, made from the same types that check it."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from windrow.config.options import Known
from windrow.config.overrides import PREFIX, ignored_options
from windrow.config.project_file import ProjectFile

_VARIABLE = {
    "type": ["string", "null"],
    "pattern": r"^\$\{[A-Za-z_][A-Za-z0-9_]*(:-[^}]*)?\}$",
    "description": "Nothing, or an environment variable: ${VAR} or ${VAR:-default}.",
}
_IGNORED = {"description": "Accepted for compatibility, without effect."}
_ANNOTATIONS = ("title", "description", "default")


def json_schema(known: Known) -> dict[str, Any]:
    """The schema of a windrow.yml with these packages, JSON Schema draft 2020-12."""
    models: list[type[BaseModel]] = [ProjectFile, *known.values()]
    _, schema = models_json_schema([(model, "validation") for model in models])
    definitions = {name: _with_variables(part) for name, part in schema["$defs"].items()}
    for package, settings in known.items():
        rules = definitions[settings.__name__]
        rules["properties"] = _with_spellings(rules["properties"], package, known)
    definitions["Variable"] = _VARIABLE
    project = definitions.pop(ProjectFile.__name__)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **project,
        "title": "windrow.yml",
        "description": "Configuration of a windrow project.",
        "properties": {**project["properties"], "packages": _packages(known)},
        "$defs": definitions,
    }


def _packages(known: Known) -> dict[str, Any]:
    return {
        "type": ["object", "null"],
        "description": "Packages to run, by name, each with its options.",
        "additionalProperties": False,
        "properties": {
            package: {
                "description": f"Options of the {package} package.",
                "anyOf": [{"$ref": f"#/$defs/{settings.__name__}"}, {"type": "null"}],
            }
            for package, settings in known.items()
        },
    }


def _with_spellings(rules: dict[str, Any], package: str, known: Known) -> dict[str, Any]:
    """The rules of a package's options, under every name by which people may write them."""
    settings = known[package]

    def same_as(option: str) -> dict[str, Any]:
        return {"$ref": f"#/$defs/{settings.__name__}/properties/{option}"}

    others = {other: same_as(option) for option, other in settings.written_as.items()}
    ignored = dict.fromkeys(sorted(ignored_options(package, known)), _IGNORED)
    options = rules | {name: it for name, it in (others | ignored).items() if name not in rules}
    return options | {f"{PREFIX}{name}": same_as(name) for name in options}


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
