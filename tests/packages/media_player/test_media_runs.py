"""Runs of the media player package: together with web, split in any way, and in compat."""

from __future__ import annotations

import random
import shutil
from collections import Counter, defaultdict
from datetime import timedelta
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
from pyspark.sql import SparkSession

from media import MediaSite, media_event
from random_runs import any_cuts, few_examples, run_in_pieces
from website import Event, at, rows
from windrow import Project
from windrow.errors import UsageError

END = "2024-01-08 00:00"
BOUNDARIES = (10, 25, 50, 75, 100)
TYPES = ("play", "play", "percentprogress", "percentprogress", "seek", "ended", "pause")


def traffic(seed: int) -> list[Event]:
    """A week of players: page views go on in other sessions, durations are learned late."""
    draw = random.Random(f"media {seed}")
    events: list[Event] = []
    for visit in range(10):
        start = at("2024-01-01") + timedelta(hours=draw.uniform(0, 24 * 6))
        length = draw.choice([0.2, 2, 40])
        for number in range(draw.randrange(1, 9)):
            moment = start + timedelta(hours=draw.uniform(0, length))
            type = draw.choice(TYPES)
            on = visit if draw.random() < 0.7 else draw.randrange(visit + 1)
            media = draw.choice(["film", "song", "talk", None])
            events.append(
                media_event(
                    f"e{visit:02d}{number}",
                    f"s{visit:02d}" if draw.random() < 0.95 else None,
                    f"{moment:%Y-%m-%d %H:%M:%S.%f}"[:-3],
                    type,
                    page=f"p{on:02d}{draw.randrange(2)}" if draw.random() < 0.95 else None,
                    youtube=media,
                    element="sound" if media == "song" else None,
                    media_type="AUDIO",
                    percent=draw.choice([10, 25, 33, 50, 75]) if type[:3] == "per" else None,
                    duration=draw.choice([None, 60, 100, 100 + visit]),
                    muted=draw.random() < 0.3,
                    rate=draw.choice([None, 1.0, 1.5, 2.0]),
                    label=draw.choice([None, "One", "Two"]),
                    cookie=f"c{visit % 4}",
                    delay=timedelta(seconds=draw.choice([0, 20, 90_000])),
                    geo_region_name=draw.choice(["Attica", "Crete"]),
                )
            )
            if draw.random() < 0.1:
                events.append({**events[-1], "etl_tstamp": moment + timedelta(minutes=5)})
    return events


def loaded(spark: SparkSession, folder: Path, seed: int, **options: Any) -> MediaSite:
    site = MediaSite(spark, folder, **options)
    site.arrive(*traffic(seed))
    return site


def contents(site: MediaSite) -> dict[str, list[tuple[Any, ...]]]:
    stored = [member.name for member in site.workspace.models if member.kind != "this_run"]
    found = {name: rows(site.table(name)) for name in (*stored, "lifecycle")}
    assert found["base"]
    return found


def recomputed(site: MediaSite) -> dict[str, dict[str, Any]]:
    """media_stats, worked out in plain Python from all the plays there are."""
    by_media = defaultdict(list)
    for row in site.table("base").collect():
        by_media[row["media_id"]].append(row)
    found = {}
    for media, all_rows in by_media.items():
        played = [row for row in all_rows if row["is_played"]]
        counts = Counter(
            piece
            for row in all_rows
            for piece in (row["percent_progress_reached"] or "").split(",")
        )
        latest = max(all_rows, key=lambda row: (row["start_tstamp"], row["play_id"]))
        shares = [
            row["play_time_sec"] / row["duration"] if row["duration"] else 0 for row in played
        ]
        found[media] = {
            "media_label": latest["media_label"],
            "duration": max((r["duration"] for r in all_rows if r["duration"]), default=None),
            "play_time_min": sum(row["play_time_sec"] for row in all_rows) / 60,
            "avg_play_time_min": _mean([row["play_time_sec"] / 60 for row in played]),
            "first_play": min((row["start_tstamp"] for row in played), default=None),
            "last_play": max((row["start_tstamp"] for row in played), default=None),
            "plays": len(played),
            "valid_plays": sum(row["is_valid_play"] for row in all_rows),
            "complete_plays": sum(row["is_complete_play"] for row in all_rows),
            "impressions": len({row["page_view_id"] for row in all_rows}),
            "avg_percent_played": _mean(shares),
            "avg_retention_rate": _mean([row["retention_rate"] for row in played]),
            "avg_playback_rate": _mean([row["avg_playback_rate"] for row in played]),
            "play_rate": len(played) / len(all_rows),
            **{f"_{percent}_percent_reached": counts[str(percent)] for percent in BOUNDARIES},
        }
    return found


