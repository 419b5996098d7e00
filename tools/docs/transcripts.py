"""Pages that show what commands print: the commands are carried out, and the page gets what came.

A block of a page that begins with `$ windrow` is played in a project of its own:

    python tools/docs/transcripts.py        # writes docs/operating.md anew

Run ids and durations differ each time; pages have stand-ins for them.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import sys
import tempfile
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path

from pyspark.sql import SparkSession

from windrow.cli import main

PAGE = Path(__file__).resolve().parents[2] / "docs" / "operating.md"

_BLOCK = re.compile(r"```console\n\$ windrow (?P<command>[^\n]*)\n(?P<output>.*?)```", re.DOTALL)
_RUN_ID = re.compile(r"\b\d{8}T\d{6}-[0-9a-f]{8}\b")
_DURATION = re.compile(r"\b\d+(\.\d+)? (ms|s|min|h)\b( \d+ (s|min))?")
_SIZE = re.compile(r"\b\d+(\.\d+)? ([kMG]B|bytes?)\b")
_VERSION = re.compile(r"from version \d+ to (version \d+|no rows)")


def played(text: str, folder: Path, spark: SparkSession | None = None) -> str:
    """The page with what its commands print in this folder."""
    known: list[str] = []

    def block(match: re.Match[str]) -> str:
        command = match["command"]
        # RUN stands for the last run that was told of.
        typed = command.replace("RUN", known[-1]) if known else command
        output = _printed(shlex.split(typed), folder, spark)
        known.extend(_RUN_ID.findall(output))
        return f"```console\n$ windrow {command}\n{steady(output)}```"

    return _BLOCK.sub(block, text)


def _printed(arguments: list[str], folder: Path, spark: SparkSession | None) -> str:
    out = io.StringIO()
    with chdir(folder), redirect_stdout(out), redirect_stderr(out):
        exit_code = main([*arguments, "--quiet"], spark=spark)
    text = "\n".join(line.rstrip() for line in out.getvalue().splitlines() if line.strip())
    return f"{text}\n" + (f"(exit code {exit_code})\n" if exit_code else "")


def steady(output: str) -> str:
    """The output with stand-ins for what differs each time."""
    output = _RUN_ID.sub("RUN", output)
    output = _DURATION.sub("N s", output)
    output = _SIZE.sub("N MB", output)
    return _VERSION.sub("from version N to version M", output)


def prepare(folder: Path, spark: SparkSession | None = None) -> None:
    """A project as the page describes it: four days of a small shop."""
    generate = ["generate", "--start", "2024-03-04", "--days", "4", "--events-per-day", "200"]
    with chdir(folder.parent), redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        assert main(["init", folder.name]) == 0
        events = str(folder / "events")
        assert main([*generate, "--output", events], spark=spark) == 0
    config = folder / "windrow.yml"
    text = config.read_text().replace("start_date: 2024-01-01", "start_date: 2024-03-04")
    config.write_text(text)


if __name__ == "__main__":
    os.environ.setdefault("COLUMNS", "120")
    sys.path.insert(0, str(PAGE.parents[1] / "tests"))
    from conftest import start_spark

    with tempfile.TemporaryDirectory() as place:
        shop, session = Path(place) / "shop", start_spark(Path(place) / "warehouse")
        prepare(shop, session)
        PAGE.write_text(played(PAGE.read_text(), shop, session))
