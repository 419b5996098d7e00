"""Options as people write them: plain or with `snowplow__`, in windrow.yml or in --vars."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from windrow.config.options import Known
from windrow.config.problems import KeyPath, Problem, problem, unknown_key

PREFIX = "snowplow__"
VARS = "--vars"


@dataclass(frozen=True)
class Written:
    """The value of one option, and where it was written."""

    value: Any
    file: str
    path: KeyPath


Options = dict[str, Written]
"""Plain option name -> as written."""


def options_in(block: Mapping[Any, Any], file: str, path: KeyPath) -> tuple[Options, list[Problem]]:
    """The options of a mapping under their plain names; the same one spelt twice is a problem."""
    options: Options = {}
    problems = []
    for key, value in block.items():
        name = str(key).removeprefix(PREFIX)
        if name in options:
            expected = f"one spelling only: '{name}' and '{PREFIX}{name}' are the same option"
            problems.append(problem(file, (*path, key), value, expected))
        options[name] = Written(value, file, (*path, key))
    return options, problems


def vars_by_package(
    values: Mapping[str, Any], packages: Collection[str], known: Known
) -> tuple[dict[str, Options], list[Problem]]:
    """What --vars says for each package: `{"web": {…}}`, or a flat option for all that have it."""
    flat = {key: value for key, value in values.items() if key not in packages}
    everywhere, problems = options_in(flat, VARS, ())
    problems += _unknown(everywhere, packages, known)

    by_package = {}
    for package in packages:
        own, own_problems = _own_options(package, values.get(package))
        shared = {n: w for n, w in everywhere.items() if n in known_options(package, known)}
        by_package[package] = {**shared, **own}
        problems += own_problems
    return by_package, problems


def known_options(package: str, known: Known) -> frozenset[str]:
    """The plain names of all options a package accepts."""
    settings = known[package]
    options = ignored_options(package, known)
    return options.union(settings.model_fields, settings.written_as.values())


def ignored_options(package: str, known: Known) -> frozenset[str]:
    """Options that are accepted without effect; people paste those of one package for another."""
    every = (name for settings in known.values() for name in settings.ignored_options)
    return frozenset(every).difference(known[package].model_fields)


def _own_options(package: str, block: Any) -> tuple[Options, list[Problem]]:
    if block is None:
        return {}, []
    if not isinstance(block, Mapping):
        return {}, [problem(VARS, (package,), block, "a mapping of options to values")]
    return options_in(block, VARS, (package,))


def _unknown(options: Options, packages: Collection[str], known: Known) -> list[Problem]:
    accepted = {name for package in packages for name in known_options(package, known)}
    return [
        _absent_package(written)
        if name in known
        else unknown_key(VARS, written.path, written.value, accepted.union(packages))
        for name, written in options.items()
        if name not in accepted
    ]


def _absent_package(written: Written) -> Problem:
    return problem(VARS, written.path, written.value, "a package that windrow.yml has")
