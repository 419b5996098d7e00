"""What looking at the state costs after years of hourly runs: logs, manifests, ledger.

    python -m bench.metadata [--runs 26280] [--files-per-day 1] [--format delta] …

A real project has a few runs. Then its tables are made as old as that: versions, files and ledger
rows of all the runs are there, though most of the files are only named. The same looks, and the
same small runs, are measured before and after.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from bench import aged_delta, aged_iceberg
from bench.ages import Age
from bench.anatomy import LOG_SETTINGS, Log, counts, read_log
from bench.cpu import jvm_of
from bench.figures import median
from bench.measuring import Measurement, files_in, measure_here
from bench.options import FORMATS
from bench.project import write_config
from bench.steps import Step
from bench.table import MEGABYTE, Row, table
from windrow import Project
from windrow.demo.events import GenerateOptions, generate, write
from windrow.engine.workspace import Workspace
from windrow.state.records import frame_of_record
from windrow.state.runs import RunRecord

END = date(2026, 1, 1)
"""The first of the measured hours."""
_RECENT_DAYS = 45
"""So many days before have real files only: a run looks a month back for the ids of page views."""
_DAYS_OF_EVENTS = 3
_KEPT = {"delta": 30 * 24, "iceberg": 7 * 24}
"""Versions that are known one by one: Delta's log is kept for 30 days, snapshots for a week."""
_HOUR = timedelta(hours=1)


@dataclass(frozen=True)
class Asked:
    """What to measure."""

    runs: int
    files_per_day: int
    kept: int | None
    events_per_day: int
    rounds: int
    format: str
    folder: Path | None

    @property
    def start(self) -> date:
        """The day of the first of the runs."""
        return END - timedelta(hours=self.runs)

    @property
    def age(self) -> Age:
        """What the runs leave of each table."""
        days = (END - self.start).days - _RECENT_DAYS
        old = [self.start + timedelta(days=number) for number in range(max(1, days))]
        kept = _KEPT[self.format] if self.kept is None else self.kept
        return Age(self.runs, min(kept, self.runs), old, self.files_per_day)


def main() -> None:
    """Measure before and after, and print both."""
    asked = _parse(sys.argv[1:])
    with tempfile.TemporaryDirectory(prefix="windrow-metadata-") as name:
        sys.stdout.write(_measure(asked, asked.folder or Path(name)))


def _parse(arguments: Sequence[str]) -> Asked:
    parser = argparse.ArgumentParser(prog="python -m bench.metadata", description=__doc__)
    add = parser.add_argument
    add("--runs", type=int, default=3 * 365 * 24, metavar="N", help="hourly runs that there were")
    add("--files-per-day", type=int, default=1, metavar="N", help="of each table that has days")
    add("--kept", type=int, metavar="N", help="versions that are known one by one")
    add("--events-per-day", type=int, default=2400, metavar="N", help="of the real, last days")
    add("--rounds", type=int, default=3, metavar="N", help="to take medians of")
    add("--format", choices=FORMATS, default="delta")
    add("--folder", type=Path, help="where to leave the project for a closer look")
    return Asked(**vars(parser.parse_args(arguments)))


def _measure(asked: Asked, folder: Path) -> str:
    log = folder / "log"
    log.mkdir(parents=True)
    project = _write_project(asked, folder, {**LOG_SETTINGS, "spark.eventLog.dir": str(log)})
    spark = Project.load(project).spark
    _write_events(spark, asked, folder / "events")
    # The first run takes in the real days, and a second one warms the rest up.
    for hours in (0, 1):
        _run(project, spark, hours)
    warehouse, measured = folder / "warehouse", range(2, 2 + 2 * asked.rounds)
    young = [*_looks(project, spark, measured[: asked.rounds], "young")]
    sizes = [_sizes(warehouse, "young")]
    ws = Project.load(project, spark=spark).workspace("web")
    grow_old(spark, ws, warehouse, asked.age)
    sizes.append(_sizes(warehouse, "old"))
    old = [*_looks(project, spark, measured[asked.rounds :], "old")]
    spark.stop()
    (file,) = log.glob("[!.]*")
    with file.open() as lines:
        read = read_log(lines)
    return (
        f"\nweb on {asked.format}: {asked.runs} runs, {asked.files_per_day} files a day, "
        f"{asked.age.kept} versions kept\n\n{table([*_rows([*young, *old], read)])}\n\n"
        + "\n".join(sizes)
        + "\n"
    )


def _write_project(asked: Asked, folder: Path, conf: dict[str, str]) -> Path:
    settings = {"start_date": asked.start.isoformat(), "backfill_limit_days": 10_000}
    return write_config(folder, asked.format, folder / "events", {"web": settings}, conf)


