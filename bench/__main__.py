"""How a run compares with the least that any job over the same events must do.

    python -m bench [--events-per-day 200000] [--days 5] [--format delta]

The floor reads the same window of the same events, keeps the columns that the tables need, and
writes as many rows, with no state and no upsert. Everything runs in one process on one machine, so
only the ratios mean anything.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import yaml
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from windrow import Project
from windrow.demo.events import GenerateOptions, generate, write
from windrow.engine.events import checked_source
from windrow.engine.model_run import event_columns

START = date(2024, 1, 1)


def main() -> None:
    """Measure, and print one line per figure."""
    options = _options()
    with tempfile.TemporaryDirectory(prefix="windrow-bench-") as folder:
        project_dir = Path(folder)
        _write_project(project_dir, options.format)
        spark = Project.load(project_dir).spark
        events = generate(
            spark,
            GenerateOptions(start=START, days=options.days, events_per_day=options.events_per_day),
        )
        _say("generate", _timed(lambda: write(events, str(project_dir / "events"))))
        _measure(spark, project_dir, options.days)


def _measure(spark: SparkSession, project_dir: Path, days: int) -> None:
    project = Project.load(project_dir, spark=spark)
    history, last = _midnight(days - 1), _midnight(days)
    # Warm up on a window that no figure uses: the first query of a JVM measures the JVM.
    _timed(lambda: _floor(project, project_dir / "warm", _midnight(0), _midnight(1)))

    floor = _timed(lambda: _floor(project, project_dir / "floor", _midnight(0), history))
    first = _timed(lambda: project.run("web", now=history))
    _say(f"floor, {days - 1} days", floor)
    _say(f"first run, {days - 1} days", first, floor)

    one_day = _timed(lambda: _floor(project, project_dir / "day", history, last))
    standard = _timed(lambda: project.run("web", now=last))
    _say("floor, 1 day", one_day)
    _say("standard run, 1 day", standard, one_day)
    _say("run with nothing new", _timed(lambda: project.run("web", now=last)), one_day)


def _floor(project: Project, path: Path, first: datetime, last: datetime) -> None:
    ws = project.workspace("web")
    source = checked_source(ws, ws.models)
    columns = [*(event_columns(ws, ws.models) or ()), ws.settings.session_timestamp]
    wanted = [name for name in dict.fromkeys(columns) if name != "page_view_id"]
    rows = source.between(first, last, wanted).where(F.col("event_name") == "page_view")
    rows.repartition("domain_sessionid").write.format("delta").save(str(path))


def _midnight(days: int) -> datetime:
    return datetime.combine(START, datetime.min.time(), UTC) + timedelta(days=days)


def _timed(work: Callable[[], object]) -> float:
    began = time.monotonic()
    work()
    return time.monotonic() - began


def _say(what: str, seconds: float, against: float | None = None) -> None:
    ratio = f"   {seconds / against:5.2f} x the floor" if against else ""
    sys.stdout.write(f"{what:<28}{seconds:8.1f} s{ratio}\n")
    sys.stdout.flush()


def _write_project(folder: Path, format: str) -> None:
    (folder / "windrow.yml").write_text(
        yaml.safe_dump(
            {
                "name": "bench",
                "targets": {"dev": {"warehouse": "./warehouse", "format": format}},
                "events": {"path": "./events"},
                "packages": {"web": {"start_date": START.isoformat()}},
            }
        )
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("--events-per-day", type=int, default=200_000)
    parser.add_argument("--days", type=int, default=5)
    parser.add_argument("--format", choices=["delta", "iceberg"], default="delta")
    return parser.parse_args()


if __name__ == "__main__":
    main()
