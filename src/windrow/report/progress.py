"""A run while it goes on: live on a terminal, quiet in a pipe, JSON lines for logs."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import Protocol, Self, TextIO

from rich.console import Console
from rich.progress import Progress as Bar
from rich.progress import ProgressColumn, SpinnerColumn, Task, TextColumn
from rich.text import Text

from windrow.engine.steps import Step
from windrow.report import words
from windrow.report.step_documents import step_document
from windrow.report.tally import Tally

_NAME_WIDTH = 22

Clock = Callable[[], datetime]


def _now() -> datetime:
    return datetime.now(UTC)


class Progress(Protocol):
    """What shows the steps of runs. Calling it shows one step."""

    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...
    def __call__(self, step: Step) -> None: ...
    def begin(self, package: str, title: str) -> None:
        """Say what the steps that follow belong to."""
        ...

    def rest(self) -> None:
        """Show that nothing goes on until something begins again."""
        ...


class Silent:
    """Shows nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        return None

    def __call__(self, step: Step) -> None:
        return None

    def begin(self, package: str, title: str) -> None:
        return None

    def rest(self) -> None:
        return None


class Lines(Silent):
    """A line for each step that has ended."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def __call__(self, step: Step) -> None:
        # How a run as a whole ends is told by its result.
        if step.status != "started" and step.kind != "run":
            self._console.print(step_line(step), soft_wrap=True)

    def begin(self, package: str, title: str) -> None:
        self._console.print(Text(title, style="bold"), soft_wrap=True)


_WORTH_A_LINE = ("log", "round", "spark")
"""Notes that no result repeats: where tracebacks are, when the next round is, what Spark wants."""


class Quiet(Lines):
    """What went wrong, and little more: for a pipe or a file, where the result follows."""

    def __call__(self, step: Step) -> None:
        if step.status in ("failed", "skipped") or step.name in _WORTH_A_LINE:
            super().__call__(step)

    def begin(self, package: str, title: str) -> None:
        return None


class Live(Lines):
    """A line for each step that has ended, and under them one for what goes on."""

    def __init__(self, console: Console, wall_clock: Clock = _now) -> None:
        super().__init__(console)
        self._wall_clock = wall_clock
        self._package: str | None = None
        self._tally = Tally()
        self._bar = Bar(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            _Times(self._times),
            console=console,
            transient=True,
            # On stderr it must not swallow the document that stdout is kept for.
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._spin(None)
        self._bar.stop()

    def __call__(self, step: Step) -> None:
        self._tally.take(step)
        is_over = step.kind == "run" and step.run is None
        if is_over:
            self._tally.clear()
        # Between its steps a run takes its lease, commits and records.
        goes_on = ", ".join(self._tally.running.values()) or self._package
        if self._tally.run is None:
            self._spin(goes_on)
        elif step.run is not None:
            # From here on one clock runs, for the run as a whole.
            self._spin(running_line(self._tally, self._wall_clock()))
        else:
            for task in self._bar.task_ids:
                line = running_line(self._tally, self._wall_clock())
                self._bar.update(task, description=line)
        super().__call__(step)

    def begin(self, package: str, title: str) -> None:
        self._package = package
        self._spin(package)
        super().begin(package, title)

    def rest(self) -> None:
        # Steps that an error cut short were never told to have ended.
        self._tally.clear()
        self._package = None
        self._spin(None)
        self._bar.refresh()

    def _times(self, task: Task) -> Text:
        """How long it has been going on, the run as a whole if one does, and what is left."""
        now = self._wall_clock()
        of_run = self._tally.elapsed(now)
        elapsed = of_run.total_seconds() if self._tally.run is not None else task.elapsed or 0
        text = Text(f"{timedelta(seconds=int(elapsed))}", "progress.elapsed")
        left = time_left(self._tally, now)
        return text.append(f", {left}", "cyan") if left else text

    def _spin(self, what: str | None) -> None:
        for task in self._bar.task_ids:
            self._bar.remove_task(task)
        if what:
            self._bar.add_task(what)


class _Times(ProgressColumn):
    """Times that go on while nothing else is told."""

    def __init__(self, times: Callable[[Task], Text]) -> None:
        super().__init__()
        self._times = times

    def render(self, task: Task) -> Text:
        return self._times(task)


def running_line(tally: Tally, now: datetime) -> str:
    """What goes on in a run: phase, models done, rows, rate."""
    what = ", ".join(tally.running.values())
    parts = [what or "preparing"]
    if tally.models_done or set(tally.running) & set(tally.run.models if tally.run else ()):
        parts.insert(0, f"models {tally.models_done}/{tally.models_total}")
    if tally.rows:
        seconds = tally.elapsed(now).total_seconds()
        parts.append(f"{words.count(tally.rows, 'row')}{words.rate(tally.rows, seconds)}")
    return " · ".join(parts)


def time_left(tally: Tally, now: datetime) -> str:
    """`about 40 s left`; nothing where no run like it went before."""
    expected = None if tally.run is None else tally.run.expected_seconds
    if expected is None:
        return ""
    left = tally.seconds_left(now)
    if left is None:
        return f"longer than the usual {words.duration(expected)}"
    return f"about {words.span(timedelta(seconds=max(left, 1)))} left"


class JsonLines(Silent):
    """One JSON line for each step, its beginning too."""

    def __init__(self, stream: TextIO, wall_clock: Clock = _now) -> None:
        self._stream = stream
        self._wall_clock = wall_clock
        self._package: str | None = None
        self._tally = Tally()

    def __call__(self, step: Step) -> None:
        now = self._wall_clock()
        self._tally.take(step)
        document = step_document(step, self._package, now, self._tally)
        self._stream.write(json.dumps(document, ensure_ascii=False) + "\n")
        self._stream.flush()
        if step.kind == "run" and step.run is None:
            self._tally.clear()

    def begin(self, package: str, title: str) -> None:
        self._package = package

    def rest(self) -> None:
        self._package = None
        self._tally.clear()


def step_line(step: Step) -> Text:
    """A step that has ended, in one line."""
    match step.status:
        case "info":
            return Text(f"  {step.detail}")
        case "nothing":
            return Text(f"  Nothing to do: {step.detail}")
        case "failed":
            seconds = words.duration(step.seconds)
            return Text(f"  ✗ {step.name:<{_NAME_WIDTH}} {seconds:>22}  {step.detail}", "red")
        case "skipped":
            return Text(f"  - {step.name:<{_NAME_WIDTH}} skipped: {step.detail}", "yellow")
        case _:
            return _done(step)


def _done(step: Step) -> Text:
    noun = "event" if step.name == "events" else "row"
    rows = "" if step.rows is None else words.count(step.rows, noun)
    seconds = words.duration(step.seconds) if step.seconds else ""
    rate = words.rate(step.rows or 0, step.seconds).removeprefix(", ")
    line = f" {step.name:<{_NAME_WIDTH}} {rows:>13} {seconds:>8} {rate:>12}  {step.detail}"
    return Text("  ").append("✓", "green").append(line.rstrip())
