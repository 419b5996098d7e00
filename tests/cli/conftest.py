"""Calls of the command line inside this process, and a project to call it on."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any, NoReturn

import pytest
from pyspark.sql import SparkSession

from windrow.cli import main


@dataclass(frozen=True)
class Outcome:
    """What a call left: its exit code and what it printed."""

    exit_code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)


Windrow = Callable[..., Outcome]


@pytest.fixture(scope="session")
def windrow() -> Windrow:
    """Calls `windrow` with these arguments."""

    def call(*arguments: str, spark: SparkSession | None = None) -> Outcome:
        out, err = StringIO(), StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            exit_code = main(arguments, spark=spark)
        return Outcome(exit_code, out.getvalue(), err.getvalue())

    return call


@pytest.fixture
def no_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    """A command that starts Spark fails."""

    def refuse(*_: object, **__: object) -> NoReturn:
        raise AssertionError("Spark was started")

    monkeypatch.setattr("windrow.spark.session.start", refuse)


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, windrow: Windrow) -> Path:
    """A new project, and the folder we are in."""
    folder = tmp_path / "shop"
    assert windrow("init", str(folder)).exit_code == 0
    monkeypatch.chdir(folder)
    return folder
