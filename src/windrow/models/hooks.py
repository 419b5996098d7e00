"""The user's own functions that replace pieces of ours, found in the project's hooks.py by name.

Each gets our answer as `default`, so that it can be wrapped instead of rewritten:

    def filter_bots(default: Column) -> Column:
        return default & ~F.col("useragent").contains("AcmeProbe")
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from pyspark.sql import Column

from windrow.errors import ConfigError, did_you_mean
from windrow.models.files import execute


@dataclass(frozen=True)
class Hook:
    """A piece of ours that a project can replace."""

    name: str
    decides: str
    """What it decides, for the error messages and the documentation."""
    parameters: tuple[str, ...] = ("default",)
    reference_name: str | None = None
    """The name that the SQL packages give it, where it is another one."""
    table: str | None = None
    """The one table whose layout it decides; None: it decides something else."""


def layout_hooks(names: Mapping[str, str]) -> tuple[Hook, ...]:
    """The SQL packages' hooks for what one table is laid out by: hook name -> that table."""
    return tuple(
        Hook(name, f"the columns by which {table} is laid out", table=table)
        for name, table in names.items()
    )


COMMON_HOOKS = (
    Hook("cluster_by", "the columns by which a table is laid out", ("table", "default")),
    Hook("allow_refresh", "whether protected tables may be rebuilt", ("target", "default")),
    Hook("quarantine_sessions", "which sessions take in no more events"),
    Hook("update_incremental_manifest_table", "how far the manifest moves"),
)
"""The hooks of every package."""

FILTER_BOTS = Hook("filter_bots", "which user agents are kept")
STITCH_USER_IDENTIFIERS = Hook("stitch_user_identifiers", "the stitched user id of a session")
"""Hooks of parts that several packages are made of."""


@dataclass(frozen=True)
class Hooks:
    """The hooks of a project; a hook that is not there leaves our own answer as it is."""

    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    layouts: Mapping[str, str] = field(default_factory=dict)
    """Table -> the one of them that decides its layout alone."""

    def column(self, name: str, default: Column, **about: str) -> Column:
        """The user's expression for `name`, or ours; `about` says what is being asked."""
        function = self.functions.get(name)
        return default if function is None else function(**about, default=default)

    def columns(self, name: str, default: dict[str, Column], **about: str) -> dict[str, Column]:
        """Several columns at once; the user's function may change them but not their names."""
        function = self.functions.get(name)
        if function is None:
            return default
        chosen = dict(function(**about, default=dict(default)))
        if set(chosen) != set(default):
            odd = ", ".join(sorted(set(chosen) ^ set(default)))
            raise ConfigError(f"Hook '{name}' must return the columns it was given; not so: {odd}.")
        return chosen

    def positions(self, default: dict[str, datetime]) -> dict[str, datetime]:
        """The manifest rows that a run moves; a model can be held back, none pushed ahead."""
        function = self.functions.get("update_incremental_manifest_table")
        if function is None:
            return default
        chosen = dict(function(default=dict(default)))
        return {name: min(at, default[name]) for name, at in chosen.items() if name in default}

    def cluster_by(self, table: str, default: list[str]) -> list[str]:
        """The keys by which a table is laid out: a hook of its own first, then the general one."""
        if table in self.layouts:
            default = list(self.functions[self.layouts[table]](default=default))
        function = self.functions.get("cluster_by")
        return default if function is None else list(function(table=table, default=default))

    def allow_refresh(self, target: str, default: bool) -> bool:
        """Whether protected tables may be rebuilt on this target."""
        function = self.functions.get("allow_refresh")
        return default if function is None else bool(function(target=target, default=default))


def load_hooks(path: Path, known: Iterable[Hook]) -> Hooks:
    """The public functions of hooks.py, each checked by name and parameters; no file, no hooks."""
    if not path.exists():
        return Hooks()
    hooks = {hook.name: hook for hook in known}
    plain_names = {hook.reference_name: name for name, hook in hooks.items()}
    module = execute(path, prefix="windrow_project")
    functions = {
        plain_names.get(name, name): value
        for name, value in vars(module).items()
        if inspect.isfunction(value)
        and value.__module__ == module.__name__
        and not name.startswith("_")
    }
    for name, function in functions.items():
        _check(path, name, function, hooks)
    tables = {name: hooks[name].table for name in functions}
    return Hooks(functions, {table: name for name, table in tables.items() if table is not None})


def _check(path: Path, name: str, function: Callable[..., Any], known: Mapping[str, Hook]) -> None:
    if name not in known:
        raise ConfigError(
            f"{path}: '{name}' is not a hook.{did_you_mean(name, known)} A function of your own "
            f"that is not a hook begins with an underscore. Hooks: {', '.join(sorted(known))}."
        )
    expected = known[name].parameters
    found = tuple(inspect.signature(function).parameters)
    if found != expected:
        raise ConfigError(
            f"{path}: hook '{name}' takes ({', '.join(found)}), expected ({', '.join(expected)})."
        )
