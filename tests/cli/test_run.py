"""generate, plan, run, status and doctor on one small project, with the suite's Spark."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from pyspark.sql import SparkSession

from costs import counted
from windrow import Project
from windrow.columns.rules import rule_of
from windrow.models.foundation import Foundation
from windrow.state.manifest import MANIFEST
from windrow.tables import FileSizes

from .conftest import Outcome, Windrow

BROKEN_MODEL = """
from windrow import model

@model(key="domain_sessionid", package="web")
def broken(sessions_this_run):
    raise ValueError("no cheese [today]")
"""


class Shop:
    """A project with three small days of events, and calls of the command line on it."""

    def __init__(self, folder: Path, windrow: Windrow, spark: SparkSession) -> None:
        self.folder, self._windrow, self._spark = folder, windrow, spark

    def __call__(self, command: str, *arguments: str) -> Outcome:
        place = ("--project-dir", str(self.folder))
        return self._windrow(command, *arguments, *place, spark=self._spark)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory, windrow: Windrow, spark: SparkSession) -> Shop:
    folder = tmp_path_factory.mktemp("cli") / "shop"
    windrow("init", str(folder))
    shop = Shop(folder, windrow, spark)
    sizes = ("--start", "2024-01-01", "--days", "2", "--events-per-day", "60")
    outcome = shop("generate", *sizes, "--output", str(folder / "events"), "--json")
    assert outcome.document.keys() == {"path", "format", "events", "seconds"}
    assert outcome.document["events"] == 120
    return shop


@pytest.fixture(scope="module")
def first_run(shop: Shop) -> Outcome:
    return shop("run", "--now", "2024-01-03", "--json", "--log-format", "json")


def test_generate_does_not_write_over_what_is_there(shop: Shop) -> None:
    outcome = shop("generate", "--output", str(shop.folder / "events"))
    assert outcome.exit_code == 2
    assert "is there already" in outcome.err


def test_generate_suggests_the_hard_case_that_was_meant(shop: Shop) -> None:
    outcome = shop("generate", "--hard-case", "duplicate", "--output", str(shop.folder / "more"))
    assert outcome.exit_code == 2
    assert "Did you mean 'duplicates'?" in outcome.err


def test_a_plan_writes_nothing(shop: Shop) -> None:
    before = sorted(shop.folder.rglob("*"))
    (plan,) = shop("plan", "--now", "2024-01-03", "--json").document["packages"]
    assert (plan["state"], plan["upper_limit"]) == ("first_run", "2024-01-03T00:00:00.000000Z")
    assert sorted(shop.folder.rglob("*")) == before


@pytest.mark.parametrize("name", ["snowplow_web_base_new_event_limits", "base_new_event_limits"])
def test_a_run_of_the_limits_says_state_and_window_and_writes_nothing(
    shop: Shop, name: str
) -> None:
    before = sorted(shop.folder.rglob("*"))
    outcome = shop("run", "--select", name, "--now", "2024-01-03")
    assert outcome.exit_code == 0
    assert "First run of the package" in outcome.out
    assert "Processing data between 2024-01-01 00:00:00 and 2024-01-03 00:00:00" in outcome.out
    assert sorted(shop.folder.rglob("*")) == before


def test_limits_of_a_package_that_is_not_there_are_those_of_no_model(shop: Shop) -> None:
    outcome = shop("run", "--select", "snowplow_mobile_base_new_event_limits")
    assert outcome.exit_code == 2
    assert "`windrow plan` tells" in outcome.err


def test_a_report_before_the_first_run_says_that_there_was_none(shop: Shop, tmp_path: Path) -> None:
    before = sorted(shop.folder.rglob("*"))
    place = tmp_path / "report.html"
    outcome = shop("report", "--output", str(place))
    assert (outcome.exit_code, outcome.err) == (0, "")
    assert "Nothing has run yet." in outcome.out
    assert "This package has not run yet" in place.read_text()
    assert sorted(shop.folder.rglob("*")) == before


def test_a_report_goes_into_a_folder_that_is_there(shop: Shop) -> None:
    outcome = shop("report", "--output", str(shop.folder / "none" / "report.html"))
    assert outcome.exit_code == 2
    assert "There is no folder" in outcome.err


def test_a_run_prints_one_document_and_its_steps_as_json_lines(first_run: Outcome) -> None:
    assert first_run.exit_code == 0
    (run,) = first_run.document["packages"][0]["runs"]
    assert run["outcome"] == "succeeded"
    assert {model["outcome"] for model in run["models"]} == {"succeeded"}
    steps = [json.loads(line) for line in first_run.err.splitlines()]
    assert {"events", "page_views", "daily_pages"} <= {
        step["step"] for step in steps if step["status"] == "done"
    }
    (begun,) = [step for step in steps if step["event"] == "run_started"]
    assert begun["run"]["models"] == [
        *("page_views", "user_mapping", "daily_pages", "sessions", "users")
    ]
    # The window's events, by the look that the plan took.
    assert (begun["run"]["window_events"], begun["run"]["expected_seconds"]) == (120, None)
    done = [step["models_done"] for step in steps if step["event"] == "model_done"]
    assert done == [1, 2, 3, 4, 5]
    last = steps[-1]
    assert (last["event"], last["status"], last["run_id"]) == (
        "run_finished",
        "done",
        run["run_id"],
    )
    assert last["rows"] == sum(model["rows"] for model in run["models"])


def test_the_log_has_the_steps_of_the_run(shop: Shop, first_run: Outcome) -> None:
    log = (shop.folder / ".windrow" / "logs" / "windrow.log").read_text()
    run_id = first_run.document["packages"][0]["runs"][0]["run_id"]
    assert f"web: run {run_id} started: first_run, " in log
    assert "web: commit: done, " in log


def test_the_tables_of_a_run_have_their_rules_as_comments(
    shop: Shop, first_run: Outcome, spark: SparkSession
) -> None:
    ws = Project.load(shop.folder, spark=spark).workspace("web")
    declared = {ws.table(m): m.columns_for(ws.settings) for m in ws.models if m.prefix}
    declared |= {
        ws.manifest: MANIFEST,
        ws.lifecycle: Foundation().lifecycle,
        ws.quarantine: Foundation().quarantine,
    }
    for table, columns in declared.items():
        assert columns
        found = {f.name: f.metadata.get("comment") for f in ws.tables.read(table).schema.fields}
        assert found == {name: rule_of(type_) for name, type_ in columns.items()}


def test_a_status_knows_the_run_that_was(shop: Shop, first_run: Outcome) -> None:
    (status,) = shop("status", "--now", "2024-01-03", "--json").document["packages"]
    (run,) = first_run.document["packages"][0]["runs"]
    assert [record["run_id"] for record in status["last_runs"]] == [run["run_id"]]
    assert set(status["manifest"].values()) == {run["reached"]}
    assert status["state"] == "standard"


def test_metrics_are_what_prometheus_reads_and_nothing_else(
    shop: Shop, first_run: Outcome, spark: SparkSession, tmp_path: Path
) -> None:
    file = tmp_path / "windrow.prom"
    with counted(spark) as work:
        outcome = shop("metrics", "--now", "2024-01-04")
    assert outcome.exit_code == 0
    assert work.executions <= 3
    found = {
        (sample.name, *(sample.labels.get(it, "") for it in ("model", "outcome", "count"))): sample
        for family in text_string_to_metric_families(outcome.out)
        for sample in family.samples
    }
    views = "snowplow_web_page_views"
    (run,) = first_run.document["packages"][0]["runs"]
    assert found["windrow_runs_total", "", "", ""].value == 1
    assert found["windrow_recent_runs", "", "succeeded", ""].value == 1
    assert found["windrow_recent_runs", "", "failed", ""].value == 0
    assert found["windrow_run_count", "", "", "events"].value == run["counts"]["events"]
    assert found["windrow_model_rows", views, "", ""].value > 0
    reached = datetime.fromisoformat(run["reached"])
    lag = found["windrow_model_lag_seconds", views, "", ""]
    assert lag.value == (datetime(2024, 1, 4, tzinfo=UTC) - reached).total_seconds()
    assert lag.labels == {"project": "shop", "target": "dev", "package": "web", "model": views}

    written = shop("metrics", "--now", "2024-01-04", "--output", str(file), "--json")
    assert file.read_text() == outcome.out
    assert written.document["metrics"][0] == {
        "name": "windrow_runs",
        "kind": "counter",
        "labels": {"project": "shop", "target": "dev", "package": "web"},
        "value": 1.0,
    }


def test_a_report_tells_of_runs_rows_and_columns(
    shop: Shop, first_run: Outcome, spark: SparkSession
) -> None:
    project = Project.load(shop.folder, spark=spark)
    with counted(spark) as cost:
        overview = project.report(now=datetime(2024, 1, 3, tzinfo=UTC))
    (package,) = overview.packages
    (run,) = first_run.document["packages"][0]["runs"]
    assert [it.run_id for it in package.status.last_runs] == [run["run_id"]]

    made = {model["name"]: model["rows"] for model in run["models"]}
    counted_rows = {it.model: sum(it.rows.values()) for it in package.daily}
    assert counted_rows["sessions"] == made["snowplow_web_sessions"]
    assert counted_rows["page_views"] == made["snowplow_web_page_views"]
    assert {day.isoformat() for it in package.daily for day in it.rows} == {
        "2024-01-01",
        "2024-01-02",
    }
    # The columns of the project's own model too, which only its table tells.
    columns = {it.model.name: it.columns for it in package.tables}
    assert rule_of(columns["page_views"]["page_view_id"])
    assert "page_date" in columns["daily_pages"]
    assert cost.executions <= 6, "\n".join(cost.what)
    assert package.written is None


def test_a_report_with_bytes_asks_the_tables_what_runs_wrote(
    shop: Shop, first_run: Outcome, spark: SparkSession
) -> None:
    (package,) = Project.load(shop.folder, spark=spark).report(with_bytes=True).packages
    (run,) = first_run.document["packages"][0]["runs"]
    assert package.written is not None
    written = package.written[run["run_id"]]
    assert {name for name, size in written.items() if size > 0} == {
        model["name"] for model in run["models"] if model["rows"]
    }


def test_a_plan_with_bytes_tells_files_of_each_table_and_what_such_a_run_wrote(
    shop: Shop, first_run: Outcome, spark: SparkSession
) -> None:
    project, now = Project.load(shop.folder, spark=spark), datetime(2024, 1, 3, tzinfo=UTC)
    (run,) = first_run.document["packages"][0]["runs"]
    # It would be a first run again, over the same window.
    plan = project.plan("web", now=now, with_bytes=True, full_refresh=True)
    assert plan.volumes is not None
    assert plan.volumes.like == run["run_id"]
    found = {it.table: it for it in plan.volumes.tables}
    assert found.keys() == {
        "snowplow_manifest.snowplow_web_base_sessions_lifecycle_manifest",
        *("derived.snowplow_web_page_views", "derived.snowplow_web_user_mapping"),
        *("derived.snowplow_web_sessions", "derived.snowplow_web_users", "derived.daily_pages"),
    }
    # What it wrote to the window's days is what is stored there now.
    for name in ("derived.snowplow_web_page_views", "derived.snowplow_web_sessions"):
        assert found[name].reads == found[name].writes
        assert found[name].reads != FileSizes(0, 0)
    assert plan.reads is not None
    files = [*(shop.folder / "events").rglob("*.parquet")]
    assert plan.reads == FileSizes(len(files), sum(it.stat().st_size for it in files))


def test_a_plan_with_bytes_has_none_where_there_is_nothing_to_do(
    shop: Shop, first_run: Outcome
) -> None:
    (plan,) = shop("plan", "--now", "2024-01-03", "--bytes", "--json").document["packages"]
    assert plan["nothing_because"]
    assert plan["volumes"] is None


def test_a_report_is_a_page_in_the_projects_folder(shop: Shop, first_run: Outcome) -> None:
    outcome = shop("report", "--now", "2024-01-03", "--json")
    place = shop.folder / "report.html"
    document = outcome.document
    assert (document["path"], document["health"]) == (str(place), "fine")
    assert document["bytes"] == place.stat().st_size
    assert "daily_pages" in place.read_text()
    place.unlink()


def test_a_test_passes_on_the_rows_of_the_run_that_was(shop: Shop, first_run: Outcome) -> None:
    outcome = shop("test", "--json")
    (package,) = outcome.document["packages"]
    (run,) = first_run.document["packages"][0]["runs"]
    assert outcome.exit_code == 0
    assert (package["run_id"], package["has_failed"]) == (run["run_id"], False)
    assert {"daily_pages", "snowplow_web_page_views", "snowplow_web_incremental_manifest"} <= {
        check["table"] for check in package["checks"]
    }


@pytest.fixture
def strict_model(shop: Shop) -> Iterator[None]:
    """The project's own model, with a check that no row can pass."""
    model = shop.folder / "models" / "daily_pages.py"
    declared = model.read_text()
    strict = declared.replace('tags=["daily"]', 'checks=[Expression("page_views < 0")]')
    model.write_text(strict.replace("import model", "import Expression, model"))
    yield
    model.write_text(declared)


