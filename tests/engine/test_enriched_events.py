"""A run over lines of enriched events makes the tables that the same events make as rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from pyspark.sql import SparkSession

from enriched_lines import line, line_of, write_lines
from website import ONLY_PAGE_VIEWS, Event, Site, contents, event
from windrow import SourceError
from windrow.engine import run as engine_run

pytestmark = pytest.mark.ci

FIRST_DAY = [
    event("e1", "s1", "2024-01-02 10:00", page="p1", user_id="anna", page_title='Home, "sweet"'),
    event("e2", "s1", "2024-01-02 10:01", "page_ping", page="p1", pp_yoffset_max=700),
    event("e2", "s1", "2024-01-02 10:01", "page_ping", page="p1", pp_yoffset_max=700),
    event("e3", "s2", "2024-01-02 23:50", page="p2", cookie="owl", br_cookies=True),
]
SECOND_DAY = [
    event("e4", "s2", "2024-01-03 00:05", page="p3", cookie="owl", doc_height=1200),
    event("e5", "s3", "2024-01-03 12:00", page="p4", cookie="new", mkt_source="news"),
]
BAD = ["no event", line(event_id=""), line(contexts="{")]


class LinesSite(Site):
    """A site whose events arrive as files of lines."""

    def __init__(self, spark: SparkSession, folder: Path, **options: Any) -> None:
        super().__init__(spark, folder, **options)
        file = folder / "windrow.yml"
        written = yaml.safe_load(file.read_text())
        written["events"] = {"path": "./events", "format": "enriched"}
        file.write_text(yaml.safe_dump(written))

    def arrive(self, *events: Event, bad: list[str] | None = None) -> None:
        folder = self.folder / "events"
        number = len([*folder.glob("*.tsv")])
        write_lines(folder / f"{number}.tsv", [*map(line_of, events), *(bad or [])])

    def bad_lines(self) -> list[tuple[Any, ...]]:
        ws = self.workspace
        found = ws.tables.read(ws.bad_lines).select("file", "line", "copies")
        return sorted((row[0].rpartition("/")[2], row[1], row[2]) for row in found.collect())


def test_lines_make_the_same_tables_as_rows(spark, tmp_path):
    of_rows = Site(spark, tmp_path / "rows", format="delta")
    of_lines = LinesSite(spark, tmp_path / "lines", format="delta")
    for site in (of_rows, of_lines):
        site.arrive(*FIRST_DAY, *SECOND_DAY)
        site.run("2024-01-04 00:00")
    assert contents(of_lines) == contents(of_rows)


def test_bad_lines_are_told_and_kept_once_by_runs_that_count(spark, tmp_path, monkeypatch):
    site = LinesSite(spark, tmp_path, **ONLY_PAGE_VIEWS)
    site.arrive(*FIRST_DAY, bad=[*BAD, BAD[0]])

    def stop(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(engine_run, "run_models", stop)
        with pytest.raises(KeyboardInterrupt):
            site.run("2024-01-03 00:00")
    assert site.bad_lines() == []

    first = site.run("2024-01-03 00:00").counts or {}
    site.arrive(*SECOND_DAY, bad=["no event either"])
    second = site.run("2024-01-04 00:00").counts or {}
    assert (first["bad_lines"], second["bad_lines"]) == (4, 1)
    expected = [("0.tsv", text, 2 if text == "no event" else 1) for text in BAD]
    assert site.bad_lines() == sorted([*expected, ("1.tsv", "no event either", 1)])
    assert site.workspace.runs.last("web", 1)[0].counts["bad_lines"] == 1
    assert site.rows("page_views", "page_view_id") == [("p1",), ("p2",), ("p3",), ("p4",)]


def test_files_of_something_else_are_refused_before_anything_is_written(spark, tmp_path):
    site = LinesSite(spark, tmp_path, **ONLY_PAGE_VIEWS)
    write_lines(tmp_path / "events" / "0.tsv", ['{"event_id": "e1"}'])
    with pytest.raises(SourceError, match="no line has 131 fields") as error:
        site.run("2024-01-03 00:00")
    assert error.value.exit_code == 2
    assert not (tmp_path / "warehouse").exists()
