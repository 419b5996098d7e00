"""Which models a `--select` expression means, in dbt's words.

`page_views`, `+page_views`, `page_views+`, `2+page_views`, `tag:x`, `package:web`, `path:models/`,
`web.page_views`, `snowplow_web_*`; spaces are union, commas are intersection.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Sequence

from windrow.errors import UsageError, did_you_mean
from windrow.models.base_names import why_no_model
from windrow.models.model import Model

_TERM = re.compile(r"^(?P<up>\d*\+)?(?P<what>[^+]+)(?P<down>\+\d*)?$")


WhyNot = Callable[[str], str]
"""Why a name is none of the models', for a message; empty: nothing is known of it."""


def _nothing_known(name: str) -> str:
    return ""


def select(
    models: Sequence[Model],
    chosen: str | None,
    excluded: str | None = None,
    *,
    why_not: WhyNot = _nothing_known,
) -> list[Model]:
    """The models that the expressions leave, in the order given. No expression means all."""
    names = _union(models, chosen, why_not) if chosen else {member.name for member in models}
    if excluded:
        names -= _union(models, excluded, why_not)
    return [member for member in models if member.name in names]


def within(models: Sequence[Model], expression: str | None) -> str:
    """The parts of an expression that mean something among these models; empty when none does.

    For an expression that is about several packages: each takes from it what it knows.
    """
    return " ".join(
        part
        for part in (expression or "").split()
        if all(_names_any(models, term) for term in part.split(",") if term)
    )


def _names_any(models: Sequence[Model], term: str) -> bool:
    try:
        return bool(_term(models, term, _nothing_known))
    except UsageError:
        return False


def downstream(models: Sequence[Model], chosen: Sequence[Model]) -> list[Model]:
    """The chosen models and everything that reads them, in the order given."""
    names = {member.name for member in chosen}
    names |= _walk(_children(models), names, "")
    return [member for member in models if member.name in names]


def _union(models: Sequence[Model], expression: str, why_not: WhyNot) -> set[str]:
    names: set[str] = set()
    for part in expression.split():
        terms = [_term(models, term, why_not) for term in part.split(",") if term]
        names |= set.intersection(*terms) if terms else set()
    return names


def _term(models: Sequence[Model], term: str, why_not: WhyNot) -> set[str]:
    match = _TERM.match(term)
    if not match:
        raise UsageError(f"'{term}' is not a selection. Examples: page_views, +users, tag:nightly.")
    names = _names_of(models, match["what"], why_not)
    result = set(names)
    if match["up"]:
        result |= _walk(_parents(models), names, match["up"].rstrip("+"))
    if match["down"]:
        result |= _walk(_children(models), names, match["down"].lstrip("+"))
    return result


def _names_of(models: Sequence[Model], what: str, why_not: WhyNot) -> set[str]:
    method, _, value = what.partition(":") if ":" in what else ("", "", what)
    if method not in ("", "tag", "package", "path", "name", "fqn"):
        raise UsageError(
            f"'{method}:' is not a way to select. Use tag:, package: or path:."
            + did_you_mean(method, ["tag", "package", "path"])
        )
    found = {member.name for member in models if _matches(member, method, value)}
    if not found:
        known = {
            "tag": {tag for member in models for tag in member.tags},
            "package": {member.package for member in models},
            "path": {member.path for member in models if member.path},
        }.get(method, {member.name for member in models})
        raise UsageError(
            f"No model matches '{what}'."
            + (
                why_no_model(value)
                or why_not(value.rpartition(".")[2])
                or did_you_mean(value, known)
                or f" Known: {', '.join(sorted(known)) or 'none'}."
            )
        )
    return found


def _matches(member: Model, method: str, value: str) -> bool:
    if method == "tag":
        return value in member.tags
    if method == "package":
        return value in _groups(member)
    is_path = member.file == value or member.file.startswith(value.rstrip("/") + "/")
    if method == "path":
        return is_path
    return is_path or any(fnmatch.fnmatchcase(name, value) for name in _names(member))


def _names(member: Model) -> set[str]:
    """Every way to write one model: its name, its table's, its helpers', dbt's path."""
    short = {member.name, *member.steps}
    full = short | {member.prefix + name for name in short}
    groups = _groups(member)
    return full | groups | {f"{group}.{name}" for group in groups for name in full}


def _groups(member: Model) -> set[str]:
    """The package under our name and, of its own models, under the SQL package's."""
    if not member.package:
        return set()
    return {member.package} | (set() if member.path else {f"snowplow_{member.package}"})


def _parents(models: Sequence[Model]) -> dict[str, set[str]]:
    known = {member.name for member in models}
    return {member.name: set(member.parents) & known for member in models}


def _children(models: Sequence[Model]) -> dict[str, set[str]]:
    children: dict[str, set[str]] = {member.name: set() for member in models}
    for member in models:
        for parent in member.parents & set(children):
            children[parent].add(member.name)
    return children


def _walk(edges: dict[str, set[str]], names: set[str], steps: str) -> set[str]:
    reached: set[str] = set()
    border = set(names)
    remaining = int(steps) if steps else len(edges)
    while border and remaining:
        border = {near for name in border for near in edges[name]} - reached
        reached |= border
        remaining -= 1
    return reached
