"""The published run sequence of the e-commerce package, on both table formats."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest
import yaml
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from conformance.published import (
    FIXTURES,
    assert_equals_published,
    published_events,
)
from windrow import Project
from windrow.engine.workspace import Workspace

pytestmark = pytest.mark.conformance

SOURCE, EXPECTED = FIXTURES / "ecommerce" / "source", FIXTURES / "ecommerce" / "expected"
NOW = datetime(2023, 6, 1)
TABLES = ("cart", "checkout", "product", "transaction")
EVENT_ID = [{"sql": "event_id", "alias": "event_id2"}]

SETTINGS = {
    "start_date": "2022-10-01",
    "backfill_limit_days": 30,
    "compat": True,
    "enable_funnel": True,
    "enable_mobile_events": True,
    "app_id": ["ecom-accel", "DemoID"],
    **{f"{table}_passthroughs": EVENT_ID for table in TABLES},
    "session_passthroughs": [{"sql": "domain_sessionid", "alias": "session_id2"}],
}

FIRST = ("2022-10-01 00:00:00.000", "2022-10-31 00:00:00.000")
LATER = [
    (
        ("2022-10-25 04:12:42.773", "2022-11-24 10:12:42.773"),
        (20, 373, 58, 43, 439, 11),
        "2022-11-20 11:53:06.352",
    ),
    (
        ("2022-11-20 05:53:06.352", "2022-12-20 11:53:06.352"),
        (43, 420, 3, 2, 440, 1),
        "2022-11-29 12:57:56.822",
    ),
    (
        ("2022-11-29 06:57:56.822", "2022-12-29 12:57:56.822"),
        (20, 122, 9, 9, 129, 3),
        "2022-12-22 13:26:40.635",
    ),
]


@pytest.fixture(scope="module")
def events_path(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("published") / "events"
    published_events(spark, SOURCE / "snowplow_ecommerce_events.csv").write.parquet(str(path))
    return path


class Runs:
    """Runs the project and looks at what it left, in the words of the published tables."""

    def __init__(self, spark: SparkSession, folder: Path, format: str, events: Path) -> None:
        self.spark, self.folder = spark, folder
        (folder / "windrow.yml").write_text(
            yaml.safe_dump(
                {
                    "name": "published",
                    "targets": {"dev": {"warehouse": "./warehouse", "format": format}},
                    "events": {"path": str(events), "format": "parquet"},
                    "packages": {"ecommerce": SETTINGS},
                }
            )
        )

    def project(self, **options: object) -> Project:
        vars = {"ecommerce": options} if options else None
        return Project.load(self.folder, spark=self.spark, vars=vars)

    @property
    def workspace(self) -> Workspace:
        return self.project().workspace("ecommerce")

    def check(self, limits, rows, last_success, *, options=None, **how) -> None:
        """Run, and compare with what is known of the published run."""
        result = self.project(**(options or {})).run("ecommerce", now=NOW, **how)
        assert not result.has_failed
        window = result.plan.limits
        assert (shown(window.lower), shown(window.upper)) == limits
        written = {model.name: model.rows for model in result.models}
        assert result.counts is not None
        assert (
            result.counts["sessions"],
            result.counts["events"],
            *(written[f"snowplow_ecommerce_{table}_interactions"] for table in TABLES),
        ) == rows
        ws = self.workspace
        positions = ws.tables.read(ws.manifest).select(
            F.date_format("last_success", "yyyy-MM-dd HH:mm:ss.SSS")
        )
        assert {row[0] for row in positions.collect()} == {last_success}

    def table(self, name: str):
        ws = self.workspace
        return ws.tables.read(ws.table(ws.model(name)))

    def counted(self, table: str, column: str) -> dict[object, int]:
        return {row[0]: row[1] for row in self.table(table).groupBy(column).count().collect()}


def shown(instant: datetime) -> str:
    return f"{instant:%Y-%m-%d %H:%M:%S.%f}"[:-3]


def test_published_sequence(spark: SparkSession, tmp_path: Path, format: str, events_path: Path):
    runs = Runs(spark, tmp_path, format, events_path)
    first = (FIRST, (16, 316, 46, 34, 381, 9), "2022-10-25 10:12:42.773")
    runs.check(*first, options={"enable_mobile_events": False}, full_refresh=True)
    runs.check(*first, full_refresh=True)
    for checkpoint in LATER:
        runs.check(*checkpoint)

    for table in TABLES:
        assert_equals_published(
            runs.table(f"{table}_interactions"),
            EXPECTED / f"snowplow_ecommerce_{table}_interactions_expected.csv",
        )
    assert_equals_published(
        runs.table("sessions"), EXPECTED / "snowplow_ecommerce_sessions_expected.csv"
    )
    assert runs.counted("cart_interactions", "cart_created") == {True: 36, False: 2, None: 29}
    assert runs.counted("cart_interactions", "cart_emptied") == {True: 8, False: 45, None: 14}
    assert runs.counted("product_interactions", "is_product_view")[None] == 433
    assert runs.counted("transaction_interactions", "number_products") == {1: 11, 2: 3}

    ws = runs.workspace
    assert ws.tables.columns(ws.lifecycle) == {
        "session_identifier": "string",
        "user_identifier": "string",
        "start_tstamp": "timestamp",
        "end_tstamp": "timestamp",
        "start_tstamp_date": "date",
    }
    assert ws.tables.columns(ws.quarantine) == {"session_identifier": "string"}
    # The tables that the reference does not have must agree with those that it has.
    assert runs.table("funnel_sessions").selectExpr("sum(number_transactions)").first()[0] == 14
    assert runs.table("funnel_days").selectExpr("sum(transactions)").first()[0] == 14
