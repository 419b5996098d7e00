"""The user's own functions that replace pieces of ours, found in the project's hooks.py by name.

Each gets our answer as `default`, so that it can be wrapped instead of rewritten:

    def filter_bots(default: Column) -> Column:
        return default & ~F.col("useragent").contains("AcmeProbe")
"""

from __future__ import annotations

import importlib.util
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from pyspark.sql import Column

from windrow.errors import ConfigError, did_you_mean

SIGNATURES: dict[str, tuple[str, ...]] = {
    "cluster_by": ("table", "default"),
    "allow_refresh": ("target", "default"),
    "core_web_vital_results": ("measure", "default"),
    "get_conversion_columns": ("conversion", "default"),
}
"""Parameters of the hooks that are not plain expressions; those take `default` alone."""

REFERENCE_NAMES = {
    "channel_group_query": "channel_group",
    "content_group_query": "content_group",
    "core_web_vital_results_query": "core_web_vital_results",
    "core_web_vital_pass_query": "core_web_vital_pass",
}
"""Hooks under the names that the SQL packages give them."""

LAYOUT_HOOKS = {
    **{
        f"web_cluster_by_fields_{name}": f"snowplow_web_{table}"
        for name, table in {
            "sessions_lifecycle": "base_sessions_lifecycle_manifest",
            "page_views": "page_views",
            "sessions": "sessions",
            "users": "users",
            "consent": "consent_log",
            "cwv": "vitals",
        }.items()
    },
    **{
        f"mobile_cluster_by_fields_{name}": f"snowplow_mobile_{table}"
        for name, table in {
            "sessions_lifecycle": "base_sessions_lifecycle_manifest",
            "screen_views": "screen_views",
            "sessions": "sessions",
            "users": "users",
        }.items()
    },
    "cluster_by_fields_app_errors": "snowplow_mobile_app_errors",
}
"""The SQL packages' hooks for what one table is laid out by, and that table."""


@dataclass(frozen=True)
class Hooks:
    """The hooks of a project; a hook that is not there leaves our own answer as it is."""

    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)

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
        own = next((name for name, its in LAYOUT_HOOKS.items() if its == table), "")
        if own in self.functions:
            default = list(self.functions[own](default=default))
        function = self.functions.get("cluster_by")
        return default if function is None else list(function(table=table, default=default))

    def allow_refresh(self, target: str, default: bool) -> bool:
        """Whether protected tables may be rebuilt on this target."""
        function = self.functions.get("allow_refresh")
        return default if function is None else bool(function(target=target, default=default))


def load_hooks(path: Path, known: Mapping[str, str]) -> Hooks:
    """The public functions of hooks.py, each checked by name and parameters; no file, no hooks."""
    if not path.exists():
        return Hooks()
    module = _import(path)
    functions = {
        REFERENCE_NAMES.get(name, name): value
        for name, value in vars(module).items()
        if inspect.isfunction(value)
        and value.__module__ == module.__name__
        and not name.startswith("_")
    }
    layouts = {
        name: f"the columns by which {table} is laid out" for name, table in LAYOUT_HOOKS.items()
    }
    for name, function in functions.items():
        _check(path, name, function, {**known, **layouts})
    return Hooks(functions)


def _import(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(f"windrow_project_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise ConfigError(f"{path} cannot be imported: {type(error).__name__}: {error}") from error
    return module


def _check(path: Path, name: str, function: Callable[..., Any], known: Mapping[str, str]) -> None:
    if name not in known:
        raise ConfigError(
            f"{path}: '{name}' is not a hook.{did_you_mean(name, known)} A function of your own "
            f"that is not a hook begins with an underscore. Hooks: {', '.join(sorted(known))}."
        )
    expected = SIGNATURES.get(name, ("default",))
    found = tuple(inspect.signature(function).parameters)
    if found != expected:
        raise ConfigError(
            f"{path}: hook '{name}' takes ({', '.join(found)}), expected ({', '.join(expected)})."
        )