@pytest.mark.usefixtures("first_run", "strict_model")
def test_a_test_ends_with_1_when_a_check_fails(shop: Shop) -> None:
    outcome = shop("test", "--select", "daily_pages")
    assert outcome.exit_code == 1
    assert "✗ daily_pages expression(page_views < 0)" in outcome.out
    assert "page_date = 2024-01-0" in outcome.out


@pytest.mark.ci
@pytest.mark.usefixtures("strict_model")
def test_a_refresh_that_fails_a_check_is_taken_back(shop: Shop, first_run: Outcome) -> None:
    ran = shop("run", "--now", "2024-01-03", "--full-refresh", "--check", "--json")
    assert ran.exit_code == 1
    (run,) = ran.document["packages"][0]["runs"]
    assert run["outcome"] == "rejected"
    failed = [check for check in run["checks"] if check["outcome"] == "failed"]
    assert [check["table"] for check in failed] == ["daily_pages"]
    # All that the first run brought is there, and can be tested.
    (status,) = shop("status", "--now", "2024-01-03", "--json").document["packages"]
    (first,) = first_run.document["packages"][0]["runs"]
    assert set(status["manifest"].values()) == {first["reached"]}
    assert [record["outcome"] for record in status["last_runs"]] == ["rejected", "succeeded"]
    (package,) = shop("test", "--exclude", "daily_pages", "--json").document["packages"]
    assert (package["run_id"], package["has_failed"]) == (first["run_id"], False)


