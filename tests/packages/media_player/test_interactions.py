"""interactions_this_run: which media, which player, how far, and what that is worth."""

from __future__ import annotations

import pytest
from pyspark.sql import DataFrame, SparkSession

from media import interactions, media_event
from website import event, events_this_run, rows
from windrow.packages.media_player.interactions import COLUMNS

YT, HTML, NONE = "com.youtube-youtube", "org.whatwg-media_element", "unknown"


@pytest.fixture(scope="module")
def of_players(spark: SparkSession) -> DataFrame:
    """An event of a YouTube player, of a video element, of an audio element, and of none."""
    return events_this_run(
        spark,
        [
            media_event("1", "s", "2024-01-10 10:00", youtube="yt"),
            media_event("2", "s", "2024-01-10 10:00", element="film", size=(1280, 720)),
            media_event("3", "s", "2024-01-10 10:00", element="song", media_type="AUDIO"),
            media_event("4", "s", "2024-01-10 10:00", youtube=None),
            event("5", "s", "2024-01-10 10:00", "page_ping", page="page"),
        ],
    )


@pytest.mark.parametrize(
    ("switches", "expected"),
    [
        (
            {"enable_whatwg_media": False, "enable_whatwg_video": False},
            {
                "1": ("yt", YT, "https://youtube/yt", "video", "hd"),
                "2": (None, NONE, None, "video", None),
                "3": (None, NONE, None, "video", None),
                "4": (None, NONE, None, "video", None),
            },
        ),
        (
            {"enable_youtube": False, "enable_whatwg_video": False},
            {
                "1": (None, NONE, None, "video", "N/A"),
                "2": ("film", HTML, "film.mp4", "video", "N/A"),
                "3": ("song", HTML, "song.mp4", "audio", "N/A"),
                "4": (None, NONE, None, "video", "N/A"),
            },
        ),
        (
            {"enable_youtube": False},
            {
                "1": (None, NONE, None, "video", None),
                "2": ("film", HTML, "film.mp4", "video", "1280x720"),
                "3": ("song", HTML, "song.mp4", "audio", None),
                "4": (None, NONE, None, "video", None),
            },
        ),
        (
            {"enable_whatwg_video": False},
            {
                "1": ("yt", YT, "https://youtube/yt", "video", "hd"),
                "2": ("film", HTML, "film.mp4", "video", None),
                "3": ("song", HTML, "song.mp4", "audio", None),
                "4": (None, NONE, None, "video", None),
            },
        ),
        (
            {},
            {
                "1": ("yt", YT, "https://youtube/yt", "video", "hd"),
                "2": ("film", HTML, "film.mp4", "video", "1280x720"),
                "3": ("song", HTML, "song.mp4", "audio", None),
                "4": (None, NONE, None, "video", None),
            },
        ),
        (
            {"compat": True, "enable_whatwg_media": False, "enable_whatwg_video": False},
            {
                "1": ("yt", YT, "https://youtube/yt", "video", "hd"),
                "2": (None, YT, None, "video", None),
                "3": (None, YT, None, "video", None),
                "4": (None, YT, None, "video", None),
            },
        ),
    ],
)
def test_switches_say_where_media_and_player_come_from(
    of_players: DataFrame, switches: dict[str, bool], expected: dict[str, tuple]
):
    found = interactions(of_players, **switches).select(
        "event_id", "media_id", "media_player_type", "source_url", "media_type", "playback_quality"
    )
    assert {row[0]: tuple(row)[1:] for row in found.collect()} == expected


def test_in_the_reference_html5_audio_is_video(of_players: DataFrame):
    found = interactions(of_players, compat=True).where("media_id = 'song'")
    assert rows(found.select("media_type")) == [("video",)]


@pytest.mark.parametrize("compat", [False, True])
def test_boundaries_are_worth_the_seconds_since_the_one_before(spark: SparkSession, compat: bool):
    at = "2024-01-10 10:00"
    events = events_this_run(
        spark,
        [
            media_event("10", "s", at, "percentprogress", percent=10, duration=89.6),
            media_event("33", "s", at, "percentprogress", percent=33),
            media_event("50", "s", at, "percentprogress", percent=50, muted=True),
            media_event("end", "s", at, "ended", percent=99, rate=None),
            media_event("odd", "s", at, "percentprogress", percent=50, duration=None, muted=None),
            media_event("play", "s", at),
        ],
    )
    every = interactions(events, percent_progress_boundaries=[10, 50], compat=compat)
    assert dict(every.dtypes) == COLUMNS
    kinds = ("playback_rate", "is_muted", "is_live", "loop", "volume", "percent_progress")
    assert [COLUMNS[name] for name in kinds] == [
        *("double", "boolean", "boolean", "boolean", "int", "int")
    ]
    found = every.select(
        *("event_id", "percent_progress", "duration", "play_time_sec", "play_time_sec_muted"),
        "playback_rate",
    )
    assert rows(found) == [
        ("10", 10, 90.0, 9, 0, 1.0),
        ("33", 33, 100.0, 0, 0, 1.0),
        ("50", 50, 100.0, 40, 40, 1.0),
        ("end", 100, 100.0, 50, 0, 1.0),
        ("odd", 50, None, 0, 0, 1.0),
        ("play", None, 100.0, 0, 0, 1.0),
    ]


def test_a_play_has_the_id_that_the_sql_package_gives_it(spark: SparkSession):
    page = "16b7a187-0437-4573-8fbb-e6d9cf1ac171"
    at = "2024-01-10 10:00"
    events = events_this_run(
        spark,
        [
            media_event("1", "s", at, page=page, youtube="yt-dbt-coalesce-2021"),
            media_event("2", "s", at, page=None, youtube="x"),
        ],
    )
    found = interactions(events).select("event_id", "play_id")
    # The second: md5 of "-x".
    assert rows(found) == [
        ("1", "c888479691e94726ab00e15ccd56cb06"),
        ("2", "d25c186e3f3096a9ff4a918f7b3141d4"),
    ]


@pytest.mark.parametrize("compat", [False, True])
def test_bots_are_left_out_when_asked(spark: SparkSession, compat: bool):
    events = events_this_run(
        spark,
        [
            media_event("1", "s", "2024-01-10 10:00"),
            media_event("2", "s", "2024-01-10 10:00", useragent="Somebot/1.0"),
        ],
    )
    assert interactions(events, compat=compat).count() == 2
    asked = interactions(events, ua_bot_filter=True, compat=compat)
    assert rows(asked.select("event_id")) == [("1",)]
