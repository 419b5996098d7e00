"""A run while it goes on: live on a terminal, plain lines elsewhere, JSON lines for logs."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from types import TracebackType
from typing import Protocol, Self, TextIO

from rich.console import Console
from rich.progress import Progress as Bar
from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from windrow.engine.steps import Step
from windrow.report import words
from windrow.report.documents import step_document

_NAME_WIDTH = 22


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
        if step.status != "started":
            self._console.print(step_line(step), soft_wrap=True)

    def begin(self, package: str, title: str) -> None:
        self._console.print(Text(title, style="bold"), soft_wrap=True)


class Live(Lines):
    """A line for each step that has ended, and under them a spinner for those that go on."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self._package: str | None = None
        self._running: dict[str, str] = {}
        self._bar = Bar(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            TimeElapsedColumn(),
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
        if step.status == "started":
            self._running[step.name] = step.detail or step.name
        else:
            self._running.pop(step.name, None)
        # Between its steps a run takes its lease, commits and records.
        self._spin(", ".join(self._running.values()) or self._package)
        super().__call__(step)

    def begin(self, package: str, title: str) -> None:
        self._package = package
        self._spin(package)
        super().begin(package, title)

    def rest(self) -> None:
        # Steps that an error cut short were never told to have ended.
        self._running.clear()
        self._package = None
        self._spin(None)
        self._bar.refresh()

    def _spin(self, what: str | None) -> None:
        for task in self._bar.task_ids:
            self._bar.remove_task(task)
        if what:
            self._bar.add_task(what)


class JsonLines(Silent):
    """One JSON line for each step, its beginning too."""

    def __init__(
        self, stream: TextIO, wall_clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._stream = stream
        self._wall_clock = wall_clock
        self._package: str | None = None

    def __call__(self, step: Step) -> None:
        document = step_document(step, self._package, self._wall_clock())
        self._stream.write(json.dumps(document, ensure_ascii=False) + "\n")
        self._stream.flush()

    def begin(self, package: str, title: str) -> None:
        self._package = package

    def rest(self) -> None:
        self._package = None


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
    line = f" {step.name:<{_NAME_WIDTH}} {rows:>13} {seconds:>8}  {step.detail}"
    return Text("  ").append("✓", "green").append(line.rstrip())
