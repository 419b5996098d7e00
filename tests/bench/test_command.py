"""Other commands as contestants: their text, and what they and their children cost."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from bench.command import fill, measure_command, placeholders
from bench.measuring import measure_shell
from bench.steps import steps

FIRST, STANDARD, _ = steps(days=3, repeat=1)

BURN = f"{sys.executable} -c 'import time\nwhile time.process_time() < 0.5: pass'"


def values(folder: Path = Path("/w")) -> dict[str, str]:
    return placeholders(STANDARD, events=Path("/e"), folder=folder, format="delta")


def test_a_template_gets_the_window_of_its_step():
    template = "x run --vars '{{start: {start}, end: {end}}}' {step} {now} {events} {folder}"
    assert (
        fill(template, values())
        == "x run --vars '{start: 2024-01-04, end: 2024-01-05}' standard 2024-01-05T00:00:00 /e /w"
    )


@pytest.mark.parametrize("template", ["run {begin}", "run {}", "run {start"])
def test_a_template_that_cannot_be_filled_in_names_what_can(template: str):
    with pytest.raises(SystemExit, match=r"\{events\}, \{folder\}, .*written twice"):
        fill(template, values())


def test_a_command_is_measured_with_its_files(tmp_path: Path):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "old").write_text("before")
    command = "printf 12345 > $0/new"
    done = measure_shell(
        *("x", FIRST, f"sh -c '{command}' {folder}"), folder=folder, log=tmp_path / "output.log"
    )
    assert (done.figures.files_written, done.figures.bytes_written) == (1, 5)
    assert done.figures.jobs is None
    assert done.span is None


def test_cpu_seconds_of_children_count(tmp_path: Path):
    found = measure_command(BURN, tmp_path / "output.log")
    assert 0.5 <= found["cpu_seconds"] < 5
    assert found["peak_bytes"] > 1_000_000


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere orphans go to the first process")
def test_cpu_seconds_of_what_a_command_leaves_behind_count_but_not_the_wait_for_it(tmp_path: Path):
    began = time.monotonic()
    found = measure_command(f"( {BURN}; sleep 1 ) & exit 0", tmp_path / "output.log")
    assert found["cpu_seconds"] >= 0.5
    assert found["seconds"] < 0.5 < 1.5 <= time.monotonic() - began


def test_a_command_that_fails_ends_the_benchmark_with_what_it_said(tmp_path: Path):
    with pytest.raises(SystemExit, match=r"(?s)Exit code 3: echo oh; exit 3.*oh"):
        measure_command("echo oh; exit 3", tmp_path / "output.log")
