"""windrow init: a project that works as it stands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from windrow import Project
from windrow.config import json_schema
from windrow.models.hooks import load_hooks
from windrow.packages import HOOKS, SETTINGS

from .conftest import Windrow

CODE = ("# from ", "# def ", "#     return")


def test_init_makes_a_project_that_loads(windrow: Windrow, shop: Path) -> None:
    project = Project.load(shop)
    assert project.config.name == "shop"
    assert "daily_pages" in {member.name for member in project.models("web")}


def test_init_writes_every_file_of_a_project(shop: Path) -> None:
    files = {path.relative_to(shop).as_posix() for path in shop.rglob("*") if path.is_file()}
    assert files == {
        *("windrow.yml", "hooks.py", "models/daily_pages.py"),
        *(".gitignore", ".windrow/schema.json"),
    }


def test_init_gives_editors_the_schema_of_this_version(shop: Path) -> None:
    first_line = (shop / "windrow.yml").read_text().splitlines()[0]
    assert first_line == "# yaml-language-server: $schema=./.windrow/schema.json"
    assert json.loads((shop / ".windrow/schema.json").read_text()) == json_schema(SETTINGS)


def test_init_refuses_a_folder_that_is_a_project(windrow: Windrow, shop: Path) -> None:
    before = (shop / "windrow.yml").read_text()
    outcome = windrow("init", str(shop))
    assert outcome.exit_code == 2
    assert "has a windrow.yml already" in outcome.err
    assert (shop / "windrow.yml").read_text() == before


def test_init_keeps_files_that_are_there(windrow: Windrow, tmp_path: Path) -> None:
    (tmp_path / "hooks.py").write_text("# mine\n")
    outcome = windrow("init", str(tmp_path), "--json")
    assert outcome.document.keys() == {"project_dir", "written", "kept"}
    assert outcome.document["kept"] == ["hooks.py"]
    assert (tmp_path / "hooks.py").read_text() == "# mine\n"


@pytest.mark.parametrize("name", ["2024", "my shop", "a: b", 'say "hi"', "true"])
def test_a_folder_may_be_called_anything(windrow: Windrow, tmp_path: Path, name: str) -> None:
    assert windrow("init", str(tmp_path / name)).exit_code == 0
    assert Project.load(tmp_path / name).config.name == name


def test_init_says_what_to_do_next(windrow: Windrow, tmp_path: Path) -> None:
    out = windrow("init", str(tmp_path / "shop")).out
    for command in ("windrow generate", "windrow doctor", "windrow run"):
        assert command in out


def test_the_examples_in_hooks_are_hooks(shop: Path) -> None:
    lines = (shop / "hooks.py").read_text().splitlines()
    code = [line.removeprefix("# ") for line in lines if line.startswith(CODE)]
    (shop / "hooks.py").write_text("\n".join(code) + "\n")
    hooks = load_hooks(shop / "hooks.py", HOOKS)
    assert set(hooks.functions) == {"filter_bots", "content_group", "allow_refresh"}
