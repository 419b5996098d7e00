"""The published run sequences of the web package, on both table formats."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest
import yaml
from pyspark.sql import SparkSession

from conformance.published import (
    FIXTURES,
    Runs,
    assert_equals_published,
    published_events,
    window,
)

pytestmark = pytest.mark.conformance

SOURCE, EXPECTED = FIXTURES / "web" / "source", FIXTURES / "web" / "expected"
NOW = datetime(2022, 6, 1)

SETTINGS = {
    "start_date": "2020-07-03",
    "backfill_limit_days": 2,
    "compat": True,
    "enable_iab": True,
    "enable_ua": True,
    "enable_yauaa": True,
    "enable_consent": True,
    "list_event_counts": True,
    "total_all_conversions": True,
    "conversion_events": [
        {
            "name": "view_page",
            "condition": "event_name = 'page_view'",
            "value": "tr_total_base",
            "default_value": 0.5,
            "list_events": True,
        }
    ],
    "reference": {
        "countries": str(SOURCE / "reference" / "dim_geo_country_mapping.csv"),
        "languages": str(SOURCE / "reference" / "dim_rfc_5646_language_mapping.csv"),
        "sources": str(SOURCE / "reference" / "dim_ga4_source_categories.csv"),
    },
}

HOOKS = """
from pyspark.sql import functions as F

def content_group(default):
    is_subject = F.col("page_view_id") == "ff8cc048-afe8-4913-843d-37de6b7d87d0"
    return F.when(is_subject, "Look no further, I am the test subject!").otherwise(default)

def engaged_session(default):
    session = "0b0c7bb589ebd041177514f3e43446ca5d4343328936d2f8f12a42b41bf9140e"
    return (F.col("domain_sessionid") == session) | default
"""

CUSTOM_MODEL = """
from windrow import model

@model(key="page_view_id", date="start_tstamp")
def seen_pages(page_views):
    return page_views.select("page_view_id", "domain_sessionid", "start_tstamp", "page_url")
"""

LONG = {"web": {"backfill_limit_days": 243}}


@pytest.fixture(scope="session")
def events_path(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("published") / "events"
    published_events(spark, SOURCE / "snowplow_web_events.csv").write.parquet(str(path))
    return path


@pytest.fixture
def project_dir(tmp_path: Path, format: str, events_path: Path) -> Path:
    write_project(tmp_path, format, events_path, SETTINGS)
    return tmp_path


def write_project(folder: Path, format: str, events: Path, settings: dict) -> None:
    (folder / "windrow.yml").write_text(
        yaml.safe_dump(
            {
                "name": "published",
                "targets": {"dev": {"warehouse": "./warehouse", "format": format}},
                "events": {"path": str(events), "format": "parquet"},
                "packages": {"web": settings},
            }
        )
    )
    (folder / "hooks.py").write_text(HOOKS)


class WebRuns(Runs):
    """Runs, and looks at what they left in the words of the published tables."""

    package, now = "web", NOW

    def sizes(self) -> dict[str, int]:
        ws = self.project().workspace("web")
        names = ("page_views", "user_mapping")
        return {
            "lifecycle": ws.tables.read(ws.lifecycle).count(),
            "quarantined": ws.tables.read(ws.quarantine).count(),
            **{name: self.table(name).count() for name in names},
        }

    def assert_published(self) -> None:
        for name in ("page_views", "sessions", "users"):
            assert_equals_published(
                self.table(name),
                EXPECTED / f"snowplow_web_{name}_expected.csv",
                leave_out={"model_tstamp", "start_tstamp_date"},
            )
        for name in ("log", "users", "versions", "totals", "scope_status", "cmp_stats"):
            assert_equals_published(
                self.table(f"consent_{name}"),
                EXPECTED / f"snowplow_web_consent_{name}_expected.csv",
                leave_out={"derived_tstamp_date"} if name == "log" else frozenset(),
            )


FIRST = (1, "2020-07-03 00:00:00.000", "2021-03-03 00:00:00.000")
SECOND = (4, "2021-03-02 17:57:07.557", "2021-03-04 23:57:07.557")
LATER = (4, "2021-03-04 16:59:29.753", "2021-03-06 22:59:29.753")


@pytest.fixture
def runs(spark: SparkSession, project_dir: Path) -> WebRuns:
    return WebRuns(spark, project_dir)


def test_sequence_1(runs: WebRuns):
    first = runs.run(LONG)
    assert (window(first), first.counts["sessions"], first.counts["events"]) == (FIRST, 41, 125)
    assert first.counts["duplicates"] == 2
    assert runs.sizes() == {"lifecycle": 41, "quarantined": 0, "page_views": 32, "user_mapping": 36}

    second = runs.run()
    assert (window(second), second.counts["sessions"], second.counts["events"]) == (SECOND, 9, 38)
    assert second.counts["duplicates"] == 1
    after = {"lifecycle": 45, "quarantined": 1, "page_views": 43, "user_mapping": 38}
    assert runs.sizes() == after

    for _ in range(2):
        later = runs.run()
        assert (window(later), later.counts["sessions"], later.counts["events"]) == (LATER, 2, 4)
        assert runs.sizes() == after
    runs.assert_published()
    ws = runs.project().workspace("web")
    assert_equals_published(
        ws.tables.read(ws.quarantine),
        EXPECTED / "snowplow_web_base_quarantined_sessions_expected.csv",
    )


def test_sequence_2_with_a_custom_model(runs: WebRuns):
    assert window(runs.run(LONG)) == FIRST
    assert window(runs.run()) == SECOND

    models = runs.project_dir / "models"
    models.mkdir()
    (models / "seen_pages.py").write_text(CUSTOM_MODEL)
    sizes = runs.sizes()
    third = runs.run(LONG)
    assert window(third) == (2, *FIRST[1:])
    assert runs.sizes() == sizes | {"quarantined": 2}

    fourth = runs.run(select="+seen_pages")
    assert window(fourth) == (3, "2021-03-02 17:57:07.557", "2021-03-04 22:59:29.753")
    for _ in range(2):
        assert window(runs.run()) == LATER
    runs.assert_published()
    assert runs.table("seen_pages").select("page_view_id").distinct().count() == 43


VITALS = {
    **SETTINGS,
    "enable_cwv": True,
    "enable_consent": False,
    "start_date": "2023-03-01",
    "backfill_limit_days": 50,
    "cwv_days_to_measure": 999,
}


def test_sequence_3_web_vitals(spark: SparkSession, tmp_path: Path, format: str):
    path = tmp_path / "events"
    published_events(spark, SOURCE / "snowplow_web_vital_events.csv").write.parquet(str(path))
    write_project(tmp_path, format, path, VITALS)
    runs = WebRuns(spark, tmp_path)
    result = runs.project().run("web", now=datetime(2023, 8, 1), select="+vital_measurements")
    assert window(result) == (1, "2023-03-01 00:00:00.000", "2023-04-20 00:00:00.000")
    assert runs.table("vitals").count() == 1000
    percentiles = [f"{measure}_75p" for measure in ("lcp", "fid", "cls", "ttfb", "inp")]
    assert_equals_published(
        runs.table("vital_measurements"),
        EXPECTED / "snowplow_web_vital_measurements_expected.csv",
        within={name: 0.001 for name in percentiles},
    )
