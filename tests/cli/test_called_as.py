"""What we tell people to type works where they are told to type it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from windrow.cli.called_as import called_as

from .conftest import Windrow


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder beside the environment that windrow is in; neither is on the PATH."""
    for folder in (".venv/bin", "shop", "a b"):
        (tmp_path / folder).mkdir(parents=True)
    program = tmp_path / ".venv" / "bin" / "windrow"
    program.write_text("#!/bin/sh\necho called\n")
    program.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    return tmp_path


@pytest.mark.parametrize("called", [".venv/bin/windrow", "{0}/.venv/bin/windrow"])
def test_a_path_is_seen_from_the_folder_that_comes_next(
    project: Path, monkeypatch: pytest.MonkeyPatch, called: str
) -> None:
    monkeypatch.setattr(sys, "argv", [called.format(project), "demo"])
    assert called_as(Path("shop")) == "../.venv/bin/windrow"


def test_what_is_on_the_path_is_called_by_its_name(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{project}/.venv/bin")
    monkeypatch.setattr(sys, "argv", [f"{project}/.venv/bin/windrow", "demo"])
    assert called_as(Path("shop")) == "windrow"


def test_another_windrow_on_the_path_is_not_taken_for_this_one(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = project / "a b" / "windrow"
    other.write_text("#!/bin/sh\n")
    other.chmod(0o755)
    monkeypatch.setenv("PATH", str(other.parent))
    monkeypatch.setattr(sys, "argv", [".venv/bin/windrow", "demo"])
    assert called_as(Path("shop")) == "../.venv/bin/windrow"


def test_a_module_is_called_with_its_python(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["/lib/windrow/__main__.py", "demo"])
    monkeypatch.setattr(sys, "executable", f"{project}/.venv/bin/python")
    assert called_as(Path("shop")) == "../.venv/bin/python -m windrow"


def test_within_another_program_it_is_just_windrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["/usr/bin/pytest"])
    assert called_as(Path("shop")) == "windrow"


@pytest.mark.parametrize("folder", ["shop", "a b/deep", "link", "{0}/else where"])
def test_what_init_says_to_type_can_be_pasted(
    project: Path, monkeypatch: pytest.MonkeyPatch, windrow: Windrow, folder: str
) -> None:
    (project / "far" / "away").mkdir(parents=True)
    (project / "link").symlink_to(project / "far" / "away")
    monkeypatch.setattr(sys, "argv", [".venv/bin/windrow"])
    said = windrow("init", folder.format(project)).out
    lines = [line for line in said.splitlines() if line.startswith("  ")]
    pasted = [line for line in lines if "cd " in line or "bin/windrow" in line]
    assert len(pasted) == 4
    done = subprocess.run(
        ["sh", "-ec", "\n".join(pasted)], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["called"] * 3
