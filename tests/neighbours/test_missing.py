"""Where a neighbour's library is not installed, one sentence says what to do."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from project_files import MINIMAL
from windrow import Project
from windrow.cli import main
from windrow.neighbours.lineage import with_lineage


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "windrow.yml").write_text(MINIMAL + "events: {path: events}\npackages: {web: {}}\n")
    return tmp_path


def without(library: str, module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have an import of the library fail, and the module that needs it imported anew."""
    for name in [it for it in sys.modules if it.partition(".")[0] == library]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    monkeypatch.delitem(sys.modules, f"windrow.neighbours.{module}", raising=False)
    package = sys.modules["windrow.neighbours"]
    monkeypatch.delattr(package, module, raising=False)


def test_metrics_say_which_extra_is_missing_before_spark_starts(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    without("prometheus_client", "prometheus", monkeypatch)
    assert main(["metrics", "--project-dir", str(folder)]) == 2
    printed = capsys.readouterr()
    assert "pip install 'windrow[metrics]'" in printed.err
    assert printed.out == ""


def test_runs_that_cannot_be_told_go_on_untold(folder: Path, monkeypatch: pytest.MonkeyPatch):
    without("openlineage", "openlineage", monkeypatch)
    project, said = Project.load(folder), list[str]()
    environ = {"OPENLINEAGE_URL": "http://127.0.0.1:9"}
    assert with_lineage(project, environ, said.append) is project
    (line,) = said
    assert line.startswith("Runs are not told to OpenLineage. ")
    assert "windrow[openlineage]" in line
