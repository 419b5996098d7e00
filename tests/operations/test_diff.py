"""A shadow run beside production, and `windrow diff` over the two."""

from __future__ import annotations

import json
import re
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import pytest
import yaml
from pyspark.sql import SparkSession

from website import ONLY_PAGE_VIEWS, Site, at, event
from windrow import ConfigError, Project
from windrow.cli import main

pytestmark = pytest.mark.ci

PAGE = Path(__file__).parents[2] / "docs" / "comparing.md"
NOW = "2024-03-07 00:00"


@dataclass(frozen=True)
class Beside:
    """A project with two targets over the same events."""

    folder: Path
    spark: SparkSession

    def project(self, target: str) -> Project:
        options = {"web": ONLY_PAGE_VIEWS}
        return Project.load(self.folder, target=target, spark=self.spark, vars=options)

    def windrow(self, *arguments: str) -> tuple[int, str]:
        out, err = StringIO(), StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            code = main([*arguments, "--project-dir", str(self.folder), "-q"], spark=self.spark)
        return code, out.getvalue() + err.getvalue()


@pytest.fixture(scope="module")
def beside(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Beside:
    """Production and its shadow, as the page on it has them, ran over the same events."""
    site = Site(spark, tmp_path_factory.mktemp("beside"), format="delta")
    (block,) = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    (site.folder / "windrow.yml").write_text(block)
    both = Beside(site.folder, spark)
    site.arrive(
        event("e1", "s1", "2024-03-05 10:00", page="p1"),
        event("e2", "s1", "2024-03-05 10:30", page="p2"),
        event("e3", "s2", "2024-03-06 11:00", page="it's p3"),
    )
    for target in ("prod", "shadow"):
        both.project(target).run("web", now=at(NOW))
    return both


@pytest.fixture(scope="module")
def changed(beside: Beside) -> str:
    """A copy of the shadow's page views in which one row says something else, and one is gone."""
    rows = beside.project("shadow").workspace("web").tables
    folder = beside.folder / "warehouse"
    frame = beside.spark.read.format("delta").load(str(folder / "shadow/snowplow_web_page_views"))
    frame.where("page_view_id != 'p2'").withColumn(
        "page_url", frame["page_url"].substr(1, 12)
    ).write.format("delta").save(str(folder / "odd one" / "snowplow_web_page_views"))
    assert rows.names("odd one") == ["snowplow_web_page_views"]
    return "`odd one`.snowplow_web_page_views"


def test_a_shadow_run_gives_the_tables_of_production(beside: Beside):
    code, said = beside.windrow("diff", "derived", "shadow")
    assert code == 0, said
    assert "3 rows in A, 3 in B; 3 keys in both (page_view_id)." in said
    assert said.endswith("Equal.\n")


def test_a_shadow_has_its_own_manifests_and_lease(beside: Beside):
    code, said = beside.windrow("diff", "snowplow_manifest", "shadow_manifest", "--json")
    tables = {it["a"].partition(".")[2]: it for it in json.loads(said)["tables"]}
    assert (code, set(tables)) == (
        0,
        {
            "snowplow_web_incremental_manifest",
            "snowplow_web_base_sessions_lifecycle_manifest",
            "snowplow_web_base_quarantined_sessions",
        },
    )
    assert (beside.folder / "warehouse/shadow_manifest/windrow_leases").is_dir()


def test_a_difference_is_told_with_its_key_and_values(beside: Beside, changed: str):
    code, said = beside.windrow("diff", "derived.snowplow_web_page_views", changed)
    assert code == 1
    assert "1 key only in A, such as p2." in said
    assert "page_url differs in 2 rows." in said
    assert "it's p3: https://shop.example/home in A, https://shop in B" in said


def test_a_condition_bounds_and_columns_are_ignored(beside: Beside, changed: str):
    first = "derived.snowplow_web_page_views"
    bound = ("--where", "start_tstamp >= '2024-03-06'", "--ignore", "page_url,page_title")
    code, said = beside.windrow("diff", first, f"shadow:{changed}", *bound, "--json")
    found = json.loads(said)["tables"][0]["comparison"]
    assert (code, found["rows_a"], found["rows_b"]) == (0, 1, 1)
    assert set(found["ignored"]) == {"page_url", "page_title", "model_tstamp"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("derived.snowplow_web_page_view", "derived.x"), "Did you mean 'snowplow_web_page_views'"),
        (("derived", "shadwo"), "'shadwo' has no table"),
        (("derived", "shadow_manifest"), "have no table in common"),
        (("derived", "shadow.snowplow_web_page_views"), "'derived' is a schema and"),
        (("derived", "prd:derived"), "there is no target 'prd'. Did you mean 'prod'?"),
        (("derived", "it`s"), "'it`s' names no table"),
        (("derived", "a.b.c.d"), "has 4 parts"),
        (("a/b", "shadow"), "cannot name a schema"),
    ],
)
def test_a_wrong_name_is_said_in_a_sentence(beside: Beside, arguments: tuple, message: str):
    code, said = beside.windrow("diff", *arguments)
    assert message in " ".join(said.split())
    assert code == 2


@pytest.mark.parametrize("missing", ["manifest", "derived"])
def test_a_shadow_that_shares_manifests_or_tables_is_refused(beside: Beside, missing: str):
    file = beside.folder / "windrow.yml"
    written = file.read_text()
    tree = yaml.safe_load(written)
    del tree["targets"]["shadow"]["schemas"][missing]
    try:
        file.write_text(yaml.safe_dump(tree))
        with pytest.raises(ConfigError) as error:
            beside.project("shadow")
    finally:
        file.write_text(written)
    assert f"targets.shadow.schemas.{missing}" in str(error.value)
    assert "belong together" in str(error.value)
