"""Option values as people type them -> values; what cannot be read is a usage error."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from windrow.config.times import in_utc
from windrow.config.yaml_file import as_mapping, parse
from windrow.errors import ConfigError, UsageError

SHORTEST_INTERVAL = timedelta(seconds=10)
LONGEST_INTERVAL = timedelta(hours=24)

_HOUR = timedelta(hours=1)
# Six digits are more than any interval needs, and less than a timedelta can hold.
_INTERVAL = re.compile(
    r"(?:(?P<hours>\d{1,6})h)?(?:(?P<minutes>\d{1,6})m)?(?:(?P<seconds>\d{1,6})s)?"
)

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


def parse_interval(text: str) -> timedelta:
    """How often, as in --every: `30s`, `5m`, `1h`, `1h30m`."""
    found = _INTERVAL.fullmatch(text.strip().lower())
    if not text.strip() or found is None:
        raise UsageError(
            f"--every is '{text}', expected a number with its unit (s, m or h): 30s, 5m, 1h, 1h30m."
        )
    parts = {unit: int(number) for unit, number in found.groupdict().items() if number}
    interval = timedelta(**parts)
    if not SHORTEST_INTERVAL <= interval <= LONGEST_INTERVAL:
        raise UsageError(
            f"--every is '{text}', expected something from "
            f"{SHORTEST_INTERVAL.total_seconds():.0f}s to {LONGEST_INTERVAL // _HOUR}h. A run that "
            "finds nothing new takes seconds too; what runs less often than daily needs no warm "
            "Spark, but a scheduler that calls `windrow run`."
        )
    return interval


def joined(expressions: Sequence[str] | None) -> str | None:
    """Several --select or --exclude are one: their union."""
    return " ".join(expressions) if expressions else None
