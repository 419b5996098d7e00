"""Several packages in one command, beside the same ones one after the other.

    python -m bench.together [--packages web mobile] [--events-per-day 4000] [--format delta] …

Each way has tables of its own over the same events, in one Spark session; they take turns at being
first, so that none always finds the events in the machine's memory.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from bench.anatomy import LOG_SETTINGS, counts, places, read_log
from bench.cpu import jvm_of
from bench.figures import Figures, median
from bench.measuring import Measurement, measure_here
from bench.options import FORMATS, settings_of
from bench.project import packages_of, write_config
from bench.steps import START, STEPS, Step, steps
from bench.table import Row, detail, table
from windrow import Project
from windrow.demo.events import APPS, WEBSITES, GenerateOptions, generate, write

ONE_BY_ONE = "one by one"
TOGETHER = "together"
UNSHARED = "together, read_once: false"
WAYS = (ONE_BY_ONE, TOGETHER, UNSHARED)


@dataclass(frozen=True)
class Asked:
    """What to measure."""

    packages: list[str]
    vars: dict[str, Any]
    events_per_day: int
    days: int
    repeat: int
    format: str
    detail: bool


def main() -> None:
    """Measure every way, and print medians."""
    asked = _parse(sys.argv[1:])
    with tempfile.TemporaryDirectory(prefix="windrow-together-") as name:
        folder = Path(name)
        measured = _measure(asked, folder)
        (file,) = (folder / "log").glob("[!.]*")
        with file.open() as lines:
            log = read_log(lines)
    spans = [(it, it.span) for it in measured if it.span is not None]
    counted = [replace(it, figures=replace(it.figures, **counts(log, span))) for it, span in spans]
    sys.stdout.write(
        f"\n{' and '.join(asked.packages)} on {asked.format}, {asked.events_per_day} events a day "
        f"on each platform, medians of {asked.repeat}\n\n"
        f"{table(list(rows_of(counted)), than=ONE_BY_ONE)}\n"
    )
    if asked.detail:
        last = {(it.who, it.step.name): (it, span) for it, span in spans}
        for it, span in last.values():
            sys.stdout.write(f"\n{detail(f'{it.step.name}: {it.who}', places(log, span))}\n")


def rows_of(measured: Sequence[Measurement]) -> Iterator[Row]:
    """A row for each step and way, with how many times what one by one costs it is."""
    for name in STEPS:
        found: dict[str, list[Figures]] = {}
        for it in measured:
            if it.step.name == name:
                found.setdefault(it.who, []).append(it.figures)
        base = median(found.pop(ONE_BY_ONE))
        yield Row(f"{name}: {ONE_BY_ONE}", base)
        for who, figures in sorted(found.items()):
            yield Row(f"{name}: {who}", median(figures), base)


def _parse(arguments: Sequence[str]) -> Asked:
    parser = argparse.ArgumentParser(prog="python -m bench.together", description=__doc__)
    add = parser.add_argument
    add("--packages", nargs="+", default=["web", "mobile"], metavar="P", help="two or more")
    add("--vars", type=settings_of, default={}, metavar="JSON", help="package -> its options")
    add("--events-per-day", type=int, default=4000, metavar="N", help="on each platform")
    add("--days", type=int, default=3, metavar="N", help="days of the first run")
    add("--repeat", type=int, default=3, metavar="N", help="rounds to take medians of")
    add("--format", choices=FORMATS, default="delta")
    add("--detail", action="store_true", help="where the last runs' executions come from")
    return Asked(**vars(parser.parse_args(arguments)))


def _measure(asked: Asked, folder: Path) -> list[Measurement]:
    log = folder / "log"
    log.mkdir()
    conf = {**LOG_SETTINGS, "spark.eventLog.dir": str(log)}
    spark = Project.load(_write_project(asked, folder, "begin", ONE_BY_ONE, conf)).spark
    _write_events(spark, asked, folder / "events")
    jvm = jvm_of(spark).ProcessHandle.current().pid()
    measured: list[Measurement] = []
    every = steps(asked.days, asked.repeat)
    warm_up = _write_project(asked, folder, "warm-up", TOGETHER, {})
    for step in (every[0], every[asked.repeat]):
        # The first runs of a JVM measure the JVM.
        _run(spark, warm_up, step, TOGETHER)
    for step in every:
        turn = step.round % len(WAYS)
        for who in (*WAYS[turn:], *WAYS[:turn]):
            name = f"{WAYS.index(who)}-{step.folder}"
            if not (folder / name).exists():
                _write_project(asked, folder, name, who, {})
            work = partial(_run, spark, folder / name, step, who)
            place = folder / name / "warehouse"
            done = measure_here(who, step, work, folder=place, jvm=jvm)
            told = f"{done.figures.seconds:.1f} s, {done.figures.cpu_seconds:.1f} CPU s"
            sys.stderr.write(f"{step.name} {step.round}, {who}: {told}\n")
            measured.append(done)
    spark.stop()
    return measured


def _write_project(asked: Asked, folder: Path, name: str, who: str, conf: dict[str, str]) -> Path:
    events = folder / "events"
    run: dict[str, Any] = {"start_date": START.isoformat()}
    if who == UNSHARED:
        run["events"] = {"path": str(events), "read_once": False}
    packages: dict[str, dict[str, Any]] = {}
    for it in asked.packages:
        packages |= packages_of(it, run, asked.vars.get(it, {}))
    return write_config(folder / name, asked.format, events, packages, conf)


def _write_events(spark: SparkSession, asked: Asked, path: Path) -> None:
    is_for = {WEBSITES: set(asked.packages) - {"mobile"}, APPS: "mobile" in asked.packages}
    events = GenerateOptions(
        start=START,
        days=asked.days + asked.repeat,
        events_per_day=asked.events_per_day,
        platforms=tuple(name for name, is_asked in is_for.items() if is_asked),
        media=any("media_player" in it for it in asked.packages),
    )
    write(generate(spark, events), str(path))


def _run(spark: SparkSession, folder: Path, step: Step, who: str) -> None:
    """Loading the project is part of every command that anyone starts."""
    project = Project.load(folder, spark=spark)
    if who == ONE_BY_ONE:
        results = {
            name: Project.load(folder, spark=spark).run(name, now=step.end)
            for name in project.package_names()
        }
        failed = [name for name, it in results.items() if it.has_failed]
    else:
        failed = [name for name, it in project.run_all(now=step.end).items() if it.exit_code]
    if failed:
        raise SystemExit(f"{', '.join(failed)} failed in {step.name} {step.round}, {who}")


if __name__ == "__main__":
    main()
