"""The published run sequence of the media player package, on both table formats."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest
import yaml
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from conformance.published import (
    FIXTURES,
    Runs,
    assert_equals_published,
    expected_rows,
    published_events,
    window,
)

pytestmark = pytest.mark.conformance

SOURCE, EXPECTED = FIXTURES / "media_player" / "source", FIXTURES / "media_player" / "expected"

WEB = {
    "start_date": "2022-01-17",
    "backfill_limit_days": 2,
    "disabled_models": ["page_views", "sessions", "users", "user_mapping"],
}
MEDIA = {"enable_youtube": True, "enable_whatwg_media": True, "enable_whatwg_video": True}

RUNS = [
    ((1, "2022-01-17 00:00:00.000", "2022-01-19 00:00:00.000"), 5, 90, 14, 14),
    ((4, "2022-01-18 16:01:35.011", "2022-01-20 22:01:35.011"), 18, 215, 40, 44),
    ((4, "2022-01-20 15:33:59.119", "2022-01-22 21:33:59.119"), 12, 108, 19, 44),
]
"""Limits, sessions, events, plays of the run and plays in all, as published after each run."""

STALE = {
    *("last_base_tstamp", "play_time_min", "avg_play_time_min", "avg_playback_rate"),
    *("play_rate", "avg_percent_played", "avg_retention_rate"),
}
"""Columns in which the published file is not what its own rules give."""


class MediaRuns(Runs):
    package, now = "web+media_player", datetime(2022, 6, 1)

    def manifest(self) -> dict[str, str]:
        ws = self.project().workspace(self.package)
        assert ws.manifest.name == "snowplow_web_incremental_manifest"
        rows = ws.tables.read(ws.manifest).select("model", F.col("last_success").cast("string"))
        return dict(map(tuple, rows.collect()))


@pytest.fixture(scope="session")
def events_path(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("published") / "events"
    published_events(spark, SOURCE / "snowplow_media_player_events.csv").write.parquet(str(path))
    return path


@pytest.fixture
def project(tmp_path: Path, format: str, events_path: Path):
    def make(*, compat: bool) -> Path:
        text = yaml.safe_dump(
            {
                "name": "published",
                "targets": {"dev": {"warehouse": "./warehouse", "format": format}},
                "events": {"path": str(events_path), "format": "parquet"},
                "packages": {
                    "web": {**WEB, "compat": compat},
                    "media_player": {**MEDIA, "compat": compat},
                },
            }
        )
        (tmp_path / "windrow.yml").write_text(text)
        return tmp_path

    return make


def test_published_sequence(spark: SparkSession, project):
    runs = MediaRuns(spark, project(compat=True))
    for number, (limits, sessions, events, plays, total) in enumerate(RUNS):
        result = runs.run(full_refresh=number == 0)
        written = {model.name: model.rows for model in result.models}
        assert window(result) == limits
        assert (result.counts["sessions"], result.counts["events"]) == (sessions, events)
        assert written["snowplow_media_player_interactions_this_run"] == events
        assert written["snowplow_media_player_base"] == plays
        assert runs.table("base").count() == total
    assert runs.manifest() == {
        f"snowplow_media_player_{name}": "2022-01-20 21:33:59.119"
        for name in (
            *("pivot_base", "interactions_this_run", "base_this_run", "base"),
            *("plays_by_pageview", "media_stats"),
        )
    }

    assert_equals_published(
        runs.table("base"),
        EXPECTED / "snowplow_media_player_base_expected.csv",
        leave_out={"start_tstamp_date"},
    )
    stats = EXPECTED / "snowplow_media_player_media_stats_expected.csv"
    assert_equals_published(runs.table("media_stats"), stats, leave_out={"first_play_date", *STALE})
    assert_played_figures(runs.table("media_stats"), stats)
    assert runs.table("plays_by_pageview").count() == 41


def assert_played_figures(stats: DataFrame, file: Path) -> None:
    """The other figures of the played media; for the one never played, the file is stale."""
    wanted = {row["media_id"]: row for row in expected_rows(file)[1]}
    found = {row["media_id"]: row for row in stats.collect()}
    never = found.pop("yt-dbt-coalesce-2022")
    assert (never["play_time_min"], never["play_rate"], never["avg_playback_rate"]) == (0, 0, None)
    assert len(found) == 2
    for media, row in found.items():
        for name in STALE - {"last_base_tstamp"}:
            assert row[name] == pytest.approx(float(wanted[media][name]), abs=1e-9)


def test_plays_that_go_on_in_another_session_are_whole(spark: SparkSession, project):
    runs = MediaRuns(spark, project(compat=False))
    runs.run(full_refresh=True)
    while not runs.run().is_caught_up:
        pass
    base = runs.table("base")
    totals = base.agg(F.count("*").alias("plays"), F.sum("seeks").alias("seeks")).first()
    # The published tables have 42 of the 43 seeks: they lose that of a later session.
    assert (totals["plays"], totals["seeks"]) == (44, 43)
    stats = {row["media_id"]: row for row in runs.table("media_stats").collect()}
    never = stats["yt-dbt-coalesce-2022"]
    assert (never["plays"], never["first_play"], never["last_play"]) == (0, None, None)
