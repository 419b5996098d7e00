"""Option values as people type them -> values; what cannot be read is a usage error."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from windrow.config.times import in_utc
from windrow.config.yaml_file import as_mapping, parse
from windrow.errors import ConfigError, UsageError

_VARS_EXAMPLE = """--vars '{"web": {"backfill_limit_days": 2}}'"""


def parse_vars(text: str | None) -> dict[str, Any]:
    """The mapping that --vars holds, in JSON or YAML."""
    if text is None:
        return {}
    try:
        return as_mapping(_json_or_yaml(text), "--vars", "a mapping")
    except ConfigError as error:
        raise UsageError(f"{error} Write {_VARS_EXAMPLE}.") from None


def _json_or_yaml(text: str) -> Any:
    # JSON may hold tabs, which YAML does not take.
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return parse(text, "--vars")


def parse_now(text: str | None) -> datetime:
    """The clock of a run: --now, whose zone is UTC unless it names one, or the time it is."""
    return datetime.now(UTC) if text is None else parse_time("--now", text)


def parse_time(option: str, text: str) -> datetime:
    """A day or a time that an option names; UTC unless it says otherwise."""
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise UsageError(
            f"{option} is '{text}', expected a time like 2024-03-05, 2024-03-05T18:00:00 (UTC) or "
            "2024-03-05T18:00:00+02:00."
        ) from None
    return in_utc(moment, option)


def joined(expressions: Sequence[str] | None) -> str | None:
    """Several --select or --exclude are one: their union."""
    return " ".join(expressions) if expressions else None
