"""What a run costs after so many days of history: the same daily traffic, ever more behind it.

    python -m bench.history [--days 10 100 1000] [--events-per-day 1000] [--format delta] …

The history is taken in by as few runs as memory allows, then come standard runs of a day each; the
last one is shown.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from bench.anatomy import LOG_SETTINGS, counts, files_by_table, read_log
from bench.cpu import jvm_of
from bench.history_table import Measured, by_table, totals
from bench.long_events import long_events
from bench.measuring import files_in, measure_here, new_files
from bench.options import FORMATS, settings_of
from bench.project import packages_of, write_config
from bench.steps import STANDARD, Step
from windrow import Project
from windrow.demo.events import write

END = date(2026, 1, 1)
"""The history's last day is the one before, however long it is."""
STANDARD_RUNS = 3
_DAYS_AT_ONCE = 100
"""A writer has a file open for each day; those of a thousand days are too many for a laptop."""
_ALL_WEB = {"enable_consent": True, "enable_cwv": True}


@dataclass(frozen=True)
class Asked:
    """What to measure."""

    days: list[int]
    events_per_day: int
    format: str
    package: str
    vars: dict[str, Any]
    folder: Path | None


def main() -> None:
    """Measure every length of history, and print what a run cost after it."""
    asked = _parse(sys.argv[1:])
    with tempfile.TemporaryDirectory(prefix="windrow-history-") as name:
        folder = asked.folder or Path(name)
        found = [_measure(asked, days, folder / str(days)) for days in asked.days]
    sys.stdout.write(
        f"\n{asked.package} on {asked.format}, {asked.events_per_day} events a day\n\n"
    )
    sys.stdout.write(f"{totals(found)}\n\n{by_table(found)}\n")


def _parse(arguments: Sequence[str]) -> Asked:
    parser = argparse.ArgumentParser(prog="python -m bench.history", description=__doc__)
    add = parser.add_argument
    add("--days", type=int, nargs="+", default=[10, 100, 1000], metavar="N")
    add("--events-per-day", type=int, default=1000, metavar="N")
    add("--format", choices=FORMATS, default="delta")
    add("--package", default="web", metavar="P")
    add("--vars", type=settings_of, default=None, metavar="JSON", help="options of the package")
    add("--folder", type=Path, help="where to leave projects and logs for a closer look")
    given = vars(parser.parse_args(arguments))
    if given["vars"] is None:
        given["vars"] = _ALL_WEB if given["package"] == "web" else {}
    return Asked(**given)


def _measure(asked: Asked, days: int, folder: Path) -> Measured:
    """The last of a few standard runs after so many days, in a Spark session of its own."""
    folder.mkdir(parents=True)
    log = folder / "log"
    log.mkdir()
    start = END - timedelta(days=days)
    project = _write_project(asked, folder, start, {**LOG_SETTINGS, "spark.eventLog.dir": str(log)})
    spark = Project.load(project).spark
    _write_events(spark, asked, folder / "events", start, days + STANDARD_RUNS)
    jvm = jvm_of(spark).ProcessHandle.current().pid()
    while not _run(project, spark, asked, END):
        pass
    warehouse = folder / "warehouse"
    for number in range(STANDARD_RUNS):
        end = END + timedelta(days=number + 1)
        before = files_in(warehouse)
        done = measure_here(
            *("windrow", _step(number, end)),
            partial(_run, project, spark, asked, end),
            folder=warehouse,
            jvm=jvm,
        )
        sys.stderr.write(f"after {days} days, run {number + 1}: {done.figures.seconds:.1f} s\n")
    after = files_in(warehouse)
    spark.stop()
    (file,) = log.glob("[!.]*")
    with file.open() as lines:
        read = read_log(lines)
    assert done.span is not None
    figures = replace(done.figures, **counts(read, done.span))
    written = {
        table.name: (len(sizes), sum(sizes))
        for table in sorted(warehouse.glob("*/*"))
        if (sizes := new_files(_under(before, table), _under(after, table)))
    }
    return Measured(days, figures, written, files_by_table(read, done.span))


def _under(files: dict[Path, tuple[int, int]], folder: Path) -> dict[Path, tuple[int, int]]:
    return {path: found for path, found in files.items() if path.is_relative_to(folder)}


def _step(number: int, end: date) -> Step:
    at = datetime.combine(end, datetime.min.time(), UTC)
    return Step(STANDARD, number + 1, "", at - timedelta(days=1), at, at - timedelta(days=1))


def _write_project(asked: Asked, folder: Path, start: date, conf: dict[str, str]) -> Path:
    run = {"start_date": start.isoformat(), "backfill_limit_days": _DAYS_AT_ONCE}
    packages = packages_of(asked.package, run, asked.vars)
    return write_config(folder, asked.format, folder / "events", packages, conf)


def _write_events(spark: SparkSession, asked: Asked, path: Path, start: date, days: int) -> None:
    events = long_events(
        spark,
        start=start,
        days=days,
        events_per_day=asked.events_per_day,
        package=asked.package,
    )
    write(events, str(path))


def _run(project: Path, spark: SparkSession, asked: Asked, end: date) -> bool:
    """Run at the end of a day; whether all until then is taken in."""
    now = datetime.combine(end, datetime.min.time(), UTC)
    done = Project.load(project, spark=spark).run(asked.package, now=now)
    if done.has_failed:
        raise SystemExit(f"windrow failed at {end}: {done}")
    return done.is_caught_up


if __name__ == "__main__":
    main()
