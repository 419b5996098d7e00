"""What `.ci/run` runs, with a `make` that only says what it was asked for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.published import WAIVER

CI = Path(__file__).resolve().parents[1] / ".ci" / "run"
LOTS = 15


def said_by_ci(folder: Path, **surroundings: str) -> list[str]:
    """The lines that it prints."""
    make = folder / "make"
    make.write_text("#!/bin/sh\necho make $*\n")
    make.chmod(0o755)
    path = f"{folder}:{os.environ['PATH']}"
    environ = {**os.environ, "PATH": path, WAIVER: "", **surroundings}
    done = subprocess.run([CI], env=environ, capture_output=True, text=True, check=True)
    return [line for line in done.stdout.splitlines() if not line.startswith("==> make")]


@pytest.mark.parametrize(
    ("waiver", "conformance", "without"),
    [("", ["make conformance"], ""), ("1", [], ", without conformance")],
)
def test_ci_says_that_it_did_without_conformance(
    tmp_path: Path, waiver: str, conformance: list[str], without: str
):
    always = ["lint", "docs", "test", "coverage"]
    assert said_by_ci(tmp_path, WINDROW_WITHOUT_CONFORMANCE=waiver, LOT="2", MINUTES="0") == [
        *(f"make {target}" for target in always),
        *conformance,
        "make kills",
        f"==> lot 2 of {LOTS}: make test-ci SLICE=2/5",
        "make test-ci SLICE=2/5",
        f"==> all passed{without}",
    ]


def test_ci_draws_every_lot_once_where_it_has_time(tmp_path: Path):
    drawn = [line for line in said_by_ci(tmp_path, LOT="4") if line.startswith("==> lot")]
    assert len({*drawn}) == len(drawn) == LOTS
    assert drawn[0] == f"==> lot 4 of {LOTS}: make test-ci SLICE=4/5"
    assert f"==> lot {LOTS} of {LOTS}: make test-lowest" in drawn


def test_the_commit_says_where_ci_begins(tmp_path: Path):
    told = [git("rev-parse", "--is-shallow-repository"), git("rev-list", "--count", "HEAD")]
    if told[0] != "false":
        pytest.skip("This is no whole clone: nobody can say which commit it is.")
    first = int(told[1]) % LOTS + 1
    said = said_by_ci(tmp_path, LOT="", MINUTES="0")
    assert [line for line in said if line.startswith(f"==> lot {first} of {LOTS}")]


def git(*words: str) -> str:
    """What git says of this folder; nothing where it is no clone."""
    done = subprocess.run(["git", *words], cwd=CI.parent, capture_output=True, text=True)
    return done.stdout.strip()


def test_no_slice_of_the_tests_of_services_is_empty():
    """They are fewest, and a slice that has nothing to do fails."""
    collect = ["-m", "pytest", "--collect-only", "-q", "-m", "services", "--slice", "4/4"]
    found = subprocess.run(
        [sys.executable, *collect, "tests/services"],
        cwd=CI.parents[1],
        capture_output=True,
        text=True,
    )
    assert found.returncode == 0, found.stdout
    assert "::test_" in found.stdout
