"""Runs as OpenLineage hears of them, through its own client."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from neighbours.lineage_spec import problems
from project_files import MINIMAL
from website import ONLY_PAGE_VIEWS, Site, at, event
from windrow import Begun, Project, Step
from windrow.engine.watching import watched
from windrow.neighbours.dataset_names import at_path, in_catalog
from windrow.neighbours.lineage import is_configured, with_lineage
from windrow.neighbours.openlineage import OpenLineage, run_uuid

BROKEN_MODEL = """
from windrow import model

@model(key="domain_sessionid")
def broken(page_views):
    raise ValueError("no cheese [today]")
"""
PARENT = "2f0d7a3c-6a0e-7c1e-9a51-0b1c2d3e4f50"


def to_file(file: Path) -> dict[str, str]:
    """What has the library write its events into a file, a line each."""
    return {
        "OPENLINEAGE__TRANSPORT__TYPE": "file",
        "OPENLINEAGE__TRANSPORT__LOG_FILE_PATH": str(file),
        "OPENLINEAGE__TRANSPORT__APPEND": "true",
    }


def events_in(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


# --- what a run tells ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def site(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Site:
    site = Site(spark, tmp_path_factory.mktemp("lineage") / "site", **ONLY_PAGE_VIEWS)
    site.arrive(event("a", "s1", "2024-01-01 10:00", page="p1"))
    return site


@pytest.fixture(scope="module")
def told(site: Site) -> list[dict[str, Any]]:
    """The events of a run that succeeds, of one with nothing to do, and of one that fails."""
    file = site.folder / "lineage.json"
    environ = {**to_file(file), "OPENLINEAGE_PARENT_ID": f"airflow/shop/hourly/{PARENT}"}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environ.items():
            patch.setenv(name, value)

        def run(now: str) -> None:
            with_lineage(site.project(), environ, pytest.fail).run("web", now=at(now))

        run("2024-01-02 00:00")
        run("2024-01-02 00:00")
        (site.folder / "models").mkdir()
        (site.folder / "models" / "broken.py").write_text(BROKEN_MODEL)
        site.arrive(event("b", "s2", "2024-01-02 10:00", page="p2"))
        run("2024-01-03 00:00")
    return events_in(file)


@pytest.mark.ci
def test_every_event_is_what_the_specification_says(told: list[dict[str, Any]]):
    assert [problem for it in told for problem in problems(it)] == []


@pytest.mark.ci
def test_a_run_begins_and_ends_and_one_with_nothing_to_do_is_silent(
    site: Site, told: list[dict[str, Any]]
):
    kinds = [it["eventType"] for it in told]
    assert kinds[:2] == ["START", "COMPLETE"]
    assert kinds[2:] == ["START", "COMPLETE", "START", "FAIL"]
    assert {(it["job"]["namespace"], it["job"]["name"]) for it in told} == {
        ("windrow", "site.dev.web")
    }
    ledger = site.workspace.runs.last("web", 5)
    ids = [run_uuid("site.dev.web", record.run_id) for record in reversed(ledger)]
    assert [it["run"]["runId"] for it in told[::2]] == ids
    assert [it["run"]["runId"] for it in told[1::2]] == ids


@pytest.mark.ci
def test_a_run_tells_what_it_read_and_made(site: Site, told: list[dict[str, Any]]):
    (source,), (made,) = told[1]["inputs"], told[1]["outputs"]
    facets = [*source["inputFacets"].values(), *made["facets"].values()]
    assert {it["_producer"] for it in facets} == {told[1]["producer"]}
    assert (source["namespace"], source["name"]) == ("file", str(site.folder / "events"))
    assert source["inputFacets"]["inputStatistics"]["rowCount"] == 1
    table = site.folder / "warehouse" / "derived" / "snowplow_web_page_views"
    assert (made["namespace"], made["name"]) == ("file", str(table))
    assert table.is_dir()
    assert made["outputFacets"]["outputStatistics"]["rowCount"] == 1
    columns = {it["name"]: it for it in made["facets"]["schema"]["fields"]}
    assert list(columns) == site.table("page_views").columns
    assert columns["page_view_id"]["type"] == "string"
    assert columns["page_view_id"]["description"]
    assert made["facets"]["version"]["datasetVersion"].isdigit()


@pytest.mark.ci
def test_a_run_tells_its_window_and_who_started_it(told: list[dict[str, Any]]):
    facets = told[0]["run"]["facets"]
    assert facets["nominalTime"]["nominalStartTime"] == "2024-01-01T00:00:00.000000Z"
    assert facets["parent"]["run"]["runId"] == PARENT
    assert facets["parent"]["job"] == {"namespace": "airflow", "name": "shop/hourly", "facets": {}}


@pytest.mark.ci
def test_a_model_that_fails_is_told_and_is_no_output(told: list[dict[str, Any]]):
    failed = told[-1]
    assert "no cheese [today]" in failed["run"]["facets"]["errorMessage"]["message"]
    assert not any("broken" in it["name"] for it in failed["outputs"])
    # It was read, and not made, by the run that is there for the new model alone.
    assert any("snowplow_web_page_views" in it["name"] for it in failed["inputs"])


# --- without a run -------------------------------------------------------------------------------


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / "windrow.yml").write_text(MINIMAL + "events: {path: events}\npackages: {web: {}}\n")
    return Project.load(tmp_path)


def a_run() -> Begun:
    begin, end = at("2024-01-01 00:00"), at("2024-01-02 00:00")
    return Begun("r1", "web", begin, end, (), {}, tables=None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (KeyboardInterrupt(), "ABORT", None),
        (ValueError("no cheese"), "FAIL", "ValueError: no cheese"),
    ],
)
def test_a_run_that_is_stopped_is_told_apart_from_one_that_breaks(
    project: Project,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
    kind: str,
    message: str | None,
):
    file = tmp_path / "lineage.json"
    for name, value in to_file(file).items():
        monkeypatch.setenv(name, value)
    with pytest.raises(type(error)), watched([OpenLineage(project)], a_run(), pytest.fail):
        raise error
    start, end = events_in(file)
    assert problems(start) == problems(end) == []
    assert (start["eventType"], end["eventType"]) == ("START", kind)
    assert end["run"]["facets"]["nominalTime"]["_producer"] == end["producer"]
    assert end["producer"].startswith("urn:windrow:")
    assert end["run"]["facets"].get("errorMessage", {}).get("message") == message


def test_a_receiver_that_is_not_there_is_told_and_the_run_goes_on(
    project: Project, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__TYPE", "http")
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__URL", "http://127.0.0.1:9")
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__RETRY", '{"total": 0}')
    steps: list[Step] = []
    with watched([OpenLineage(project)], a_run(), steps.append):
        pass
    (step,) = steps
    assert step.status == "info"
    assert step.detail.startswith("OpenLineage was not told: ")


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, False),
        ({"OPENLINEAGE_NAMESPACE": "x"}, False),
        ({"OPENLINEAGE_URL": "http://marquez:5000"}, True),
        ({"OPENLINEAGE_CONFIG": "/etc/openlineage.yml"}, True),
        ({"OPENLINEAGE__TRANSPORT__TYPE": "console"}, True),
        ({"OPENLINEAGE_URL": "http://marquez:5000", "OPENLINEAGE_DISABLED": "True"}, False),
    ],
)
def test_the_environment_says_whether_to_tell(environ: dict[str, str], expected: bool):
    assert is_configured(environ) is expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/srv/warehouse/derived/users", ("file", "/srv/warehouse/derived/users")),
        ("file:///srv/warehouse", ("file", "/srv/warehouse")),
        ("s3a://lake/shop/derived/users", ("s3://lake", "shop/derived/users")),
        ("gs://lake/shop/", ("gs://lake", "shop")),
        ("hdfs://name:8020/shop", ("hdfs://name:8020", "/shop")),
        (
            "abfss://lake@acme.dfs.core.windows.net/shop",
            ("abfss://lake@acme.dfs.core.windows.net", "shop"),
        ),
    ],
)
def test_what_lies_in_a_store_is_named_by_its_place(path: str, expected: tuple[str, str]):
    assert at_path(path) == expected


@pytest.mark.parametrize(
    ("conf", "expected"),
    [
        ({}, ("spark", "lake.derived.users")),
        (
            {"spark.sql.catalog.lake.uri": "thrift://meta:9083"},
            ("hive://meta:9083", "derived.users"),
        ),
        (
            {"spark.hadoop.hive.metastore.uris": "thrift://meta:9083"},
            ("hive://meta:9083", "derived.users"),
        ),
        (
            {"spark.sql.catalog.lake.uri": "https://catalog.example/api"},
            ("https://catalog.example", "lake.derived.users"),
        ),
    ],
)
def test_what_is_in_a_catalog_is_named_by_its_metastore(
    conf: dict[str, str], expected: tuple[str, str]
):
    assert in_catalog("lake", "derived.users", conf) == expected


def test_problems_are_found():
    good = {
        "eventTime": "2024-01-01T00:00:00Z",
        "producer": "urn:x",
        "schemaURL": "urn:y",
        "eventType": "START",
        "run": {"runId": PARENT},
        "job": {"namespace": "a", "name": "b"},
    }
    assert problems(good) == []
    changes: list[dict[str, Any]] = [
        *({"eventType": "BEGIN"}, {"job": {"name": "b"}}, {"more": 1}, {"inputs": [{}]}),
        *({"producer": "windrow"}, {"run": {"runId": PARENT, "facets": {"x": {}}}}),
    ]
    assert [change for change in changes if not problems({**good, **change})] == []
