"""windrow run --every as a user starts it, in a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

WINDROW = [sys.executable, "-m", "windrow"]
Process = subprocess.Popen[str]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project, and events that have not arrived yet."""
    folder = tmp_path_factory.mktemp("warm") / "shop"
    for arguments in (
        ["init", str(folder)],
        [
            *("generate", "--project-dir", str(folder), "--output", str(folder / "to_come")),
            *("--days", "1", "--events-per-day", "100"),
        ],
    ):
        subprocess.run([*WINDROW, *arguments], check=True, timeout=300, capture_output=True)
    return folder


@pytest.fixture
def warm(shop: Path) -> Iterator[Process]:
    """A command that stays."""
    process = subprocess.Popen(
        [*WINDROW, "run", "--every", "10s", "--select", "+page_views", "--json", "--quiet"],
        cwd=shop,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        process_group=0,
    )
    yield process
    process.kill()
    process.communicate()


def told(process: Process) -> Any:
    """What it prints next."""
    assert process.stdout is not None
    return json.loads(process.stdout.readline())


def test_events_that_arrive_are_taken_in_until_sigterm(warm: Process, shop: Path) -> None:
    without = told(warm)
    assert (without["round"]["exit_code"], without["error"]["type"]) == (2, "SourceError")
    (shop / "to_come").rename(shop / "events")
    taken_in, nothing = told(warm), told(warm)
    outcomes = [it["packages"][0]["runs"][0]["outcome"] for it in (taken_in, nothing)]
    assert outcomes == ["succeeded", "nothing_to_do"]
    # As a supervisor does it: to the whole group.
    os.killpg(warm.pid, signal.SIGTERM)
    out, err = warm.communicate(timeout=60)
    # Why the first round failed; how it ended is progress, and it was told to be quiet.
    assert (warm.returncode, out, len(err.splitlines())) == (0, "", 1)


def test_ctrl_c_between_rounds_ends_well(warm: Process) -> None:
    assert told(warm)["round"]["number"] == 1
    os.killpg(warm.pid, signal.SIGINT)
    out, err = warm.communicate(timeout=60)
    assert (warm.returncode, out, err) == (0, "", "")


def test_a_lost_spark_ends_the_command(warm: Process) -> None:
    assert told(warm)["round"]["number"] == 1
    for child in Path(f"/proc/{warm.pid}/task/{warm.pid}/children").read_text().split():
        os.kill(int(child), signal.SIGKILL)
    out, _ = warm.communicate(timeout=120)
    last_round, end = map(json.loads, out.splitlines())
    assert last_round["round"]["next"] is None
    assert (warm.returncode, end["error"]["type"]) == (1, "SparkLost")
