"""Tables as the published ones are, taken over in the middle of the published sequences.

windrow's first runs make the tables that the published sequence has then; they are copied as the
SQL packages leave them, adopted, and gone on from: the rest must lead to the published tables.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from conformance import test_ecommerce, test_media_player, test_mobile, test_web
from conformance.published import (
    FIXTURES,
    assert_equals_published,
    expected_rows,
    published_events,
)
from windrow import Project
from windrow.tables import TableName

pytestmark = pytest.mark.conformance

OWN = {"derived": "dbt_derived", "scratch": "dbt_scratch", "manifest": "dbt_manifest"}
DAYS = ("start_tstamp_date", "derived_tstamp_date")


class Sequence:
    """A project over published events with two targets: windrow's own tables, and dbt's."""

    def __init__(
        self,
        spark: SparkSession,
        folder: Path,
        packages: dict[str, Any],
        *,
        now: datetime,
        events: str | None = None,
    ) -> None:
        self.spark, self.folder, self.now = spark, folder, now
        self.package = "+".join(packages)
        name = list(packages)[-1]
        self.expected = FIXTURES / name / "expected"
        path = folder / "events"
        file = FIXTURES / name / "source" / (events or f"snowplow_{name}_events.csv")
        published_events(spark, file).write.parquet(str(path))
        (folder / "windrow.yml").write_text(
            yaml.safe_dump(
                {
                    "name": "published",
                    "target": "ours",
                    "targets": {
                        "ours": {"warehouse": "./warehouse"},
                        "dbt": {"warehouse": "./warehouse", "schemas": OWN},
                    },
                    "events": {"path": str(path), "format": "parquet"},
                    "packages": packages,
                }
            )
        )

    def project(self, target: str, vars: dict | None = None) -> Project:
        return Project.load(self.folder, target=target, spark=self.spark, vars=vars)

    def run(self, target: str, vars: dict | None = None, **options: Any) -> None:
        done = self.project(target, vars).run(self.package, now=self.now, **options)
        assert not done.has_failed

    def read(self, table: str, schema: str = "dbt_derived") -> DataFrame:
        return self.project("dbt").workspace(self.package).tables.read(TableName(schema, table))

    def place(self, schema: str, table: str) -> str:
        return str(self.folder / "warehouse" / schema / table)

    def write(self, schema: str, table: str, rows: DataFrame) -> None:
        days = [name for name in rows.columns if name in DAYS]
        rows.write.format("delta").partitionBy(*days).save(self.place(schema, table))

    def leave(
        self,
        instead: dict[str, DataFrame] | None = None,
        *,
        views: tuple[str, ...] = (),
        ours_alone: tuple[str, ...] = (),
    ) -> None:
        """Our tables as the SQL package leaves them, some of them with other rows.

        What are views there is not stored; of what windrow alone makes, the manifest says nothing.
        """
        without = ("key_days", *views, *ours_alone)
        is_theirs = (
            ~F.col("model").rlike(f"({'|'.join(ours_alone)})$") if ours_alone else F.lit(True)
        )
        for ours, theirs in (("derived", "dbt_derived"), ("snowplow_manifest", "dbt_manifest")):
            for folder in sorted((self.folder / "warehouse" / ours).glob("snowplow_*")):
                if folder.name.endswith(without):
                    continue
                rows = self.spark.read.format("delta").load(str(folder))
                if folder.name.endswith("incremental_manifest"):
                    rows = rows.where(is_theirs)
                self.write(theirs, folder.name, (instead or {}).get(folder.name, rows))

    def adopt(self) -> None:
        adopted = self.project("dbt").adopt(self.package, now=self.now)
        assert adopted.run_id is not None
        assert adopted.plan is not None

    def published(self, table: str) -> DataFrame:
        """A published table: single values from the file, arrays and maps from ours."""
        ours = self.spark.read.format("delta").load(self.place("derived", table))
        names, rows = expected_rows(self.expected / f"{table}_expected.csv")
        text = self.spark.createDataFrame(
            [tuple(row[n] if row[n] not in ("", "null") else None for n in names) for row in rows],
            ", ".join(f"`{name}` string" for name in names),
        )
        single = {n: kind for n, kind in ours.dtypes if not kind.startswith(("array", "map"))}
        key = {"page_views": "page_view_id", "sessions": "domain_sessionid"}.get(
            table.removeprefix("snowplow_web_"), "domain_userid"
        )
        values = text.select(*(F.col(n).cast(k).alias(n) for n, k in single.items() if n in names))
        left = [n for n in ours.columns if n not in values.columns]
        return values.join(ours.select(key, *left), key, how="left").select(*ours.columns)

    def assert_published(self, *tables: str, leave_out: tuple[str, ...] = DAYS) -> None:
        for table in tables:
            assert_equals_published(
                self.read(table),
                self.expected / f"{table}_expected.csv",
                leave_out={"model_tstamp", *leave_out},
            )

    def assert_the_way_back(self, *tables: str) -> None:
        """The SQL package would find its own columns in our tables, and in its manifests."""
        for table in tables:
            names, _ = expected_rows(self.expected / f"{table}_expected.csv")
            ours = self.spark.read.format("delta").load(self.place("derived", table)).columns
            made_on_the_way = {"model_tstamp", *DAYS}
            assert {*ours} - made_on_the_way == {*names} - made_on_the_way, table
        manifest = f"snowplow_{self.package}_incremental_manifest"
        stored = self.spark.read.format("delta").load(self.place("snowplow_manifest", manifest))
        assert stored.columns == ["model", "last_success"]
        assert {f"{table}_this_run" for table in tables} <= {row[0] for row in stored.collect()}


WEB_TABLES = [f"snowplow_web_{name}" for name in ("page_views", "sessions", "users")]


def web(spark: SparkSession, folder: Path) -> Sequence:
    (folder / "hooks.py").write_text(test_web.HOOKS)
    return Sequence(spark, folder, {"web": test_web.SETTINGS}, now=test_web.NOW)


def test_web_goes_on_after_its_first_run(spark: SparkSession, tmp_path: Path):
    sequence = web(spark, tmp_path)
    sequence.run("ours", test_web.LONG)
    sequence.assert_the_way_back(*WEB_TABLES)
    # Conversion values are often decimals there.
    sessions = spark.read.format("delta").load(sequence.place("derived", WEB_TABLES[1]))
    decimals = {"cv_view_page_total": F.col("cv_view_page_total").cast("decimal(20,6)")}
    sequence.leave({WEB_TABLES[1]: sessions.withColumns(decimals)})
    sequence.adopt()
    sequence.run("dbt")
    sequence.assert_published(*WEB_TABLES)
    consent = ("log", "users", "versions", "totals", "scope_status", "cmp_stats")
    sequence.assert_published(*(f"snowplow_web_consent_{name}" for name in consent))


def test_web_goes_on_from_the_published_tables_themselves(spark: SparkSession, tmp_path: Path):
    sequence = web(spark, tmp_path)
    sequence.run("ours", test_web.LONG)
    sequence.run("ours")
    published = {name: sequence.published(name) for name in WEB_TABLES}
    sequence.leave(published)
    sequence.adopt()
    sequence.run("dbt")
    sequence.assert_published(*WEB_TABLES)
    assert sequence.project("ours").diff("snowplow_manifest", "dbt_manifest").is_equal


def test_mobile_goes_on_after_its_first_weeks(spark: SparkSession, tmp_path: Path):
    options = {**test_mobile.SETTINGS, "compat": True}
    now = test_mobile.MobileRuns.now
    sequence = Sequence(spark, tmp_path, {"mobile": options}, now=now)
    tables = [f"snowplow_mobile_{name}" for name in ("screen_views", "sessions", "users")]
    sequence.run("ours")
    sequence.assert_the_way_back(*tables)
    sequence.leave()
    sequence.adopt()
    sequence.run("dbt", test_mobile.LONG)
    sequence.assert_published(*tables)


def test_ecommerce_goes_on_after_its_first_run(spark: SparkSession, tmp_path: Path):
    options = {**test_ecommerce.SETTINGS, "enable_funnel": False}
    sequence = Sequence(spark, tmp_path, {"ecommerce": options}, now=test_ecommerce.NOW)
    sequence.run("ours")
    sequence.leave()
    sequence.adopt()
    for _ in test_ecommerce.LATER:
        sequence.run("dbt")
    names = (*(f"{name}_interactions" for name in test_ecommerce.TABLES), "sessions")
    sequence.assert_published(*(f"snowplow_ecommerce_{name}" for name in names), leave_out=())


@pytest.mark.parametrize("compat", [True, False])
def test_media_goes_on_after_its_first_run(spark: SparkSession, tmp_path: Path, compat: bool):
    packages = {
        "web": {**test_media_player.WEB, "compat": compat},
        "media_player": {**test_media_player.MEDIA, "compat": compat},
    }
    now = test_media_player.MediaRuns.now
    sequence = Sequence(spark, tmp_path, packages, now=now)
    sequence.run("ours")
    ours_alone = ("play_parts", "media_durations", "media_totals", "retention")
    sequence.leave(views=("plays_by_pageview",), ours_alone=ours_alone)
    sequence.adopt()
    for target in ("dbt", "ours"):
        sequence.project(target).run_until_caught_up(sequence.package, now=sequence.now)
    found = sequence.project("ours").diff("derived", "dbt_derived")
    assert found.is_equal, found
