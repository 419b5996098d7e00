"""Whether an event is what OpenLineage's specification says.

The client's classes are made from the specification's JSON Schemas, and each names the one it is
made from. What is missing, unknown or of another type than they say is a problem. The schemas
themselves are in neither the Python nor the Java library, so nothing else can be asked offline.
"""

from __future__ import annotations

import inspect
import types
from enum import Enum
from typing import Any, Union, get_args, get_origin, get_type_hints

import attr
from openlineage.client import facet_v2
from openlineage.client.event_v2 import RunEvent
from openlineage.client.generated.base import BaseEvent, BaseFacet


def _facets() -> dict[str, type]:
    """Schema's address -> the class made from it."""
    modules = [it for it in vars(facet_v2).values() if inspect.ismodule(it)]
    kinds = [it for module in modules for it in vars(module).values() if inspect.isclass(it)]
    return {it._get_schema(): it for it in kinds if issubclass(it, BaseFacet)}


FACETS = _facets()
# The schemas ask for these; the classes fill them in.
REQUIRED = {BaseEvent: ("producer", "schemaURL"), BaseFacet: ("_producer", "_schemaURL")}


def problems(value: Any, kind: Any = RunEvent, path: str = "event") -> list[str]:
    """What is wrong with a value that JSON gave, as one of these classes."""
    if kind is Any:
        return []
    if get_origin(kind) in (Union, types.UnionType):
        found = [problems(value, choice, path) for choice in get_args(kind)]
        return [] if [] in found else found[0]
    if kind is None or kind is type(None):
        return [] if value is None else [f"{path} is not null"]
    if get_origin(kind) is list:
        (part,) = get_args(kind)
        return _each(enumerate(value), part, path) if isinstance(value, list) else [path]
    if get_origin(kind) is dict:
        part = get_args(kind)[1]
        return _each(value.items(), part, path) if isinstance(value, dict) else [path]
    if inspect.isclass(kind) and issubclass(kind, Enum):
        return [] if value in {it.value for it in kind} else [f"{path} is {value!r}"]
    if attr.has(kind):
        return _object(value, kind, path)
    is_right = isinstance(value, kind) and not (kind is int and isinstance(value, bool))
    return [] if is_right else [f"{path} is {value!r}, no {kind.__name__}"]


def _each(parts: Any, kind: Any, path: str) -> list[str]:
    return [it for name, part in parts for it in problems(part, kind, f"{path}.{name}")]


def _object(value: Any, kind: type, path: str) -> list[str]:
    if not isinstance(value, dict):
        return [f"{path} is {value!r}, no object"]
    if issubclass(kind, BaseFacet):
        known = FACETS.get(value.get("_schemaURL", ""))
        if known is None or not issubclass(known, kind):
            return [f"{path} has the schema {value.get('_schemaURL')}"]
        kind = known
    hints, fields = get_type_hints(kind), {it.name: it for it in attr.fields(kind)}
    addresses = [
        name for base, names in REQUIRED.items() if issubclass(kind, base) for name in names
    ]
    required = [name for name, it in fields.items() if it.default is attr.NOTHING]
    found = [f"{path} has no {name}" for name in (*required, *addresses) if name not in value]
    found += [f"{path}.{name} is no URI" for name in addresses if ":" not in value.get(name, ":")]
    found += [f"{path} has {name}, which nothing says" for name in value if name not in fields]
    for name in value.keys() & fields.keys():
        found += problems(value[name], hints[name], f"{path}.{name}")
    # Times, ids and addresses are checked by the class itself.
    for name in value.keys() & fields.keys():
        if fields[name].validator is not None:
            fields[name].validator(None, fields[name], value[name])
    return found
