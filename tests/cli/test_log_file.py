"""The log of a call that has several rounds."""

from __future__ import annotations

import logging
from pathlib import Path

from windrow.cli.log_file import LogFile


def test_a_log_that_was_closed_takes_what_comes_next(tmp_path: Path) -> None:
    logger = logging.getLogger("windrow")
    with LogFile(tmp_path) as log:
        logger.error("one")
        assert log.is_written
        log.close()
        assert not log.is_written
        logger.error("two")
        assert log.is_written
    lines = (tmp_path / "windrow.log").read_text().splitlines()
    assert [line.split()[-1] for line in lines] == ["one", "two"]
