"""The example project does what its README says: its commands, in order, from a copy of it."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from windrow import Project
from windrow.cli import main

pytestmark = pytest.mark.ci

EXAMPLE = Path(__file__).parents[1] / "examples" / "shop"


def commands() -> list[list[str]]:
    """What the README tells to type."""
    (block,) = re.findall(r"```bash\n(.*?)```", (EXAMPLE / "README.md").read_text(), re.DOTALL)
    return [shlex.split(line)[1:] for line in block.splitlines() if line.startswith("windrow ")]


@pytest.fixture(scope="module")
def shop(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The example after all commands of its README."""
    folder = tmp_path_factory.mktemp("example") / "shop"
    shutil.copytree(EXAMPLE, folder)
    config = folder / "windrow.yml"
    config.write_text(config.read_text().replace("format: delta", "format: iceberg"))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for command in commands():
            assert main(command, spark=spark) == 0, command
    return Project.load(folder, spark=spark)


def table(shop: Project, name: str) -> DataFrame:
    ws = shop.workspace("web")
    return ws.tables.read(ws.table(ws.model(name)))


def test_every_table_has_come_equally_far(shop: Project):
    status = shop.status("web")
    assert len(set(status.positions.values())) == 1
    assert {"shop_sessions", "link_clicks", "page_days"} <= set(status.positions)
    ws = shop.workspace("web")
    assert not ws.tables.exists(ws.table(ws.model("sessions")))


def test_columns_of_ones_own(shop: Project):
    views = table(shop, "page_views")
    wrong_host = F.upper("page_urlhost") != F.col("host_in_capitals")
    assert views.where(wrong_host | F.col("v_tracker").isNull()).count() == 0
    assert views.where("events_on_page < 1").count() == 0

    sessions = table(shop, "shop_sessions")
    pages = views.groupBy("domain_sessionid").agg(F.count_distinct("page_urlpath").alias("seen"))
    joined = sessions.join(pages, "domain_sessionid")
    assert joined.count() > 0
    # Pings and clicks carry the page's path too, so no session knows fewer pages than its views.
    assert joined.where("different_pages < seen").count() == 0
    users = table(shop, "users").select("domain_userid", "pages_per_visit", "sessions")
    expected = sessions.groupBy("domain_userid").agg(
        F.avg("different_pages").alias("expected"), F.count("*").alias("visits")
    )
    differing = users.join(expected, "domain_userid", how="full").where(
        "not (pages_per_visit <=> expected and sessions <=> visits)"
    )
    assert differing.count() == 0


def test_tables_of_ones_own(shop: Project):
    days = table(shop, "page_days")
    views = table(shop, "page_views").where("page_urlpath is not null")
    assert days.agg(F.sum("page_views")).collect()[0][0] == views.count()
    assert days.groupBy("page_date", "page_urlpath").count().where("count > 1").isEmpty()
    busiest = table(shop, "busiest_pages")
    most = days.groupBy("page_urlpath").agg(F.sum("page_views").alias("n")).agg(F.max("n"))
    assert busiest.agg(F.max("page_views")).collect() == most.collect()
    assert table(shop, "link_clicks").count() > 0
