"""The benchmark's own project is one that windrow takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.options import parse
from bench.project import write_project
from windrow import Project


def project_of(folder: Path, *arguments: str) -> Project:
    conf = {"spark.sql.shuffle.partitions": "3"}
    return Project.load(write_project(folder / "p", parse(arguments), folder / "events", conf))


@pytest.mark.parametrize("name", ["delta", "iceberg"])
def test_the_target_has_the_format_and_the_settings_asked_for(tmp_path: Path, name: str):
    target = project_of(tmp_path, "--format", name).target
    assert target.format == name
    assert target.warehouse == str(tmp_path / "p" / "warehouse")
    assert target.spark.conf == {"spark.sql.shuffle.partitions": "3"}


def test_options_go_to_the_last_package_and_the_first_says_where_to_begin(tmp_path: Path):
    options = '{"enable_whatwg_media": true}'
    project = project_of(tmp_path, "--package", "web+media_player", "--vars", options)
    assert project.package_names() == ["web+media_player"]
    (start,) = {
        it.start_date for it in project.config.packages.values() if hasattr(it, "start_date")
    }
    assert start.isoformat().startswith("2024-01-01")
