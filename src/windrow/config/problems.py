"""What is wrong with a configuration: one Problem per mistake, one InvalidConfigError for all."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from windrow.config.secrets import STARS, looks_secret, redacted
from windrow.errors import ConfigError, did_you_mean

KeyPath = tuple[str | int, ...]
Locate = Callable[[KeyPath], tuple[str, KeyPath]]
"""Where a validated path was written: (path in the model) -> (file, path in that file)."""

AnyModel = TypeVar("AnyModel", bound=BaseModel)

_LONGEST_VALUE = 80
_FEW_KEYS = 8

_EXPECTED = {
    "missing": "a value, because this key is required",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "string_type": "text (put quotes around it)",
    "string_too_short": "text that is not empty",
    "too_short": "at least one entry",
    "greater_than_equal": "a number of at least {ge}",
    "greater_than": "a number above {gt}",
    "less_than_equal": "a number of at most {le}",
    "literal_error": "{expected}",
    "date_type": "a date such as 2024-01-31",
    "dict_type": "a mapping of keys to values",
    "model_type": "a mapping of keys to values",
    "list_type": "a list",
    "tuple_type": "a list",
    "invalid_key": "keys that are text",
}


@dataclass(frozen=True)
class Problem:
    """One mistake: where it was written, what stands there and what should."""

    file: str
    path: str
    found: str
    expected: str = ""
    """What would be right; empty when the key itself is unknown."""
    hint: str = ""

    def __str__(self) -> str:
        rule = f", expected {self.expected}." if self.expected else "; there is no such key."
        return f"{self.file}: {self.path} is {self.found}{rule}{self.hint}"


class InvalidConfigError(ConfigError):
    """The configuration was read but cannot be used; `problems` says why, all at once."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        count = len(self.problems)
        heading = f"The configuration has {count} problem{'s' if count > 1 else ''}:"
        super().__init__("\n".join([heading, *(f"  {problem}" for problem in self.problems)]))


def problem(file: str, path: KeyPath, value: object, expected: str, hint: str = "") -> Problem:
    """A Problem whose value is fit to print."""
    return Problem(file, dotted(path), shown(path, value), expected, hint)


def unknown_key(file: str, path: KeyPath, value: object, known: Iterable[str]) -> Problem:
    """A Problem about a key nobody knows, with the nearest known one."""
    return problem(file, path, value, "", _suggestion(str(path[-1]), sorted(known)))


def check(
    model: type[AnyModel], value: object, locate: Locate
) -> tuple[AnyModel | None, list[Problem]]:
    """`value` as a `model`, or what is wrong with it."""
    try:
        return model.model_validate(value), []
    except ValidationError as error:
        # A default that waits for another field follows from that field's own problem.
        own = [it for it in error.errors() if it["type"] != "default_factory_not_called"]
        return None, [_problem_in(details, model, locate) for details in own]


def dotted(path: KeyPath) -> str:
    """The path as a reader would say it: `packages.web.heartbeat`."""
    return ".".join(str(step) for step in path)


def shown(path: KeyPath, value: object) -> str:
    """The value in one short line, never a secret one."""
    if looks_secret(dotted(path)):
        return STARS
    text = json.dumps(redacted(value), ensure_ascii=False)
    return text if len(text) <= _LONGEST_VALUE else text[:_LONGEST_VALUE] + "…"


def _problem_in(details: ErrorDetails, model: type[BaseModel], locate: Locate) -> Problem:
    file, path = locate(details["loc"])
    match details["type"]:
        case "extra_forbidden":
            known = _model_at(model, details["loc"][:-1]).model_fields
            return unknown_key(file, path, details["input"], known)
        case "missing":
            return Problem(file, dotted(path), "missing", _EXPECTED["missing"])
    return problem(file, path, details["input"], _expected(details))


def _expected(details: ErrorDetails) -> str:
    if details["type"] == "string_type" and isinstance(details["input"], dict | list):
        return "text"
    template = _EXPECTED.get(details["type"])
    if template is not None:
        return template.format_map(details.get("ctx", {}))
    # Our own validators raise ValueError with the expectation as its text.
    return details["msg"].removeprefix("Value error, ").removeprefix("Input should be ")


def _suggestion(key: str, known: list[str]) -> str:
    near = did_you_mean(re.sub("^snowplow__?", "", key), known)
    if near or len(known) > _FEW_KEYS:
        return near
    return f" Known here: {', '.join(known)}."


def _model_at(model: type[BaseModel], path: KeyPath) -> type[BaseModel]:
    for step in path:
        if step in model.model_fields:
            model = _model_inside(model.model_fields[str(step)].annotation) or model
    return model


def _model_inside(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    inside = (_model_inside(part) for part in get_args(annotation))
    return next((model for model in inside if model is not None), None)
