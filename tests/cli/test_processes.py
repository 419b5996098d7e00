"""The whole thing as a user starts it, in a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

WINDROW = [sys.executable, "-m", "windrow"]


def windrow(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*WINDROW, *arguments], cwd=folder, capture_output=True, text=True, timeout=900
    )


@pytest.mark.parametrize("format", ["delta", "iceberg"])
def test_the_demo_works_and_so_does_everything_it_says_to_try(tmp_path: Path, format: str) -> None:
    demo = windrow("demo", "--format", format, folder=tmp_path)
    assert (demo.returncode, demo.stderr) == (0, "")
    for heading in ("Where visitors came from", "The tables", "Try next"):
        assert heading in demo.stdout

    assert demo.stdout.rstrip().endswith("windrow-demo/report.html")
    assert "All is well" in (tmp_path / "windrow-demo" / "report.html").read_text()

    _, _, next_steps = demo.stdout.partition("Try next\n")
    pasted = [line for line in next_steps.splitlines() if line.startswith("    ")]
    assert len(pasted) > 3
    script = "\n".join(pasted)
    outcome = subprocess.run(
        ["sh", "-ec", script], cwd=tmp_path, capture_output=True, text=True, timeout=900
    )
    assert (outcome.returncode, outcome.stderr) == (0, "")
    assert "daily_pages" in outcome.stdout


def test_the_demo_starts_afresh_in_its_own_folder_only(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    refused = windrow("demo", "mine", folder=tmp_path)
    assert refused.returncode == 2
    assert "was not made by `windrow demo`" in refused.stderr
    assert (tmp_path / "mine" / "thesis.txt").exists()

    answers = [
        json.loads(windrow("demo", "--json", folder=tmp_path).stdout)["answers"] for _ in range(2)
    ]
    assert answers[0] == answers[1]


@pytest.mark.parametrize(
    ("number", "exit_code", "sentence"),
    [
        (signal.SIGINT, 130, "Interrupted. Nothing of this run was kept.\n"),
        (signal.SIGTERM, 143, "Terminated. Nothing of this run was kept.\n"),
    ],
)
def test_a_signal_to_a_run_and_its_children_undoes_it_with_one_sentence(
    tmp_path: Path, number: signal.Signals, exit_code: int, sentence: str
) -> None:
    assert windrow("init", "shop", folder=tmp_path).returncode == 0
    shop = tmp_path / "shop"
    sizes = ("--days", "1", "--events-per-day", "1000")
    assert windrow("generate", *sizes, folder=shop).returncode == 0
    run = subprocess.Popen(
        [*WINDROW, "run", "--log-format", "json"],
        cwd=shop,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        process_group=0,
    )
    assert run.stderr is not None
    for line in run.stderr:
        if '"step": "events", "status": "done"' in line:
            break
    # As a terminal and `timeout` do it: to the whole group.
    os.killpg(run.pid, number)
    # What was read ahead is part of the rest.
    err = run.stderr.read()
    run.communicate(timeout=300)
    *steps, last = err.splitlines(keepends=True)
    assert (run.returncode, last) == (exit_code, sentence)
    # Nothing else is said, be it by the children.
    assert json.loads(steps[-1])["event"] == "run_finished"
    assert all(line.startswith("{") for line in steps)

    status = json.loads(windrow("status", "--json", folder=shop).stdout)
    (package,) = status["packages"]
    assert [record["outcome"] for record in package["last_runs"]] == ["undone"]
    assert package["manifest"] == {}
