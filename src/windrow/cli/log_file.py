"""`.windrow/logs/windrow.log`: what is too long for the screen, such as a model's traceback."""

from __future__ import annotations

import logging
import time
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path
from typing import Self


class LogFile(logging.FileHandler):
    """Takes what windrow logs while it is open; the file is made when there is something in it."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / "windrow.log", encoding="utf-8", delay=True)
        lines = logging.Formatter("%(asctime)sZ %(message)s", "%Y-%m-%dT%H:%M:%S")
        lines.converter = time.gmtime
        self.setFormatter(lines)

    def __enter__(self) -> Self:
        logging.getLogger("windrow").addHandler(self)
        return self

    def __exit__(self, *error: object) -> None:
        logging.getLogger("windrow").removeHandler(self)
        self.close()

    @property
    def is_written(self) -> bool:
        """Whether something was logged."""
        return self.stream is not None

    def emit(self, record: logging.LogRecord) -> None:
        # A folder that cannot be written to is no reason to stop a run.
        with suppress(OSError):
            super().emit(record)

    def _open(self) -> TextIOWrapper:
        Path(self.baseFilename).parent.mkdir(parents=True, exist_ok=True)
        return super()._open()
