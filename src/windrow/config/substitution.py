"""`${VAR}` and `${VAR:-default}` in the text values of windrow.yml."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import yaml

from windrow.config.problems import KeyPath, Problem, dotted
from windrow.config.secrets import STARS, SecretText, looks_secret

_REFERENCE = re.compile(r"\$\$\{|\$\{(?P<body>[^}]*)\}?")
_BODY = re.compile(r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)(:-(?P<default>((?!\$\{).)*))?", re.DOTALL)


class Variable(str):
    """A value that is one whole `${VAR}`: text where text is wanted, else what YAML makes of it."""

    __slots__ = ()

    def parsed(self) -> Any:
        """The text read as a YAML scalar, so that `30` is a number and `true` a flag."""
        return _scalar(self)


class SecretVariable(Variable, SecretText):
    """A Variable whose name looks secret."""

    __slots__ = ()


def substitute(
    value: Any, environ: Mapping[str, str], file: str, path: KeyPath = ()
) -> tuple[Any, list[Problem]]:
    """`value` with variables filled in wherever text stands, and the ones that could not be."""
    match value:
        case str() if "${" in value:
            return _filled(value, environ, file, path)
        case dict():
            pairs = {k: substitute(v, environ, file, (*path, k)) for k, v in value.items()}
            return {k: v for k, (v, _) in pairs.items()}, [
                p for _, ps in pairs.values() for p in ps
            ]
        case list():
            items = [substitute(v, environ, file, (*path, i)) for i, v in enumerate(value)]
            return [v for v, _ in items], [p for _, ps in items for p in ps]
    return value, []


def _filled(
    text: str, environ: Mapping[str, str], file: str, path: KeyPath
) -> tuple[str, list[Problem]]:
    problems: list[Problem] = []
    is_secret = False

    def replacement(reference: re.Match[str]) -> str:
        nonlocal is_secret
        if reference["body"] is None:
            return "${"
        variable = _BODY.fullmatch(reference["body"]) if reference[0].endswith("}") else None
        if variable is None:
            problems.append(_misspelt(file, path, reference[0]))
            return reference[0]
        name, default = variable["name"], variable["default"]
        is_secret = is_secret or looks_secret(name)
        if default is not None:
            return environ.get(name) or default
        if name not in environ:
            problems.append(_missing(file, path, name))
        return environ.get(name, reference[0])

    filled = _REFERENCE.sub(replacement, text)
    whole = _REFERENCE.fullmatch(text)
    if whole is not None and whole["body"] is not None:
        return (SecretVariable if is_secret else Variable)(filled), problems
    return SecretText(filled) if is_secret else filled, problems


def _missing(file: str, path: KeyPath, name: str) -> Problem:
    expected = f"the environment variable {name} to be set (${{{name}:-…}} gives a default)"
    return Problem(file, dotted(path), f"${{{name}}}", expected)


def _misspelt(file: str, path: KeyPath, reference: str) -> Problem:
    expected = "${VAR} or ${VAR:-default} ($${ stands for the characters ${ themselves)"
    found = STARS if looks_secret(reference) or looks_secret(dotted(path)) else reference
    return Problem(file, dotted(path), found, expected)


def _scalar(text: str) -> Any:
    loader = yaml.SafeLoader("")
    # The stubs leave `resolve` untyped.
    tag = loader.resolve(yaml.ScalarNode, text, (True, False))  # type: ignore[no-untyped-call]
    try:
        return loader.construct_object(yaml.ScalarNode(tag, text))
    except (ValueError, yaml.YAMLError):
        return text
