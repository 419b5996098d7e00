"""A run looks at each thing once: the events, the manifest, the files of a project's own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from website import ONLY_PAGE_VIEWS, Site, event
from windrow.cli import main
from windrow.engine import events
from windrow.state import manifest as state
from windrow.tables import DeltaTables, TableName

OWN_MODEL = """
from pathlib import Path
from windrow import model

with (Path(__file__).parent.parent / "executed.txt").open("a") as file:
    file.write("once\\n")

@model(key="page_view_id", date="start_tstamp", replaces="domain_sessionid")
def own_views(page_views):
    return page_views.select("page_view_id", "start_tstamp", "domain_sessionid")
"""
OWN_HOOKS = OWN_MODEL.partition("@model")[0].replace(".parent.parent", ".parent")


def counted(
    monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, count: Callable[..., None]
) -> None:
    """Calls of a function are counted, and go on as before."""
    real = getattr(owner, name)

    def call(*arguments: Any, **keywords: Any) -> Any:
        count(*arguments)
        return real(*arguments, **keywords)

    monkeypatch.setattr(owner, name, call)


@pytest.mark.ci
def test_a_run_opens_reads_and_executes_everything_once(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    site = Site(spark, tmp_path, format="delta", **ONLY_PAGE_VIEWS)
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "own.py").write_text(OWN_MODEL)
    (tmp_path / "hooks.py").write_text(OWN_HOOKS)
    site.arrive(event("e1", "s1", "2024-01-02 10:00", page="p1"))
    site.run("2024-01-03 00:00")
    site.arrive(event("e2", "s2", "2024-01-03 10:00", page="p2"))
    (tmp_path / "executed.txt").unlink()

    manifest, seen = site.workspace.manifest, Counter[str]()
    (tmp_path / "executed.txt").unlink()

    def of_manifest(what: str) -> Callable[..., None]:
        def count(_: Any, table: TableName, *__: Any) -> None:
            seen[what] += table == manifest

        return count

    counted(monkeypatch, events, "open_source", lambda *_: seen.update(["source"]))
    counted(monkeypatch, state, "rows_of", lambda *_: seen.update(["look"]))
    counted(monkeypatch, DeltaTables, "rewrite", of_manifest("commit"))
    arguments = ("run", "--project-dir", str(tmp_path), "--now", "2024-01-04", "--quiet")
    assert main(arguments, spark=spark) == 0
    assert seen == {"source": 1, "look": 1, "commit": 1}
    assert (tmp_path / "executed.txt").read_text().splitlines() == ["once", "once"]
    assert site.rows("own_views", "page_view_id") == [("p1",), ("p2",)]
