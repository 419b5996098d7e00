"""Run after run on a handful of events: neither their time nor the driver's memory may grow.

    python -m bench.many_runs [--runs 2000] [--format delta]

Each run takes in one further hour with a few visits. Prints a line for every so many runs.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pyspark.sql import SparkSession

from bench.cpu import cpu_seconds, jvm_of
from bench.measuring import files_in
from bench.options import FORMATS
from bench.project import write_config
from bench.steps import START
from windrow import Project
from windrow.demo.events import GenerateOptions, generate, write

SHOWN_EVERY = 25
EVENTS_PER_DAY = 2400
"""Enough for every hour of the night to have some."""


def main() -> None:
    """Run, and tell what the runs take as they go on."""
    asked = _parse(sys.argv[1:])
    with tempfile.TemporaryDirectory(prefix="windrow-runs-") as name:
        folder = Path(name)
        settings = {"start_date": START.isoformat(), "lookback_window_hours": 1}
        project = write_config(folder, asked.format, folder / "events", {"web": settings})
        spark = Project.load(project).spark
        days = -(-asked.runs // 24)
        options = GenerateOptions(start=START, days=days, events_per_day=EVENTS_PER_DAY)
        write(generate(spark, options), str(folder / "events"))
        _print_row("runs", "s", "CPU s", "heap MB", "files", "of the ledger")
        taken: list[tuple[float, float]] = []
        for number in range(1, asked.runs + 1):
            taken.append(_run(project, spark, number))
            if number % SHOWN_EVERY == 0:
                _show(spark, folder, number, taken[-SHOWN_EVERY:])


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.many_runs", description=__doc__)
    parser.add_argument("--runs", type=int, default=2000, metavar="N")
    parser.add_argument("--format", choices=FORMATS, default="delta")
    return parser.parse_args(arguments)


def _run(project: Path, spark: SparkSession, number: int) -> tuple[float, float]:
    """Seconds and CPU seconds of the run of an hour."""
    now = datetime.combine(START, datetime.min.time(), UTC) + timedelta(hours=number)
    jvm = jvm_of(spark).ProcessHandle.current().pid()
    began, cpu = time.monotonic(), cpu_seconds(jvm)
    done = Project.load(project, spark=spark).run("web", now=now)
    if done.has_failed:
        raise SystemExit(f"windrow failed in run {number}: {done}")
    return time.monotonic() - began, cpu_seconds(jvm) - cpu


def _show(
    spark: SparkSession, folder: Path, number: int, taken: Sequence[tuple[float, float]]
) -> None:
    runtime = jvm_of(spark).Runtime.getRuntime()
    jvm_of(spark).System.gc()
    heap = runtime.totalMemory() - runtime.freeMemory()
    ledger = folder / "warehouse" / "snowplow_manifest" / "windrow_runs"
    _print_row(
        str(number),
        f"{statistics.median(seconds for seconds, _ in taken):.2f}",
        f"{statistics.median(cpu for _, cpu in taken):.2f}",
        f"{heap / 1_000_000:.0f}",
        str(len(files_in(folder / "warehouse"))),
        str(len(files_in(ledger))),
    )


def _print_row(*cells: str) -> None:
    sys.stdout.write(" ".join(cell.rjust(14) for cell in cells) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
