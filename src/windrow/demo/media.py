"""Media on product pages: some of a page view's beats are events of a player instead of pings."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from windrow.atomic.entity_columns import (
    MEDIA_ELEMENT,
    MEDIA_PLAYER,
    MEDIA_PLAYER_EVENT,
    VIDEO_ELEMENT,
    YOUTUBE,
)
from windrow.demo.draws import between, draw, nth, one_of
from windrow.demo.pages import PRODUCT

EVENT = "media_player_event"

# Of a hundred views of product pages, how many show something to play.
MEDIA_SHARE = 0.4
MUTED_SHARE = 0.25
FILMS = 12

# What players report, beat by beat, and the percent that goes with it.
STORY: tuple[tuple[str, int | None], ...] = (
    ("play", None),
    ("percentprogress", 10),
    ("percentprogress", 25),
    ("pause", None),
    ("play", None),
    ("percentprogress", 50),
    ("seek", None),
    ("percentprogress", 75),
    ("ended", 100),
)
AFTERWARDS = ("volumechange", None)


def with_media(named_events: DataFrame) -> DataFrame:
    """The events with those of players among them; there are as many as before."""
    is_shown = draw("media", F.col("page_key")) < MEDIA_SHARE
    is_beat = F.col("event_name") == "page_ping"
    is_media = (F.col("page_kind") == PRODUCT) & is_shown & is_beat
    return named_events.withColumn(
        "event_name", F.when(is_media, EVENT).otherwise(F.col("event_name"))
    )


def media_columns(site: str) -> dict[str, Column]:
    """The event's own column and its entities, filled where the event is a player's."""
    is_media = F.col("event_name") == EVENT
    film = between(1, FILMS, "film", F.col("page_urlpath"))
    is_youtube = film % 3 != 0
    is_audio = film % 6 == 0
    return {
        MEDIA_PLAYER_EVENT.name: F.when(is_media, _what_happened(film)),
        MEDIA_PLAYER.name: F.when(is_media, F.array(_player(film))),
        YOUTUBE.name: F.when(is_media & is_youtube, F.array(_youtube(film))),
        MEDIA_ELEMENT.name: F.when(is_media & ~is_youtube, F.array(_element(film, is_audio, site))),
        VIDEO_ELEMENT.name: F.when(
            is_media & ~is_youtube & ~is_audio,
            F.array(
                F.struct(F.lit(1280).alias("video_width"), F.lit(720).alias("video_height")),
            ),
        ),
    }


def _beat() -> Column:
    return F.least(F.col("slot") - 1, F.lit(len(STORY)))


def _what_happened(film: Column) -> Column:
    types = [kind for kind, _ in (*STORY, AFTERWARDS)]
    return F.struct(
        nth(types, _beat()).alias("type"), F.concat(F.lit("Film "), film).alias("label")
    )


def _player(film: Column) -> Column:
    duration = between(40, 600, "length of a film", film)
    percent = nth([percent for _, percent in (*STORY, AFTERWARDS)], _beat(), "int")
    values = {
        "current_time": percent * duration / 100,
        # The first event comes before the player knows how long the film is.
        "duration": F.when(F.col("slot") > 1, duration),
        "ended": percent == 100,
        "is_live": F.lit(False),
        "loop": F.lit(False),
        "muted": draw("muted", F.col("page_key")) < MUTED_SHARE,
        "paused": F.lit(False),
        "percent_progress": F.when(percent < 100, percent),
        "playback_rate": one_of(("1", "1", "1", "1.5", "2"), "rate", F.col("page_key")),
        "volume": F.lit(80),
    }
    return F.struct(
        *(values[name].cast(kind).alias(name) for name, kind in MEDIA_PLAYER.fields.items())
    )


def _youtube(film: Column) -> Column:
    return F.struct(
        F.concat(F.lit("yt-film-"), film).alias("player_id"),
        F.concat(F.lit("https://www.youtube.com/watch?v=film-"), film).alias("url"),
        F.lit("hd720").alias("playback_quality"),
    )


def _element(film: Column, is_audio: Column, site: str) -> Column:
    return F.struct(
        F.concat(F.lit("film-"), film).alias("html_id"),
        F.concat(F.lit(f"{site}/media/"), film).alias("current_src"),
        F.when(is_audio, "AUDIO").otherwise("VIDEO").alias("media_type"),
    )
