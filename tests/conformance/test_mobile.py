"""The published run sequences of the mobile package, on both table formats."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest
import yaml
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from conformance.published import (
    FIXTURES,
    Runs,
    assert_equals_published,
    published_events,
    window,
)

pytestmark = pytest.mark.conformance

SOURCE, EXPECTED = FIXTURES / "mobile" / "source", FIXTURES / "mobile" / "expected"

SETTINGS = {
    "start_date": "2021-03-07",
    "backfill_limit_days": 20,
    "enable_geolocation_context": True,
}

CUSTOM_MODEL = """
from pyspark.sql import functions as F
from windrow import model

GOALS = {
    "has_started_registration": "registration",
    "has_completed_registration": "my_account",
    "has_used_search": "search_results",
    "has_viewed_products": "products",
}

@model(key="session_id", date="max_tstamp", name="snowplow_mobile_ses_goals")
def goals(snowplow_mobile_screen_views_this_run):
    seen = snowplow_mobile_screen_views_this_run.groupBy("session_id").agg(
        F.max("derived_tstamp").alias("max_tstamp"),
        *(F.bool_or(F.col("screen_view_name") == name).alias(goal) for goal, name in GOALS.items()),
    )
    has_all = F.lit(True)
    for goal in GOALS:
        has_all &= F.col(goal)
    return seen.withColumn("has_completed_goals", has_all)
"""

LONG = {"mobile": {"backfill_limit_days": 60}}

FIRST = (1, "2021-03-07 00:00:00.000", "2021-05-06 00:00:00.000")
LATER = (4, "2021-04-21 07:50:44.234", "2021-05-11 13:50:44.234")

LIFECYCLE = {
    "ce997048": ("2021-03-07 22:46:41.963", "2021-03-10 22:46:41.963"),
    "0920d602": ("2021-03-26 10:50:40.058", "2021-03-26 11:08:50.674"),
    "c6cb06d3": ("2021-03-26 10:50:55.286", "2021-03-26 10:50:55.461"),
    "9458a225": ("2021-03-27 13:57:59.994", "2021-03-27 14:17:24.402"),
    "f231d3ce": ("2021-04-21 11:31:33.389", "2021-04-21 11:31:40.467"),
    "bca0fa0e": ("2021-04-21 11:34:15.664", "2021-04-21 11:34:40.524"),
    "acab5892": ("2021-04-21 13:50:25.349", "2021-04-21 13:50:44.234"),
}


class MobileRuns(Runs):
    """Runs, and looks at what they left in the words of the published tables."""

    package, now = "mobile", datetime(2022, 6, 1)

    def sizes(self) -> dict[str, int]:
        names = ("screen_views", "sessions", "users", "user_mapping")
        return {name: self.table(name).count() for name in names}

    def lifecycle(self) -> dict[str, tuple[str, str]]:
        ws = self.project().workspace("mobile")
        times = [
            F.date_format(name, "yyyy-MM-dd HH:mm:ss.SSS")
            for name in ("start_tstamp", "end_tstamp")
        ]
        rows = ws.tables.read(ws.lifecycle).select("session_id", *times).collect()
        return {row[0][:8]: (row[1], row[2]) for row in rows}

    def manifest(self) -> set[tuple[str, str]]:
        ws = self.project().workspace("mobile")
        rows = ws.tables.read(ws.manifest).select("model", F.col("last_success").cast("string"))
        return {tuple(row) for row in rows.collect()}

    def assert_published(self) -> None:
        days = {"screen_views": "derived_tstamp_date"}
        for name in ("screen_views", "sessions", "users"):
            assert_equals_published(
                self.table(name),
                EXPECTED / f"snowplow_mobile_{name}_expected.csv",
                leave_out={"model_tstamp", days.get(name, "start_tstamp_date")},
            )


@pytest.fixture(scope="session")
def events_path(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("published") / "events"
    published_events(spark, SOURCE / "snowplow_mobile_events.csv").write.parquet(str(path))
    return path


@pytest.fixture
def project(tmp_path: Path, format: str, events_path: Path):
    def make(**options: object) -> Path:
        text = yaml.safe_dump(
            {
                "name": "published",
                "targets": {"dev": {"warehouse": "./warehouse", "format": format}},
                "events": {"path": str(events_path), "format": "parquet"},
                "packages": {"mobile": {**SETTINGS, **options}},
            }
        )
        (tmp_path / "windrow.yml").write_text(text)
        return tmp_path

    return make


@pytest.mark.parametrize("compat", [True, False])
def test_standard_sequence(spark: SparkSession, project, compat: bool):
    runs = MobileRuns(spark, project(compat=compat))
    first = runs.run(LONG, full_refresh=True)
    assert (window(first), first.counts["sessions"], first.counts["events"]) == (FIRST, 7, 95)
    assert (first.counts["capped"], first.counts["window_too_late"]) == (1, 3)
    assert runs.lifecycle() == LIFECYCLE
    sizes = {"screen_views": 77, "sessions": 7, "users": 4, "user_mapping": 4}
    assert runs.sizes() == sizes

    later = [runs.run() for _ in range(3)]
    assert runs.sizes() == sizes
    if compat:
        assert [(run.counts["sessions"], window(run)) for run in later] == [(3, LATER)] * 3
    else:
        # The window reaches on, over the gap after the last event, and finds nothing.
        assert [run.outcome for run in later] == ["nothing_to_do"] * 3
    assert runs.lifecycle() == LIFECYCLE
    assert {when for _, when in runs.manifest()} == {"2021-04-21 13:50:44.234"}
    assert len(runs.manifest()) == 12
    runs.assert_published()


def test_sequence_with_a_custom_model(spark: SparkSession, project):
    runs = MobileRuns(spark, project(compat=True))
    assert window(runs.run(LONG, full_refresh=True)) == FIRST
    assert window(runs.run()) == LATER

    models = runs.project_dir / "models"
    models.mkdir()
    (models / "goals.py").write_text(CUSTOM_MODEL)
    third = runs.run(LONG)
    assert window(third) == (2, FIRST[1], "2021-04-21 13:50:44.234")
    written = {model.name: model.rows for model in third.models}
    assert written == {
        "snowplow_mobile_ses_goals": 6,
        **{f"snowplow_mobile_{name}": 0 for name in runs.sizes()},
    }

    assert window(runs.run(select="+snowplow_mobile_ses_goals")) == LATER
    for _ in range(2):
        assert window(runs.run()) == LATER
    runs.assert_published()
    assert len(runs.manifest()) == 13
    assert runs.table("snowplow_mobile_ses_goals").count() == 6
