"""Everyone who is measured, on the same events: the floor, windrow, and any other command."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import SparkSession

from bench.anatomy import LOG_SETTINGS
from bench.command import fill, placeholders
from bench.cpu import jvm_of
from bench.floor import Floor, grain_of
from bench.measuring import Measurement, measure_here, measure_shell
from bench.options import Options
from bench.project import write_events, write_project
from bench.steps import Step, at, steps
from windrow import Project

FLOOR, WINDROW, PROCESS = "floor", "windrow", "windrow as a process"


@dataclass(frozen=True)
class Field:
    """A Spark session that keeps its event log, events, and a folder for each contestant."""

    options: Options
    folder: Path
    spark: SparkSession
    jvm: int

    @classmethod
    def start(cls, options: Options, folder: Path) -> Field:
        """Start Spark as a target of ours does, and make the events."""
        _check_templates(options, folder)
        log = folder / "log"
        log.mkdir()
        conf = {**options.conf, **LOG_SETTINGS, "spark.eventLog.dir": str(log)}
        begin = write_project(folder / "begin", options, folder / "events", conf)
        spark = Project.load(begin).spark
        write_events(spark, options, folder / "events")
        return cls(options, folder, spark, jvm_of(spark).ProcessHandle.current().pid())

    @property
    def events(self) -> Path:
        """Where the events lie."""
        return self.folder / "events"

    def stop(self) -> Path:
        """Stop Spark; the file that its event log is then complete in."""
        self.spark.stop()
        (log,) = (self.folder / "log").glob("[!.]*")
        return log


def measure_rounds(field: Field) -> Iterator[Measurement]:
    """Every round of every step: floor, windrow, the other commands, floor.

    So a machine that is busy for a while is busy for all of them.
    """
    floor = Floor(
        field.spark, str(field.events), grain_of(field.options.package), field.options.format
    )
    # The first query of a JVM measures the JVM.
    floor.run(at(0), at(1), field.folder / "warm_up")
    for step in steps(field.options.days, field.options.repeat):
        yield _measure_floor(field, floor, step)
        yield _measure_windrow(field, step)
        if field.options.process:
            yield _measure_process(field, step)
        for number, template in enumerate(field.options.against):
            folder = field.folder / f"against-{number}" / step.folder
            folder.mkdir(parents=True, exist_ok=True)
            yield _measure_command(field, step, template, template, folder)
        yield _measure_floor(field, floor, step)


def _check_templates(options: Options, folder: Path) -> None:
    """Now, not after minutes of work for those whose turn comes first."""
    any_step = steps(options.days, options.repeat)[0]
    for template in options.against:
        fill(
            template,
            placeholders(any_step, events=folder, folder=folder, format=options.format),
        )


def _measure_floor(field: Field, floor: Floor, step: Step) -> Measurement:
    folder = field.folder / "floor"
    done = measure_here(
        *(FLOOR, step),
        lambda: floor.run(step.floor_start, step.end, folder),
        folder=folder,
        jvm=field.jvm,
    )
    shutil.rmtree(folder)
    return done


def _measure_windrow(field: Field, step: Step) -> Measurement:
    folder = field.folder / "windrow" / step.folder
    if not folder.exists():
        write_project(folder, field.options, field.events, field.options.conf)

    def run() -> None:
        # Loading the project is part of every run that anyone starts.
        done = Project.load(folder, spark=field.spark).run(field.options.package, now=step.end)
        if done.has_failed:
            raise SystemExit(f"windrow failed in {step.name} {step.round}: {done}")

    return measure_here(WINDROW, step, run, folder=folder / "warehouse", jvm=field.jvm)


def _measure_process(field: Field, step: Step) -> Measurement:
    """`windrow run` in a project of its own: with the start of Python and of the JVM."""
    folder = field.folder / "process" / step.folder
    if not folder.exists():
        write_project(folder, field.options, field.events, field.options.conf)
    command = f"{sys.executable} -m windrow run --project-dir {{folder}} --now {{now}}"
    return _measure_command(field, step, PROCESS, command, folder)


def _measure_command(
    field: Field, step: Step, who: str, template: str, folder: Path
) -> Measurement:
    values = placeholders(step, events=field.events, folder=folder, format=field.options.format)
    log = folder.with_name("output.log")
    return measure_shell(who, step, fill(template, values), folder=folder, log=log)
