"""Conformance is left out by those who say so, and by nobody else."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance import published
from windrow.packages import PACKAGES


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
