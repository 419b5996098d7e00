"""How models hang together: each after those it reads, inputs found by any of their names."""

from __future__ import annotations

import difflib
import graphlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from windrow.errors import ConfigError, did_you_mean
from windrow.models.model import ENGINE_INPUTS, Model, Reads, Storage, Stored
from windrow.models.selection import downstream

_TABLES_OF_THE_RUN = ("events", "users_touched")
"""What a query may read beside tables of models."""
_MISSPELT = 0.8
"""How alike names are, from 0 to 1, that are taken for one name spelt in two ways."""


def in_order(models: Iterable[Model]) -> list[Model]:
    """The models so that each comes after those it reads; unknown inputs and cycles are errors."""
    by_name: dict[str, Model] = {}
    for member in models:
        if member.name in by_name:
            raise ConfigError(f"Two models are called '{member.name}'. Rename one of them.")
        by_name[member.name] = member
    linked = [_resolve_inputs(member, by_name) for member in by_name.values()]
    position = {name: index for index, name in enumerate(by_name)}
    sorter = graphlib.TopologicalSorter(
        {member.name: sorted(member.parents, key=position.__getitem__) for member in linked}
    )
    try:
        names = list(sorter.static_order())
    except graphlib.CycleError as error:
        raise ConfigError(
            f"Models read one another in a circle: {' -> '.join(error.args[1])}."
        ) from error
    resolved = {member.name: member for member in linked}
    return [resolved[name] for name in names]


def with_helpers(
    models: Sequence[Model], disabled: Sequence[Model], session: str = ""
) -> list[Model]:
    """The models, and those disabled ones whose rows of the run they read.

    The latter are computed and not stored. `session`: the column by which rows follow sessions.
    """
    found = list(models)
    for member in reversed(disabled):
        read = {
            source
            for reader in found
            for source in reader.inputs.values()
            if isinstance(source, str) and source not in ENGINE_INPUTS
        }
        if read & _aliases(member):
            found.append(
                replace(
                    member,
                    kind="this_run",
                    replaces=None,
                    storage=Storage(),
                    follows_sessions=member.replaces == session,
                )
            )
    return found


def with_own_sessions(models: Sequence[Model], ours: str | None, table: str | None) -> list[Model]:
    """The models coming after the project's own sessions wherever they would come after ours.

    `ours`: the package's model of sessions; `table`: what the project calls its own, None: it has
    none. One that no model makes has no place in the order.
    """
    if table is None:
        return list(models)
    name = table.rpartition(".")[2]
    theirs = tuple(member.name for member in models if member.full_name == name)

    def after_theirs(reads: Reads) -> Reads:
        return replace(reads, after=theirs) if ours in reads.after else reads

    return [
        replace(member, reads=after_theirs(member.reads)) if member.prefix else member
        for member in models
    ]


def refuse_switched_off(
    models: Sequence[Model], disabled: Sequence[Model], instead: Mapping[str, str]
) -> None:
    """Stop at a model that is made from the table of one that the project switches off.

    `instead`: model -> the option that names a table to take in its place.
    """
    off = {alias: member for member in disabled for alias in _aliases(member)}
    names = {member.full_name for member in disabled}
    stored = {it for member in models if member.full_name not in names for it in _aliases(member)}
    for member in models:
        for wanted in sorted(member.stored_parents & set(off) - stored):
            missing = off[wanted]
            option = f"packages.{missing.package}.disabled_models"
            readers = [it.name for it in downstream(models, [member]) if it.prefix]
            raise ConfigError(
                f"{option} switches off '{missing.name}', and '{member.name}' is made from its "
                f"table. Take '{missing.name}' out of that option"
                + (f", or add {' and '.join(readers)} to it" if readers else "")
                + (f", or set {instead[missing.name]}" if missing.name in instead else "")
                + "."
            )


def _resolve_inputs(member: Model, by_name: Mapping[str, Model]) -> Model:
    """Inputs may be written as in the SQL packages: with the prefix, or with `_this_run` behind."""
    names = {alias: name for name, other in by_name.items() for alias in _aliases(other)}

    def owner(wanted: str) -> str:
        if wanted not in names:
            raise ConfigError(
                f"Model '{member.name}' reads '{wanted}', which nothing provides."
                + did_you_mean(wanted, [*ENGINE_INPUTS, *names])
            )
        return names[wanted]

    resolved: dict[str, Stored | str] = {}
    for parameter, source in member.inputs.items():
        if isinstance(source, Stored):
            if source.model in names or not source.or_outside:
                resolved[parameter] = replace(source, model=owner(source.model))
            elif source.is_bare:
                _refuse_misspelt(member, source.model, names)
        else:
            resolved[parameter] = source if source in ENGINE_INPUTS else owner(source)
    after = tuple(owner(name) for name in member.reads.after)
    return replace(member, inputs=resolved, reads=replace(member.reads, after=after))


def _refuse_misspelt(member: Model, table: str, known: Iterable[str]) -> None:
    """Stop at a table without a schema whose name is nearly that of a model: it was meant."""
    names = {name.lower(): name for name in (*_TABLES_OF_THE_RUN, *known)}
    near = difflib.get_close_matches(table.lower(), names, n=1, cutoff=_MISSPELT)
    if near:
        raise ConfigError(
            f"Model '{member.name}' reads '{table}', which nothing provides. Did you mean "
            f"'{names[near[0]]}'? If it is a table of yours, write it with its schema: "
            f"my_schema.{table}."
        )


def _aliases(member: Model) -> set[str]:
    plain = member.name.removesuffix("_this_run")
    short = {member.name, plain, f"{plain}_this_run"}
    return short | {member.prefix + alias for alias in short}
