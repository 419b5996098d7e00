"""The log of a call that has several rounds."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from report.values import a_run_that_begins
from windrow.cli.log_file import LogFile, Logged, log_line
from windrow.engine.steps import Step
from windrow.report.progress import Silent


def test_a_log_that_was_closed_takes_what_comes_next(tmp_path: Path) -> None:
    logger = logging.getLogger("windrow")
    with LogFile(tmp_path) as log:
        logger.error("one")
        assert log.has_traceback
        log.close()
        assert not log.has_traceback
        logger.error("two")
        assert log.has_traceback
    lines = (tmp_path / "windrow.log").read_text().splitlines()
    assert [line.split()[-1] for line in lines] == ["one", "two"]


def test_the_log_has_the_steps_of_a_run_though_nothing_is_shown(tmp_path: Path) -> None:
    progress = Logged(Silent())
    with LogFile(tmp_path) as log:
        progress(Step("Spark", "done"))
        assert not (tmp_path / "windrow.log").exists()
        progress.begin("web", "web on dev")
        progress(Step("run", "started", kind="run", run=a_run_that_begins()))
        progress(Step("events", "started"))
        progress(Step("events", "done", rows=2010, seconds=1.26))
        progress(Step("run", "done", rows=1280, seconds=12.3, detail="succeeded", kind="run"))
        assert not log.has_traceback
    lines = (tmp_path / "windrow.log").read_text().splitlines()
    assert [line.partition("] ")[2] for line in lines] == [
        "web: run 20240307T000000-ab12cd34 started: standard, 2024-03-05 18:00:00 to "
        "2024-03-07 00:00:00, 2 models",
        "web: events: done, 2,010 events, 1.3 s",
        "web: run: done, 1,280 rows, 12.3 s, succeeded",
    ]
    assert logging.getLogger("windrow").level == logging.NOTSET


def test_a_note_is_logged_as_it_is_told() -> None:
    assert log_line(Step("plan", "nothing", detail="no event is new.")) == "plan: no event is new."


def test_a_log_that_cannot_be_written_stops_nobody(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    with LogFile(tmp_path / "file") as log:
        logging.getLogger("windrow").error("one")
        assert not log.has_traceback
    assert capsys.readouterr().err == ""
