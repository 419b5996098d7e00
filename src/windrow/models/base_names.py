"""Names of the SQL packages' base and seeds: tables before the models of every run, no models here.

A listing of the SQL packages has them among the models, and people ask for the limits by name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

NEW_EVENT_LIMITS = "base_new_event_limits"
"""The table that says which window a run takes in."""

_BASE = (
    "incremental_manifest",
    "base_quarantined_sessions",
    NEW_EVENT_LIMITS,
    "base_sessions_lifecycle_manifest",
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
    words = (expression or "").split()
    asked = {word: [it for it in packages if _asks_for_limits(word, it)] for word in words}
    rest = " ".join(word for word in words if not asked[word])
    meant = {package for found in asked.values() for package in found}
    return rest or None, tuple(it for it in packages if it in meant)


def why_no_model(term: str) -> str:
    """What a word is that names a table of the base; empty: it names none."""
    found = _WRITTEN.match(term)
    if found is None:
        return ""
    if found["name"] == NEW_EVENT_LIMITS:
        return " The limits of the next run are what `windrow plan` tells."
    return " It is a part of every run here, and not selected."


def _asks_for_limits(word: str, package: str) -> bool:
    found = _WRITTEN.match(word)
    if found is None or found["name"] != NEW_EVENT_LIMITS:
        return False
    owner = found["package"] or found["group"]
    return owner is None or owner in package.split("+")