def test_a_test_of_no_model_is_a_usage_error(shop: Shop) -> None:
    outcome = shop("test", "--select", "page_viws")
    assert outcome.exit_code == 2
    assert "Did you mean 'page_views'?" in outcome.err


def test_the_doctor_finds_everything_fine_and_leaves_nothing_behind(
    shop: Shop, first_run: Outcome
) -> None:
    before = sorted((shop.folder / "warehouse").rglob("*"))
    outcome = shop("doctor", "--json")
    assert [check for check in outcome.document["checks"] if not check["is_fine"]] == []
    assert outcome.exit_code == 0
    assert sorted((shop.folder / "warehouse").rglob("*")) == before


def test_the_doctor_says_what_is_wrong_with_the_events(shop: Shop, tmp_path: Path) -> None:
    vars = json.dumps({"web": {"events": {"path": str(tmp_path / "none")}}})
    outcome = shop("doctor", "--vars", vars)
    assert outcome.exit_code == 1
    assert "✗ events of web: Cannot read the events" in outcome.out


def test_the_doctor_ends_with_2_on_a_wrong_configuration(shop: Shop) -> None:
    outcome = shop("doctor", "--vars", "web: {backfil_limit_days: 2}")
    assert outcome.exit_code == 2
    assert "✗ configuration" in outcome.out


