"""Checks around runs: what stops a run from being published, and which rows a test looks at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JError
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from website import Site, contents, event, rows
from windrow import ConfigError, RunResult
from windrow.engine.checking import rows_of_last_run
from windrow.engine.holding import look
from windrow.state.records import columns_of
from windrow.state.runs import RunRecord

pytestmark = pytest.mark.ci

CHECKED_MODEL = """
from windrow import AcceptedValues, Relationship, model

@model(
    key="page_view_id",
    date="start_tstamp",
    checks=[
        AcceptedValues("page_urlpath", ["/home", "/cart"]),
        AcceptedValues("app_id", ["office"], severity="warn"),
        Relationship("domain_sessionid", to="sessions", to_column="domain_sessionid"),
    ],
)
def pages(page_views):
    return page_views.select(
        "page_view_id", "domain_sessionid", "page_urlpath", "app_id", "start_tstamp"
    )
"""


def a_site(spark: SparkSession, folder: Path, format: str) -> Site:
    site = Site(spark, folder, format=format, disabled_models=["users"])
    (folder / "models").mkdir()
    (folder / "models" / "pages.py").write_text(CHECKED_MODEL)
    return site


def view(number: int, when: str, path: str = "/home", **columns: Any) -> dict[str, Any]:
    return event(f"e{number}", f"s{number}", when, page=f"p{number}", page_urlpath=path, **columns)


def everything(site: Site) -> dict[str, list[tuple[Any, ...]]]:
    return {
        **contents(site),
        "manifest": site.rows("manifest", "model", "last_success"),
        "pages": rows(site.table("pages")),
    }


def failing(result: RunResult) -> dict[tuple[str, str], tuple[str, int]]:
    return {(it.table, it.check): (it.outcome, it.failures) for it in result.checks if it.failures}


def test_a_run_that_fails_a_check_leaves_everything_as_it_was(spark: SparkSession, tmp_path: Path):
    site = a_site(spark, tmp_path, "iceberg")
    site.arrive(view(1, "2024-01-02 10:00"))
    first = site.run("2024-01-03 00:00", check=True)
    assert first.outcome == "succeeded"
    # A warning is told and stops nothing.
    assert failing(first) == {("pages", "accepted_values(app_id)"): ("warned", 1)}
    checked = {it.table for it in first.checks}
    assert checked >= {"pages", "snowplow_web_page_views", "snowplow_web_base_events_this_run"}
    assert checked >= {"snowplow_web_incremental_manifest", "snowplow_web_sessions"}
    before = everything(site)

    # The second visitor's row of an unknown page; the first visitor comes back and is updated too.
    site.arrive(view(2, "2024-01-04 10:00", "/typo"), view(3, "2024-01-04 11:00"))
    second = site.run("2024-01-05 00:00", check=True)
    assert second.outcome == "rejected"
    assert second.has_failed
    assert second.reached is None
    assert failing(second)[("pages", "accepted_values(page_urlpath)")] == ("failed", 1)
    (found,) = [it for it in second.checks if it.check == "accepted_values(page_urlpath)"]
    assert found.sample == ({"page_view_id": "p2", "page_urlpath": "/typo"},)
    assert everything(site) == before

    ws = site.workspace
    (newest, oldest) = ws.runs.last("web", 2)
    assert newest.outcome == "rejected"
    assert [(it.check, it.failures) for it in oldest.failed_checks] == [
        ("accepted_values(app_id)", 1)
    ]
    assert oldest.counts["checks"] == len(first.checks)
    assert ("accepted_values(page_urlpath)", "error") in {
        (it.check, it.severity) for it in newest.failed_checks
    }
    assert newest.error == "Checks failed: pages accepted_values(page_urlpath)"
    assert look(ws).unfinished is None
    # What was rejected is no longer there to be tested.
    assert site.project().test("web").run_id == first.run_id


def test_a_test_reads_the_days_of_the_last_run_and_sees_keys_stored_there_before(
    spark: SparkSession, tmp_path: Path
):
    site = a_site(spark, tmp_path, "delta")
    # A row of the first run that fails a check, on a day that the second run does not write to;
    # one on its day, of a session with nothing new; and one that it makes again.
    site.arrive(
        view(1, "2024-01-02 10:00", "/typo", cookie="one"),
        view(2, "2024-01-06 01:00", page_url=None, cookie="two"),
        view(3, "2024-01-06 09:00"),
    )
    site.run("2024-01-06 12:00")
    read_on = event("e5", "s3", "2024-01-06 21:00", "page_ping", page="p3")
    site.arrive(view(4, "2024-01-06 22:00"), read_on)
    site.run("2024-01-07 00:00")
    ws = site.workspace
    record = next(iter(ws.runs.of_last_command("web")), None)
    assert record is not None
    views = ws.model("page_views")
    looked_at = rows_of_last_run(ws, record, views)
    assert rows(looked_at.rows.select("page_view_id")) == [("p3",), ("p4",)]
    assert rows(looked_at.stored.select("page_view_id")) == [("p2",), ("p3",), ("p4",)]

    # Whoever opened a file of another day would fail: there is none left.
    for file in (tmp_path / "warehouse").rglob("start_tstamp_date=2024-01-02/*.parquet"):
        file.unlink()
    with pytest.raises(Py4JError, match="2024-01-02"):
        ws.tables.read(ws.table(views)).collect()
    report = site.project().test("web")
    failed = {(it.table, it.check) for it in report.results if it.outcome != "passed"}
    # Neither the row of the other day, nor the page without an address of the earlier run.
    assert failed == {("pages", "accepted_values(app_id)")}
    assert {it.table for it in report.results} >= {"snowplow_web_sessions", "pages"}

    # A second row with the key of a new one, as a loader beside windrow might leave it.
    stored = ws.tables.read(ws.table(views)).where("start_tstamp_date = '2024-01-06'")
    old = stored.where("page_view_id = 'p2'")
    ws.tables.append(ws.table(views), old.replace({"p2": "p4"}, subset=["page_view_id"]))
    ws.tables.append(ws.table(views), old)
    report = site.project().test("web", select="page_views")
    assert {it.table for it in report.results} == {"snowplow_web_page_views"}
    (repeated,) = [it for it in report.results if it.check == "unique(page_view_id)"]
    assert repeated.sample == ({"page_view_id": "p4", "times": "2"},)
    assert repeated.failures == 1

    # Rows of the run whose key is not known, one of them on no day.
    new = stored.where("page_view_id = 'p3'").withColumn("page_view_id", F.lit(None).cast("string"))
    ws.tables.append(ws.table(views), new)
    ws.tables.append(ws.table(views), new.withColumn("start_tstamp_date", F.lit(None).cast("date")))
    report = site.project().test("web", select="page_views")
    (nameless,) = [it for it in report.results if it.check == "not_null(page_view_id)"]
    assert (nameless.failures, nameless.outcome) == (2, "failed")

    file = tmp_path / "models" / "pages.py"
    file.write_text(CHECKED_MODEL.replace('to="sessions"', 'to="sesions"'))
    with pytest.raises(ConfigError, match="Did you mean 'sessions'"):
        site.project().test("web", select="pages")


def test_a_ledger_of_an_earlier_version_goes_on_working(spark: SparkSession, tmp_path: Path):
    site = Site(spark, tmp_path)
    ws = site.workspace
    columns = columns_of(RunRecord)
    earlier = {name: kind for name, kind in columns.items() if name != "written_days"}
    ws.tables.create(ws.runs.table, earlier, partition_by=["package"])
    assert site.project().test("web").run_id is None

    site.arrive(view(1, "2024-01-02 10:00"))
    run_id = site.run("2024-01-03 00:00").run_id
    record = next(iter(ws.runs.of_last_command("web")), None)
    assert record is not None
    assert set(record.written_days) == {
        f"snowplow_web_{name}"
        for name in ("page_views", "sessions", "users", "base_sessions_lifecycle_manifest")
    }
    # Rows that the earlier version wrote say nothing about days: all rows are looked at.
    old = ws.tables.read(ws.runs.table).drop("written_days").replace({str(run_id): "older"})
    ws.tables.overwrite(ws.runs.table, old.localCheckpoint())
    report = site.project().test("web")
    assert report.run_id == "older"
    assert {it.outcome for it in report.results} == {"passed"}