def _write_events(spark: SparkSession, asked: Asked, path: Path) -> None:
    first = END - timedelta(days=_DAYS_OF_EVENTS)
    options = GenerateOptions(
        start=first, days=_DAYS_OF_EVENTS + 1, events_per_day=asked.events_per_day
    )
    write(generate(spark, options), str(path))


def _at(hours: int) -> datetime:
    return datetime.combine(END, datetime.min.time(), UTC) + hours * _HOUR


def _run(project: Path, spark: SparkSession, hours: int) -> None:
    done = Project.load(project, spark=spark).run("web", now=_at(hours))
    if done.has_failed:
        raise SystemExit(f"windrow failed at {_at(hours)}: {done}")


def _status(project: Path, spark: SparkSession, at: datetime) -> object:
    return Project.load(project, spark=spark).status("web", now=at)


def _plan(project: Path, spark: SparkSession, at: datetime) -> object:
    return Project.load(project, spark=spark).plan("web", now=at)


def _looks(
    project: Path, spark: SparkSession, hours: Sequence[int], age: str
) -> Iterator[Measurement]:
    """Hour by hour: a look at the status, a plan, the run of the hour, and one for nothing."""
    jvm = jvm_of(spark).ProcessHandle.current().pid()
    for number in hours:
        at = _at(number)
        works: dict[str, Callable[[], object]] = {
            "status": partial(_status, project, spark, at),
            "plan": partial(_plan, project, spark, at),
            "run of an hour": partial(_run, project, spark, number),
            "nothing new": partial(_run, project, spark, number),
        }
        for name, work in works.items():
            step = Step(f"{name}, {age}", number, "", at - _HOUR, at, at - _HOUR)
            done = measure_here("windrow", step, work, folder=project / "warehouse", jvm=jvm)
            sys.stderr.write(f"{step.name} {number}: {done.figures.cpu_seconds:.1f} CPU s\n")
            yield done


def _rows(measured: Sequence[Measurement], log: Log) -> Iterator[Row]:
    found: dict[str, list[Measurement]] = {}
    for it in measured:
        found.setdefault(it.step.name, []).append(it)
    for name in sorted(found):
        figures = [
            replace(it.figures, **counts(log, it.span)) for it in found[name] if it.span is not None
        ]
        yield Row(name, median(figures))


def _sizes(warehouse: Path, age: str) -> str:
    """How many files of metadata there are, and how large they are."""
    files = {
        path: size
        for path, (_, size) in files_in(warehouse).items()
        if "_delta_log" in path.parts or "metadata" in path.parts
    }
    return f"{age}: {len(files)} files of metadata, {sum(files.values()) / MEGABYTE:.1f} MB"


def grow_old(spark: SparkSession, ws: Workspace, warehouse: Path, age: Age) -> None:
    """Make every table of the warehouse, and the ledger's rows, as old as that."""
    ledger = ws.runs.table
    others = [it for it in sorted(warehouse.glob("*/*")) if it.is_dir() and it.name != ledger.name]
    for folder in others:
        _grow_old(spark, ws, folder, age)
    _fill_ledger(spark, ws, age)
    _grow_old(spark, ws, warehouse / ledger.schema / ledger.name, age)


def _grow_old(spark: SparkSession, ws: Workspace, folder: Path, age: Age) -> None:
    if ws.tables.format == "delta":
        aged_delta.grow_old(spark, folder, age)
    else:
        catalog = getattr(ws.tables, "catalog")  # noqa: B009  # of Iceberg's tables alone
        aged_iceberg.grow_old(spark, f"{catalog}.{folder.parent.name}.{folder.name}", age)


def _fill_ledger(spark: SparkSession, ws: Workspace, age: Age) -> None:
    """Give the ledger a row for every run; the last one knows what the tables are at now."""
    newest, *_ = ws.runs.last("web", 1)
    tables = {str(it): it for it in (ws.manifest, ws.key_days, *ws.written_tables(ws.models))}
    known = [tables[name] for name in newest.table_versions if name in tables]
    now = {str(it): at for it in known if (at := ws.tables.version(it)) is not None}
    last = replace(newest, number=age.runs, table_versions={**newest.table_versions, **now})
    rows = _copies(spark, last, age.runs - 1).unionByName(frame_of_record(spark, last))
    ws.tables.overwrite(ws.runs.table, rows.coalesce(1))


def _copies(spark: SparkSession, last: RunRecord, number: int) -> DataFrame:
    """The run as it was every hour before."""
    row = frame_of_record(spark, last)
    back = F.make_dt_interval(hours=F.col("n").cast("int"))
    times = [name for name, kind in row.dtypes if kind == "timestamp"]
    every = row.crossJoin(spark.range(1, number + 1).withColumnRenamed("id", "n"))
    return every.withColumns(
        {
            **{name: F.col(name) - back for name in times},
            "run_id": F.concat("run_id", F.lit("-"), F.col("n")),
            "number": F.col("number") - F.col("n"),
        }
    ).drop("n")


if __name__ == "__main__":
    main()
