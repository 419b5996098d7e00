"""pivot_base, session_stats and user_stats, from literal events."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from media import media_event, plays, settings
from website import Event, at, events_this_run, rows
from windrow.models.model import Model
from windrow.packages.media_player import MEDIA_PLAYER
from windrow.packages.media_player.base import COLUMNS as BASE
from windrow.packages.media_player.media_stats import columns_for, media_stats
from windrow.packages.media_player.media_totals import totals
from windrow.packages.media_player.pivot_base import pivot_base
from windrow.packages.media_player.reference_media_stats import reference_media_stats
from windrow.packages.media_player.retention import retention
from windrow.packages.media_player.session_stats import session_stats
from windrow.packages.media_player.settings import MediaPlayerSettings
from windrow.packages.media_player.user_stats import user_stats
from windrow.tables.frames import frame_of


def play(session: str, page: str, *percents: int, **more: object) -> list[Event]:
    """A play on a page view of its own, to these percents."""
    when = "2024-01-10 10:0"
    begin = media_event(f"{page}-0", session, f"{when}0", page=page, **more)
    return [
        begin,
        *(
            media_event(
                f"{page}-{n}",
                session,
                f"{when}{n}",
                "percentprogress",
                page=page,
                percent=n * 25,
                **more,
            )
            for n in percents
        ),
    ]


@pytest.fixture(scope="module")
def base(spark: SparkSession) -> DataFrame:
    events = events_this_run(
        spark,
        [
            # Two plays of a film of 100 seconds and one of a sound; in another session only a look.
            *play("s1", "p1", 1, 2, cookie="u"),
            *play("s1", "p2", cookie="u"),
            *play("s1", "p3", 1, 2, 3, cookie="u", element="song", media_type="Audio", muted=True),
            media_event(
                "p3-end", "s1", "2024-01-10 10:09", "ended", page="p3", element="song", cookie="u"
            ),
            media_event("p4", "s2", "2024-01-11 10:00", "ready", page="p4", cookie="u"),
        ],
    )
    return plays(spark, events, complete_play_rate=0.9).localCheckpoint()


def test_a_session_has_its_plays_by_kind(base: DataFrame):
    found = session_stats(base).select(
        *("domain_sessionid", "impressions", "videos_played", "audio_played", "video_plays"),
        *("audio_plays", "valid_video_plays", "valid_audio_plays", "complete_plays"),
    )
    assert rows(found) == [("s1", 3, 1, 1, 2, 1, 1, 1, 1), ("s2", 1, 0, 0, 0, 0, 0, 0, 0)]


def test_a_session_has_its_play_time(base: DataFrame):
    found = session_stats(base).where("domain_sessionid = 's1'").first()
    # 40 of 100 seconds, 0 of 100, and 90 of 100: the song's first boundary is not reported.
    assert found["play_time_min"] == pytest.approx(130 / 60)
    assert found["play_time_min_muted"] == pytest.approx(65 / 60)
    assert found["avg_play_time_min"] == pytest.approx(130 / 3 / 60)
    assert found["avg_percent_played"] == pytest.approx(1.3 / 3)


@pytest.mark.parametrize(
    ("compat", "expected"), [(False, (130 / 60, 130 / 180, 1.3 / 3)), (True, (2, 0, 1.3 / 6))]
)
def test_a_user_has_minutes_and_shares_of_sessions_with_plays(
    base: DataFrame, compat: bool, expected: tuple[float, ...]
):
    found = user_stats(settings(compat=compat), session_stats(base)).collect()
    assert [(row["domain_userid"], row["video_plays"], row["audio_plays"]) for row in found] == [
        ("u", 2, 1)
    ]
    names = ("play_time_min", "avg_session_play_time_min", "avg_percent_played")
    assert tuple(found[0][name] for name in names) == pytest.approx(expected)


def test_boundaries_are_a_table_even_without_events(spark: SparkSession):
    nothing = spark.range(0)
    found = pivot_base(nothing, settings(percent_progress_boundaries=[50]))
    assert rows(found) == [(100, 50), (50, 50)]


def seen(
    media: str, page: str, when: str, label: str | None = None, seconds: int = 0, percent: str = ""
) -> list[Any]:
    """A row of base, of media that last 100 seconds; without a label it was not played."""
    known = {
        **{"play_id": f"{page} {media}", "page_view_id": page, "media_id": media},
        **{"start_tstamp": f"2024-01-{when}", "end_tstamp": f"2024-01-{when}"},
        **{"media_label": label or "A film", "duration": 100.0, "play_time_sec": seconds},
        **dict.fromkeys(("is_valid_play", "is_complete_play"), False),
        **{"is_played": label is not None, "percent_progress_reached": percent or None},
        **{"retention_rate": 0.0, "avg_playback_rate": 1.0},
    }
    return [known.get(name) for name in BASE]


def stats_of(plays: DataFrame, chosen: MediaPlayerSettings) -> DataFrame:
    """The rows of media_stats where these are all plays."""
    every = totals(plays)
    return media_stats(every, chosen, every.limit(0), every).localCheckpoint()


@pytest.mark.parametrize("compat", [False, True])
def test_stats_after_two_runs(spark: SparkSession, compat: bool):
    """What the reference adds to a stored row, against a row that is made of all plays."""
    # The second play goes on, under another label.
    film, going_on = seen("film", "p1", "10 20:00", "Old", percent="10"), ("film", "p2", "10 23:59")
    never = seen("never", "p1", "10 20:00")
    then = [
        seen(*going_on, "New", seconds=60),
        # Not played, though some of it was seen.
        seen("film", "p3", "11 10:00", seconds=30),
        seen("never", "p3", "11 10:00"),
        # From before the latest known start; and one whose last event is not ten hours ago.
        seen("film", "p0", "09 10:00", "Older"),
        seen("film", "p5", "12 23:00", "Newest"),
    ]
    first = frame_of(spark, [film, seen(*going_on, "New"), never], BASE)
    every = frame_of(spark, [film, never, *then], BASE)
    names = (
        *("media_id", "plays", "impressions", "first_play"),
        *("avg_percent_played", "avg_play_time_min"),
    )
    chosen = settings(compat=compat)
    if compat:
        nothing = frame_of(spark, [], columns_for(chosen))
        built = reference_media_stats(chosen, at("2024-01-11 00:00"), first, nothing)
        built = built.localCheckpoint()
        after = reference_media_stats(chosen, at("2024-01-13 00:00"), every, built)
    else:
        built = stats_of(first, chosen)
        after = stats_of(every, chosen)
    # A table without rows is built as a missing one, with its percent counts.
    assert rows(built.select(*names)) == [
        ("film", 2, 2, "2024-01-10 20:00:00", 0.0, 0.0),
        ("never", 0, 1, None, None, None),
    ]
    assert rows(built.select("media_label", "_10_percent_reached")) == [("A film", 0), ("New", 1)]
    if compat:
        # Not p0, nor what became of p2, and p5 not yet; the impression wiped one average, its
        # seconds count in another, and far dates appear.
        assert rows(after.select(*names, "media_label")) == [
            ("film", 2, 3, "2024-01-10 20:00:00", None, 0.25, "A film"),
            ("never", 0, 2, "2999-01-01 00:00:00", None, None, "A film"),
        ]
    else:
        # 60 of 100 seconds in one of four plays.
        averages = (pytest.approx(0.15), pytest.approx(0.25))
        assert rows(after.select(*names, "media_label")) == [
            ("film", 4, 5, "2024-01-09 10:00:00", *averages, "Newest"),
            ("never", 0, 2, None, None, None, "A film"),
        ]


@pytest.mark.parametrize("compat", [True, False])
def test_every_check_names_columns_of_its_table(compat: bool):
    chosen = settings(compat=compat, enable_session_and_user_stats=True)
    members = MEDIA_PLAYER.enabled_models(chosen)
    assert len(members) == (7 if compat else 11)
    for member in members:
        named = {name for check in member.all_checks for name in check.reads}
        assert named <= set(member.columns_for(chosen) or ()), member.name


@pytest.mark.parametrize("model", [media_stats, retention])
def test_a_table_that_is_behind_tells_of_all_media(spark: SparkSession, model: Model):
    every = totals(
        frame_of(
            spark, [seen("film", "p1", "10 20:00", "Old"), seen("song", "p2", "10 20:00")], BASE
        )
    )
    of_run = every.where("media_id = 'film'")
    found = [{row[0] for row in rows(model(of_run, settings(), every, it))} for it in (every, None)]
    assert found == [{"film"}, {"film", "song"}]


def test_retention_is_made_in_compat_only_if_asked_for():
    def names(**options: bool) -> set[str]:
        return {member.name for member in MEDIA_PLAYER.enabled_models(settings(**options))}

    assert "retention" in names()
    assert "retention" not in names(compat=True)
    assert "retention" in names(compat=True, enable_retention=True)
