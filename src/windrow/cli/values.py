"""Option values as people type them -> values; what cannot be read is a usage error."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import yaml

from windrow.errors import UsageError

_VARS_EXAMPLE = """--vars '{"web": {"backfill_limit_days": 2}}'"""


def parsed_vars(text: str | None) -> dict[str, Any]:
    """The mapping that --vars holds, in JSON or YAML."""
    if text is None:
        return {}
    try:
        found = _json_or_yaml(text)
    except yaml.YAMLError as error:
        # The text itself may hold secrets and is not repeated.
        problem = getattr(error, "problem", None) or "it cannot be parsed"
        raise UsageError(
            f"--vars is neither JSON nor YAML: {problem}. Write {_VARS_EXAMPLE}."
        ) from None
    if not isinstance(found, dict):
        kind = "nothing" if found is None else f"a {type(found).__name__}"
        raise UsageError(f"--vars is {kind}, expected a mapping: {_VARS_EXAMPLE}.")
    return found


def _json_or_yaml(text: str) -> Any:
    # JSON may hold tabs, which YAML does not take.
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return yaml.safe_load(text)


def parsed_now(text: str | None) -> datetime:
    """The clock of a run: --now, whose zone is UTC unless it names one, or the time it is."""
    return datetime.now(UTC) if text is None else parsed_time("--now", text)


def parsed_time(option: str, text: str) -> datetime:
    """A day or a time that an option names; UTC unless it says otherwise."""
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise UsageError(
            f"{option} is '{text}', expected a time like 2024-03-05, 2024-03-05T18:00:00 (UTC) or "
            "2024-03-05T18:00:00+02:00."
        ) from None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def joined(expressions: Sequence[str] | None) -> str | None:
    """Several --select or --exclude are one: their union."""
    return " ".join(expressions) if expressions else None
