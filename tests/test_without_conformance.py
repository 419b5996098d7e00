"""Conformance is left out by those who say so, and by nobody else."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from conformance import published
from windrow.packages import PACKAGES

CI = Path(__file__).resolve().parents[1] / ".ci" / "run"


@pytest.fixture
def fixtures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the published tables: those of web are missing."""
    monkeypatch.setattr(published, "FIXTURES", tmp_path)
    monkeypatch.delenv(published.WAIVER, raising=False)
    for name in PACKAGES:
        (tmp_path / name).mkdir()
    (tmp_path / "web").rmdir()
    return tmp_path


def test_missing_fixtures_are_a_failure_that_names_them(fixtures: Path):
    with pytest.raises(pytest.fail.Exception, match=f"fixtures of web are not in {fixtures}"):
        published.need_fixtures()


def test_whoever_says_so_does_without(fixtures: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(published.WAIVER, "1")
    with pytest.raises(pytest.skip.Exception, match="without conformance"):
        published.need_fixtures()


def test_fixtures_that_are_there_are_enough(fixtures: Path):
    (fixtures / "web").mkdir()
    assert published.need_fixtures() is None


@pytest.mark.parametrize(
    ("waiver", "last_lines"),
    [
        ("", ["make conformance", "make kills", "==> all passed"]),
        ("1", ["make test-ci", "make kills", "==> all passed, without conformance"]),
    ],
)
def test_ci_says_that_it_did_without(tmp_path: Path, waiver: str, last_lines: list[str]):
    make = tmp_path / "make"
    make.write_text("#!/bin/sh\necho make $1\n")
    make.chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    environ = {**os.environ, "PATH": path, published.WAIVER: waiver}
    done = subprocess.run([CI], env=environ, capture_output=True, text=True, check=True)
    said = [line for line in done.stdout.splitlines() if not line.startswith("==> make")]
    assert said[-3:] == last_lines
