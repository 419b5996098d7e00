"""How a run compares with the least that any job over the same events must do.

    python -m bench [--format both] [--repeat 3] [--process] [--against COMMAND] [--json FILE] …

Prints a table per format: medians of every step, the floor beside each.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pyspark

from bench.anatomy import Log, counts, places, read_log
from bench.figures import Figures, median
from bench.measuring import Measurement
from bench.options import BOTH, FORMATS, Options, parse
from bench.rounds import FLOOR, WINDROW, Field, measure_rounds
from bench.steps import STEPS
from bench.table import Row, detail, table


def main() -> None:
    """Measure, and print a table per format."""
    options = parse(sys.argv[1:])
    with tempfile.TemporaryDirectory(prefix="windrow-bench-") as name:
        if options.format == BOTH:
            rows = _measure_both(Path(name))
        else:
            rows = _measure_one(options, Path(name))
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2) + "\n")


def _measure_both(folder: Path) -> list[dict[str, object]]:
    """Each format in a process of its own: a JVM that has worked is quicker, and larger."""
    rows: list[dict[str, object]] = []
    for format in FORMATS:
        file = folder / f"{format}.json"
        own = ["--format", format, "--json", str(file)]
        done = subprocess.run([sys.executable, "-m", "bench", *sys.argv[1:], *own])
        if done.returncode:
            raise SystemExit(done.returncode)
        rows += json.loads(file.read_text())
    return rows


def _measure_one(options: Options, folder: Path) -> list[dict[str, object]]:
    field = Field.start(options, folder)
    measured = []
    for it in measure_rounds(field):
        sys.stderr.write(f"{it.step.name} {it.step.round}, {it.who}: {it.figures.seconds:.1f} s\n")
        measured.append(it)
    with field.stop().open() as lines:
        log = read_log(lines)

    measured = [_with_counts(it, log) for it in measured]
    sys.stdout.write(
        f"\n{options.package} on {options.format}: first run of {options.days} days with "
        f"{options.events_per_day} events each, medians of {options.repeat}; "
        f"{os.cpu_count()} cores, Spark {pyspark.__version__}\n\n"
        f"{table(list(_rows(measured)))}\n\n"
    )
    if options.detail:
        for it in {it.step.name: it for it in measured if it.who == WINDROW}.values():
            if it.span:
                sys.stdout.write(f"{detail(it.step.name, places(log, it.span))}\n\n")
    sys.stdout.flush()
    return [_as_dict(it, options) for it in measured]


def _with_counts(it: Measurement, log: Log) -> Measurement:
    if it.span is None:
        return it
    return replace(it, figures=replace(it.figures, **counts(log, it.span)))


def _rows(measured: Sequence[Measurement]) -> Iterator[Row]:
    """The floor of each step, and below it everyone else; the floor's rounds are twice as many."""
    for name in STEPS:
        by_who: dict[str, list[Figures]] = {}
        for it in measured:
            if it.step.name == name:
                by_who.setdefault(it.who, []).append(it.figures)
        floor = median(by_who.pop(FLOOR))
        yield Row(f"{name}: floor", floor)
        for who, figures in by_who.items():
            yield Row(f"{name}: {who}", median(figures), floor)


def _as_dict(it: Measurement, options: Options) -> dict[str, object]:
    return {
        "package": options.package,
        "format": options.format,
        "events_per_day": options.events_per_day,
        "step": it.step.name,
        "round": it.step.round,
        "start": it.step.start.isoformat(),
        "end": it.step.end.isoformat(),
        "who": it.who,
        **it.figures.as_dict(),
    }


if __name__ == "__main__":
    main()
