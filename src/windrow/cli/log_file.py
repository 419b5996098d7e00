"""`.windrow/logs/windrow.log`: what runs did, and what is too long for the screen."""

from __future__ import annotations

import logging
import time
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from types import TracebackType
from typing import Self

from windrow.engine.steps import Step
from windrow.report.progress import Progress
from windrow.report.words import count, duration, instant

_log = logging.getLogger("windrow")

_MOST_BYTES = 5_000_000
_OLD_FILES = 3
"""`windrow.log.1` is the newest of them."""


class LogFile(RotatingFileHandler):
    """Takes what windrow logs while it is open; the file is made when there is something in it."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            folder / "windrow.log",
            maxBytes=_MOST_BYTES,
            backupCount=_OLD_FILES,
            encoding="utf-8",
            delay=True,
        )
        # Two processes may write at a time: the second one to say that it has to wait.
        lines = logging.Formatter("%(asctime)sZ [%(process)d] %(message)s", "%Y-%m-%dT%H:%M:%S")
        lines.converter = time.gmtime
        self.setFormatter(lines)
        self.has_traceback = False
        """Whether an error was logged since this was closed last."""
        self._level_before = logging.NOTSET

    def __enter__(self) -> Self:
        self._level_before = _log.level
        _log.setLevel(logging.INFO)
        _log.addHandler(self)
        return self

    def __exit__(self, *error: object) -> None:
        _log.removeHandler(self)
        _log.setLevel(self._level_before)
        self.close()

    def emit(self, record: logging.LogRecord) -> None:
        super().emit(record)
        self.has_traceback |= record.levelno >= logging.ERROR and self.stream is not None

    def close(self) -> None:
        super().close()
        self.has_traceback = False

    def handleError(self, record: logging.LogRecord) -> None:
        """A folder that cannot be written to is no reason to stop a run, or to say so each time."""

    def _open(self) -> TextIOWrapper:
        Path(self.baseFilename).parent.mkdir(parents=True, exist_ok=True)
        return super()._open()


class Logged:
    """Progress that is logged too, whatever is shown of it."""

    def __init__(self, shown: Progress) -> None:
        self._shown = shown
        self._package = ""

    def __enter__(self) -> Self:
        self._shown.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._shown.__exit__(kind, error, trace)

    def __call__(self, step: Step) -> None:
        if line := log_line(step):
            _log.info("%s%s", self._package, line)
        self._shown(step)

    def begin(self, package: str, title: str) -> None:
        self._package = f"{package}: "
        self._shown.begin(package, title)

    def rest(self) -> None:
        self._package = ""
        self._shown.rest()


def log_line(step: Step) -> str | None:
    """A step as the log has it; None for what says nothing of a run: that it begins, say."""
    if step.run is not None:
        run = step.run
        window = f"{instant(run.lower_limit)} to {instant(run.upper_limit)}"
        return f"run {run.run_id} started: {run.state}, {window}, {count(len(run.models), 'model')}"
    if step.status == "started" or step.name in ("log", "Spark", "spark"):
        return None
    parts = [
        step.status if step.status not in ("info", "nothing") else "",
        "" if step.rows is None else count(step.rows, "event" if step.name == "events" else "row"),
        duration(step.seconds) if step.seconds else "",
        step.detail,
    ]
    return f"{step.name}: {', '.join(filter(None, parts))}"
