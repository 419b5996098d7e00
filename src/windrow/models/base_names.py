"""Names of the SQL packages' base and seeds: tables before the models of every run, no models here.

A listing of the SQL packages has them among the models, and people ask for the limits by name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

NEW_EVENT_LIMITS = "base_new_event_limits"
"""The table that says which window a run takes in."""
INCREMENTAL_MANIFEST = "incremental_manifest"
LIFECYCLE_MANIFEST = "base_sessions_lifecycle_manifest"
QUARANTINED_SESSIONS = "base_quarantined_sessions"
MANIFESTS = (INCREMENTAL_MANIFEST, LIFECYCLE_MANIFEST, QUARANTINED_SESSIONS)
"""The tables that remember; each can be made anew by itself."""

_BASE = (
    *MANIFESTS,
    NEW_EVENT_LIMITS,
    "base_sessions_this_run",
    "base_events_this_run",
)
_SEEDS = (
    "dim_ga4_source_categories",
    "dim_geo_country_mapping",
    "dim_rfc_5646_language_mapping",
)
_WRITTEN = re.compile(
    r"^(?:\d*\+)?(?:(?:snowplow_)?(?P<group>[a-z_]+)\.)?(?:snowplow_(?P<package>[a-z_]+?)_)?"
    rf"(?P<name>{'|'.join((*_BASE, *_SEEDS))})$"
)


def without_base(expression: str) -> str:
    """The selection without the words that name a table of the base, or a seed."""
    return " ".join(word for word in expression.split() if not _WRITTEN.match(word))


def without_limits(
    expression: str | None, packages: Sequence[str]
) -> tuple[str | None, tuple[str, ...]]:
    """The selection without the words that ask for limits, and those of these packages it asks."""
    rest, asked = _taken_out(expression, packages, (NEW_EVENT_LIMITS,))
    return rest, tuple(asked)


def without_manifests(
    expression: str | None, packages: Sequence[str]
) -> tuple[str | None, dict[str, tuple[str, ...]]]:
    """The selection without the words that name manifests, and package -> those it names."""
    return _taken_out(expression, packages, MANIFESTS)


def manifest_named(word: str) -> str | None:
    """The manifest that a word means, with or without prefix and package; None: none."""
    found = _WRITTEN.match(word)
    return found["name"] if found and found["name"] in MANIFESTS else None


def why_no_model(term: str) -> str:
    """What a word is that names a table of the base; empty: it names none."""
    found = _WRITTEN.match(term)
    if found is None:
        return ""
    if found["name"] == NEW_EVENT_LIMITS:
        return " The limits of the next run are what `windrow plan` tells."
    if found["name"] in MANIFESTS:
        return (
            " It is a part of every run here, and not selected; "
            f"`windrow run --refresh-manifests --select {found['name']}` makes it anew."
        )
    return " It is a part of every run here, and not selected."


def _taken_out(
    expression: str | None, packages: Sequence[str], names: Sequence[str]
) -> tuple[str | None, dict[str, tuple[str, ...]]]:
    """The selection without the words that mean one of these tables, and package -> those meant."""
    words = (expression or "").split()
    asked = {
        package: tuple(name for name in names if any(_means(it, name, package) for it in words))
        for package in packages
    }
    rest = [it for it in words if not any(_means(it, n, p) for p in packages for n in names)]
    return " ".join(rest) or None, {package: found for package, found in asked.items() if found}


def _means(word: str, name: str, package: str) -> bool:
    """Whether a word names a table of the base of a package."""
    found = _WRITTEN.match(word)
    if found is None or found["name"] != name:
        return False
    owner = found["package"] or found["group"]
    return owner is None or owner in package.split("+")
