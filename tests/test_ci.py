"""What `.ci/run` runs, with a `make` that only says what it was asked for."""

from __future__ import annotations

import os
import subprocess
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
