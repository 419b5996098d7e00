"""For which commands Java is started for the work of some seconds, and how that is known."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pytest

from report.values import a_result, ran
from windrow import Project
from windrow.cli.last_runs import note_last_runs, takes_in_little
from windrow.spark import session

from .conftest import Windrow

IsBrief = Callable[..., bool]


@pytest.fixture
def project(tmp_path: Path, windrow: Windrow) -> Project:
    folder = tmp_path / "shop"
    assert windrow("init", str(folder)).exit_code == 0
    return Project.load(folder)


@pytest.fixture
def is_brief(project: Project, windrow: Windrow, monkeypatch: pytest.MonkeyPatch) -> IsBrief:
    """Whether a command asks for a Spark for some seconds; it is stopped where it would start."""
    asked: list[bool] = []

    def stop(*_: Any, is_brief: bool, **__: Any) -> NoReturn:
        asked.append(is_brief)
        raise KeyboardInterrupt

    # The suite has a Spark by now, so that none would be started.
    monkeypatch.setattr(session, "start", stop)

    def ask(command: str, *arguments: str) -> bool:
        place = ("--project-dir", str(project.config.project_dir))
        assert windrow(command, *arguments, *place).exit_code == 130
        return asked.pop()

    return ask


def took_in(project: Project, events: int, **beside: Any) -> None:
    note_last_runs(project, ran(replace(a_result(), counts={"events": events}, **beside)))


def little(project: Project) -> bool:
    return takes_in_little(project, project.choices(["web"]))


def test_a_run_is_expected_to_take_in_what_the_last_one_did(project: Project) -> None:
    assert not little(project)
    took_in(project, 4_000)
    assert little(project)
    took_in(project, 50_001)
    assert not little(project)


def test_a_run_without_events_says_nothing_of_the_next(project: Project) -> None:
    took_in(project, 60_000)
    took_in(project, 0)
    assert not little(project)


def test_what_was_done_beside_a_run_counts_too(project: Project) -> None:
    late = replace(a_result(), counts={"events": 30_000})
    took_in(project, 30_000, late=(late,))
    assert not little(project)
    took_in(project, 10_000, catch_up=replace(late, late=(late,)))
    assert not little(project)


def test_targets_are_told_apart(project: Project) -> None:
    folder = project.config.project_dir
    text = (folder / "windrow.yml").read_text()
    (folder / "windrow.yml").write_text(
        text.replace("  dev:\n", "  prod: {warehouse: w}\n  dev:\n")
    )
    other = Project.load(folder, target="prod")
    took_in(project, 10)
    assert little(project)
    assert not little(other)
    took_in(other, 60_000)
    assert little(project)


@pytest.mark.parametrize("text", ["", "[]", '{"dev": 5}', '{"dev": {"web": "few"}}', "\xff"])
def test_a_damaged_note_is_none(project: Project, text: str) -> None:
    took_in(project, 10)
    note = project.config.project_dir / ".windrow" / "last-runs.json"
    note.write_text(text, encoding="latin-1")
    assert not little(project)
    took_in(project, 10)
    assert little(project)


def test_a_place_that_cannot_be_written_to_keeps_nobody_from_running(project: Project) -> None:
    place = project.config.project_dir / ".windrow"
    shutil.rmtree(place, ignore_errors=True)
    place.write_text("no folder")
    took_in(project, 10)
    assert not little(project)


@pytest.mark.parametrize(
    "command", [["status"], ["plan"], ["metrics"], ["unlock"], ["explain", "session", "s1"]]
)
def test_looks_are_done_in_some_seconds(command: list[str], is_brief: IsBrief) -> None:
    assert is_brief(*command)


def test_a_small_run_is_done_in_some_seconds(project: Project, is_brief: IsBrief) -> None:
    assert not is_brief("run")
    took_in(project, 4_000)
    assert is_brief("run")
    assert is_brief("run", "--until-caught-up")
    assert not is_brief("run", "--every", "5m")
    assert not is_brief("run", "--refresh-manifests")
    assert not is_brief("test")
