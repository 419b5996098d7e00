"""Media players on a little website, for tests: literal events in, rows out."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame, SparkSession

from website import Event, Site, event
from windrow.atomic.entity_columns import (
    MEDIA_ELEMENT,
    MEDIA_PLAYER,
    MEDIA_PLAYER_EVENT,
    VIDEO_ELEMENT,
    YOUTUBE,
)
from windrow.config import PackageSettings
from windrow.models.hooks import Hooks
from windrow.packages.media_player.base import base
from windrow.packages.media_player.interactions import interactions_this_run
from windrow.packages.media_player.media_durations import media_durations
from windrow.packages.media_player.play_parts import COLUMNS as PART_COLUMNS
from windrow.packages.media_player.play_parts import play_parts
from windrow.packages.media_player.reference_base import reference_base
from windrow.packages.media_player.settings import MediaPlayerSettings
from windrow.tables.frames import frame_of

ALL_PLAYERS = {"enable_youtube": True, "enable_whatwg_media": True, "enable_whatwg_video": True}


def media_event(
    event_id: str,
    session: str | None,
    when: str,
    type: str = "play",
    *,
    page: str | None = "page",
    youtube: str | None = "film",
    element: str | None = None,
    media_type: str = "VIDEO",
    percent: int | None = None,
    duration: float | None = 100,
    muted: bool | None = False,
    rate: float | None = 1.0,
    label: str | None = "A film",
    size: tuple[int | None, int | None] | None = None,
    **columns: Any,
) -> Event:
    """What a player reports at `when`; `youtube` or `element` is its id in the page."""
    state = {
        "duration": None if duration is None else float(duration),
        "muted": muted,
        "percent_progress": percent,
        "playback_rate": rate,
    }
    shown = {"player_id": youtube, "url": f"https://youtube/{youtube}", "playback_quality": "hd"}
    played = {"html_id": element, "current_src": f"{element}.mp4", "media_type": media_type}
    if element is not None:
        youtube = None
    return event(
        event_id,
        session,
        when,
        "media_player_event",
        page=page,
        **{
            MEDIA_PLAYER_EVENT.name: {"type": type, "label": label},
            MEDIA_PLAYER.name: [{name: state.get(name) for name in MEDIA_PLAYER.fields}],
            YOUTUBE.name: [shown] if youtube else None,
            MEDIA_ELEMENT.name: [played] if element else None,
            VIDEO_ELEMENT.name: [dict(zip(VIDEO_ELEMENT.fields, size, strict=True))]
            if size
            else None,
            **columns,
        },
    )


def settings(**options: Any) -> MediaPlayerSettings:
    return MediaPlayerSettings.model_validate({**ALL_PLAYERS, **options})


def interactions(events: DataFrame, **options: Any) -> DataFrame:
    return interactions_this_run(events, settings(**options), Hooks())


def plays(spark: SparkSession, events: DataFrame, **options: Any) -> DataFrame:
    """The rows of base that one run over these events makes."""
    chosen = settings(**options)
    media_events = interactions(events, **options)
    if chosen.compat:
        return reference_base(media_events, chosen)
    nothing = frame_of(spark, [], PART_COLUMNS)
    parts = play_parts(media_events, nothing, nothing)
    return base(parts, durations(parts), chosen)


def durations(parts: DataFrame) -> DataFrame:
    """How long media last, of these parts alone."""
    return media_durations(parts, parts, 9, parts, parts.limit(0), None)


class MediaSite(Site):
    """A project with the media player package, and of web no more than its base."""

    package = "web+media_player"

    def packages(self, settings: dict[str, Any]) -> dict[str, Any]:
        names = {*MediaPlayerSettings.model_fields} - {*PackageSettings.model_fields}
        own = {name: settings.pop(name) for name in set(settings) & {*names, "compat"}}
        web = ["page_views", "sessions", "users", "user_mapping"]
        return {
            "web": {"disabled_models": web, **settings},
            "media_player": {**ALL_PLAYERS, **own},
        }