def _mean(values: list[float]) -> Any:
    return pytest.approx(mean(values), abs=1e-9) if values else None


def assert_stats_are_exact(site: MediaSite) -> None:
    expected = recomputed(site)
    found = {row["media_id"]: row.asDict() for row in site.table("media_stats").collect()}
    assert {
        media: {name: found[media][name] for name in figures} for media, figures in expected.items()
    } == expected
    assert found.keys() == expected.keys()


@pytest.fixture(scope="module")
def split(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> MediaSite:
    """A week in two runs, and no scratch left after either."""
    site = loaded(spark, tmp_path_factory.mktemp("split"), seed=1, keep_this_run=True)
    for day in (4, 8):
        site.run(f"2024-01-{day:02d} 00:00")
        shutil.rmtree(site.folder / "warehouse" / "scratch")
        assert_stats_are_exact(site)
    return site


@pytest.mark.ci
def test_two_runs_equal_one(split: MediaSite, spark: SparkSession, tmp_path: Path):
    whole = loaded(spark, tmp_path, seed=1)
    whole.run(END)
    assert not (tmp_path / "warehouse" / "scratch").exists()
    expected = contents(whole)
    assert all(expected.values())
    assert contents(split) == expected


@pytest.mark.ci
def test_models_that_run_one_after_the_other_come_to_the_same(
    split: MediaSite, spark: SparkSession, tmp_path: Path
):
    """What is carried on from run to run is made anew where a run left it behind, or ahead."""
    apart = loaded(spark, tmp_path, seed=1)
    apart.run("2024-01-03 00:00")
    apart.run("2024-01-05 00:00", select="+base")
    apart.run("2024-01-05 00:00", select="media_stats")
    apart.run("2024-01-05 00:00", select="media_totals+")
    apart.run("2024-01-06 00:00", select="+media_totals")
    apart.project().run_until_caught_up(apart.package, now=at(END))
    assert_stats_are_exact(apart)
    assert contents(apart) == contents(split)


@pytest.mark.ci
def test_a_curve_begins_with_all_plays_and_loses_those_that_stopped(split: MediaSite):
    curve = {(row[0], row[1]): row for row in rows(split.table("retention"))}
    played = {row[0]: row[9] for row in rows(split.table("media_stats"))}
    assert {media: curve[media, 0][2:] for media in played} == {
        media: (plays, plays, plays, 1.0, 1.0) for media, plays in played.items()
    }
    base = split.table("base").collect()
    assert curve["film", 25][3:5] == (
        sum(
            r["retention_rate"] >= 0.25 for r in base if r["is_played"] and r["media_id"] == "film"
        ),
        sum(
            max(map(int, r["percent_progress_reached"].split(","))) >= 25
            for r in base
            if r["is_played"] and r["media_id"] == "film" and r["percent_progress_reached"]
        ),
    )


@pytest.mark.slow
@few_examples(5)
@any_cuts()
def test_random_runs_equal_one_run_and_stats_are_exact_after_each(
    spark: SparkSession,
    tmp_path_factory: pytest.TempPathFactory,
    seed: int,
    cuts: list[int],
    again: int,
):
    folder = tmp_path_factory.mktemp("splits")
    whole = loaded(spark, folder / "whole", seed, enable_session_and_user_stats=True)
    whole.run(END)
    split = loaded(spark, folder / "split", seed, enable_session_and_user_stats=True)
    run_in_pieces(split, cuts, again, after_each=assert_stats_are_exact)
    assert contents(split) == contents(whole)


@pytest.mark.slow
def test_stats_in_the_reference_lose_plays_and_averages(spark: SparkSession, tmp_path: Path):
    site = MediaSite(spark, tmp_path, compat=True)
    progress = {"percent": 10, "duration": 100}
    site.arrive(
        media_event("1", "s1", "2024-01-02 10:00", page="p1"),
        media_event("2", "s1", "2024-01-02 10:01", "percentprogress", page="p1", **progress),
        media_event("3", "s1", "2024-01-02 10:02", "ready", page="p1", youtube="never"),
    )
    site.run("2024-01-03 00:00")
    columns = ("media_id", "plays", "impressions", "first_play", "avg_percent_played")
    film = ("film", 1, 1, "2024-01-02 10:00:00", 0.1)
    assert rows(site.table("media_stats").select(*columns)) == [film, ("never", 0, 1, None, None)]

    # An impression wipes the average (M3), and what was never played gets a far date (M1). A play
    # whose last event is less than ten hours ago does not count yet (M5).
    site.arrive(
        media_event("6", "s3", "2024-01-03 20:00", page="p3"),
        media_event("4", "s2", "2024-01-03 10:00", "ready", page="p2"),
        media_event("5", "s2", "2024-01-03 10:00", "ready", page="p2", youtube="never"),
    )
    site.run("2024-01-04 00:00")
    wiped = ("film", 1, 2, "2024-01-02 10:00:00", None)
    never = ("never", 0, 2, "2999-01-01 00:00:00", None)
    assert rows(site.table("media_stats").select(*columns)) == [wiped, never]
    assert rows(site.table("plays_by_pageview").select("page_view_id")) == [("p1",), ("p3",)]


@pytest.fixture
def both(spark: SparkSession, tmp_path: Path) -> Project:
    """A project with web's page views and the media models."""
    site = MediaSite(spark, tmp_path, disabled_models=["sessions", "users", "user_mapping"])
    site.arrive(media_event("1", "s", "2024-01-02 10:00", page="p"))
    return site.project()


@pytest.mark.slow
def test_packages_on_one_base_run_together_or_alone(both: Project):
    assert both.package_names() == ["web+media_player"]
    now = at("2024-01-03 00:00")
    alone = both.run("media_player", now=now)
    assert {outcome.name for outcome in alone.models} == {
        f"snowplow_media_player_{name}"
        for name in (
            *("pivot_base", "interactions_this_run", "play_parts", "media_durations", "base"),
            *("plays_by_pageview", "media_totals", "media_stats", "retention"),
        )
    }
    web = both.run("web", now=now)
    assert [outcome.name for outcome in web.models] == ["snowplow_web_page_views"]
    assert len(both.plan("web+media_player", now=now).models) == 10

    # To begin web anew is not to forget what media has done, nor the sessions they share.
    both.run("web", now=now, full_refresh=True)
    status = both.status("web+media_player", now=now)
    assert (status.package, status.out_of_sync) == ("web+media_player", [])
    with pytest.raises(UsageError, match="'mobile' is not in"):
        both.package_names("web+mobile")


@pytest.mark.ci
def test_media_alone_needs_no_table_of_web(spark: SparkSession, tmp_path: Path):
    site = MediaSite(spark, tmp_path)
    text = (tmp_path / "windrow.yml").read_text()
    (tmp_path / "windrow.yml").write_text(text.replace("  web:\n", "  web:\n    enabled: false\n"))
    assert site.project().package_names() == ["media_player"]
    assert {member.package for member in site.project().models("media_player")} == {"media_player"}
