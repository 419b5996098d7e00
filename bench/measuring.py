"""Measuring one piece of work: clock, CPU, memory, and the files that it leaves in a folder."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench.anatomy import Span
from bench.command import measure_command
from bench.cpu import begin_peak, cpu_seconds, peak_bytes
from bench.figures import Figures
from bench.steps import Step


@dataclass(frozen=True)
class Measurement:
    """Who did a step, and what it cost; with a span, Spark's event log can tell more."""

    who: str
    step: Step
    figures: Figures
    span: Span | None = None


def measure_here(
    who: str, step: Step, work: Callable[[], object], *, folder: Path, jvm: int
) -> Measurement:
    """Measure work in this process and in the JVM that it speaks to."""
    before = files_in(folder)
    begin_peak(jvm)
    cpu, began, began_ms = cpu_seconds(jvm), time.monotonic(), int(time.time() * 1000)
    work()
    seconds = time.monotonic() - began
    span = Span(began_ms, int(time.time() * 1000))
    used = cpu_seconds(jvm) - cpu
    peak = peak_bytes(jvm)
    written = new_files(before, files_in(folder))
    figures = Figures(seconds, used, peak, sum(written), len(written))
    return Measurement(who, step, figures, span)


def measure_shell(who: str, step: Step, command: str, *, folder: Path, log: Path) -> Measurement:
    """Measure a shell command that works in a folder; what it prints goes to the log."""
    before = files_in(folder)
    used = measure_command(command, log)
    written = new_files(before, files_in(folder))
    return Measurement(
        who,
        step,
        Figures(bytes_written=sum(written), files_written=len(written), **used),
    )


def files_in(folder: Path) -> dict[Path, tuple[int, int]]:
    """Every file under a folder, with its time and size; checksums of local disks are none."""
    files = [it for it in folder.rglob("*") if it.is_file() and it.suffix != ".crc"]
    stats = [(it, it.stat()) for it in files]
    return {it: (found.st_mtime_ns, found.st_size) for it, found in stats}


def new_files(before: dict[Path, tuple[int, int]], after: dict[Path, tuple[int, int]]) -> list[int]:
    """The sizes of files that are new or were written anew."""
    return [size for path, (when, size) in after.items() if before.get(path) != (when, size)]
