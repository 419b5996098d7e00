"""The options of the benchmark."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

BOTH = "both"
FORMATS = ("delta", "iceberg")

DESCRIPTION = """\
Measure windrow beside the floor, the least that any job over the same events must do.
docs/performance.md says how to read the table.
"""


@dataclass(frozen=True)
class Options:
    """What to measure, on what."""

    events_per_day: int
    days: int
    repeat: int
    format: str
    package: str
    vars: dict[str, Any]
    conf: dict[str, str]
    against: list[str]
    process: bool
    detail: bool
    json: Path | None


def parse(arguments: Sequence[str]) -> Options:
    """The options as given on the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--events-per-day", type=_at_least_one, default=50_000, metavar="N")
    add("--days", type=_at_least_one, default=3, metavar="N", help="days of the first run")
    add("--repeat", type=_at_least_one, default=3, metavar="N", help="rounds to take medians of")
    add("--format", choices=[*FORMATS, BOTH], default="delta", help="of the tables")
    add("--package", default="web", metavar="P", help="as in windrow.yml; web+media_player, too")
    add("--vars", type=settings_of, default={}, metavar="JSON", help="options of the package")
    add("--conf", type=_pair, action="append", default=[], metavar="K=V", help="Spark settings")
    add(
        "--against",
        action="append",
        default=[],
        metavar="COMMAND",
        help="a shell command to measure beside it; it may name {events}, {folder}, {format}, "
        "{step}, {start}, {end} and {now}",
    )
    add("--process", action="store_true", help="`windrow run` too, as a process of its own")
    add("--detail", action="store_true", help="where the last runs' executions come from")
    add("--json", type=Path, metavar="FILE", help="write every figure to a file")
    given = vars(parser.parse_args(arguments))
    return Options(**{**given, "conf": dict(given["conf"])})


def _at_least_one(text: str) -> int:
    if int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return int(text)


def settings_of(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise argparse.ArgumentTypeError(f'{text} is not JSON like {{"option": true}}')
    return found


def _pair(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign:
        raise argparse.ArgumentTypeError(f"{text} is not KEY=VALUE")
    return name, value