def test_maintain_says_what_it_would_do_and_writes_nothing(shop: Shop, first_run: Outcome) -> None:
    before = sorted((shop.folder / "warehouse").rglob("*"))
    outcome = shop("maintain", "--dry-run", "--select", "page_views", "--json")
    (package,) = outcome.document["packages"]
    assert (outcome.exit_code, package["run_id"], package["has_deleted"]) == (0, None, False)
    (table,) = package["tables"]
    assert table["table"] == "derived.snowplow_web_page_views"
    assert table["layout"] == {"partition_by": ["start_tstamp_date"], "cluster_by": []}
    assert (table["new_layout"], table["problem"]) == (None, None)
    assert sorted((shop.folder / "warehouse").rglob("*")) == before
    assert shop("maintain", "--dry-run", "--delete").exit_code == 2


def test_a_failed_model_ends_the_run_with_exit_code_1(shop: Shop, first_run: Outcome) -> None:
    model = shop.folder / "models" / "broken.py"
    model.write_text(BROKEN_MODEL)
    try:
        outcome = shop("run", "--now", "2024-01-03", "--select", "broken")
    finally:
        model.unlink()
    assert outcome.exit_code == 1
    assert "✗ broken" in outcome.out
    assert "broken failed: ValueError: no cheese [today]" in outcome.out
    assert "web: failed in" in outcome.out
    log = shop.folder / ".windrow" / "logs" / "windrow.log"
    assert f"Traceback: {log}" in outcome.out
    assert "Model broken failed\nTraceback (most recent call last):" in log.read_text()
    assert 'raise ValueError("no cheese [today]")' in log.read_text()


def test_a_broken_file_among_the_events_is_named_and_nothing_is_kept(
    shop: Shop, first_run: Outcome, tmp_path: Path
) -> None:
    events = tmp_path / "some events"
    shutil.copytree(shop.folder / "events", events)
    whole = sorted(events.rglob("*.parquet"))[-1]
    broken = whole.with_name("part-99999.parquet")
    broken.write_bytes(whole.read_bytes()[:-4] + bytes(4))
    vars = json.dumps({"web": {"events": {"path": str(events)}}})
    outcome = shop("run", "--now", "2024-01-04", "--vars", vars, "--json")
    error = outcome.document["error"]
    assert (outcome.exit_code, error["type"]) == (2, "SourceError")
    assert f"The file {broken} cannot be read: " in error["message"]
    assert "is not a Parquet file" in error["message"]
    (status,) = shop("status", "--now", "2024-01-04", "--json").document["packages"]
    (first,) = first_run.document["packages"][0]["runs"]
    assert set(status["manifest"].values()) == {first["reached"]}
