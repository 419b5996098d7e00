"""interactions_this_run: one row per media event, with whose playback it tells of and how far."""

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
from windrow.columns import devices
from windrow.columns.rules import column
from windrow.models.checks import Expression, NotNull
from windrow.models.hooks import Hooks
from windrow.models.model import Reads, model
from windrow.models.parts.entities import fields_of_first
from windrow.models.parts.people import is_human
from windrow.packages.media_player.settings import END, MediaPlayerSettings
from windrow.packages.web.event_fields import PAGE_VIEW_ID, fields
from windrow.tables import Columns

EVENT = "media_player_event"
PLAYER_OF_YOUTUBE = "com.youtube-youtube"
PLAYER_OF_HTML5 = "org.whatwg-media_element"
UNKNOWN_PLAYER = "unknown"
ENDED = "ended"

_NULL_IN_KEYS = "_dbt_utils_surrogate_key_null_"
"""What stands for null in keys where it is not empty text; keys must equal the SQL packages'."""

MEDIA: Columns = {
    "media_id": column("string", "Id of the player's element in the page, which names the media."),
    "media_label": column("string", "Label of the media, as the tracker was told it."),
    "media_type": column("string", "`audio` or `video`."),
    "media_player_type": column(
        "string",
        f"`{PLAYER_OF_YOUTUBE}` or `{PLAYER_OF_HTML5}`, `{UNKNOWN_PLAYER}` without a media id.",
    ),
}
PLAY_ID: Columns = {
    "play_id": column("string", "Id of the play: hash of page view id and media id.")
}

COLUMNS: Columns = {
    **PLAY_ID,
    **fields("event_id"),
    **PAGE_VIEW_ID,
    **fields("domain_sessionid", "domain_userid", "page_referrer", "page_url"),
    "media_label": MEDIA["media_label"],
    "duration": column("double", "Duration of the media in whole seconds, as this event knows it."),
    **fields("geo_region_name", "br_name", "dvce_type", "os_name", "os_timezone"),
    "event_type": MEDIA_PLAYER_EVENT.fields["type"],
    "start_tstamp": column("timestamp", "When the event happened: its `derived_tstamp`."),
    "player_current_time": MEDIA_PLAYER.fields["current_time"],
    "playback_rate": column("double", "Speed of the playback; 1 where it is not told."),
    "percent_progress": column(
        "int", "Percent of the media that playback has come to; 100 when it ended."
    ),
    "is_muted": MEDIA_PLAYER.fields["muted"],
    "is_live": MEDIA_PLAYER.fields["is_live"],
    "loop": MEDIA_PLAYER.fields["loop"],
    "volume": MEDIA_PLAYER.fields["volume"],
    "media_id": MEDIA["media_id"],
    "media_player_type": MEDIA["media_player_type"],
    "source_url": column("string", "URL of the video or of the file that is played."),
    "media_type": MEDIA["media_type"],
    "playback_quality": column(
        "string", "Quality of the playback, or width and height of the video, as `1280x720`."
    ),
    "play_time_sec": column(
        "int", "Seconds since the boundary before, where a boundary is reached; otherwise 0."
    ),
    "play_time_sec_muted": column("int", "The same where the player is muted; otherwise 0."),
}


def _reads(settings: MediaPlayerSettings) -> tuple[str, ...]:
    return (
        *("event_id", "domain_sessionid", "page_referrer", "page_url", "geo_region_name"),
        *("br_name", "dvce_type", "os_name", "os_timezone", "derived_tstamp", "event_name"),
        *(("useragent",) if settings.ua_bot_filter else ()),
        *(MEDIA_PLAYER_EVENT.name, MEDIA_PLAYER.name),
        *((YOUTUBE.name,) if settings.enable_youtube else ()),
        *((MEDIA_ELEMENT.name,) if settings.enable_whatwg_media else ()),
        *((VIDEO_ELEMENT.name,) if settings.enable_whatwg_video else ()),
    )


@model(
    kind="this_run",
    key="event_id",
    columns=COLUMNS,
    reads=Reads(_reads),
    checks=(
        Expression("duration > 0", shows=("media_id", "duration"), severity="warn"),
        NotNull(("media_id", "page_view_id"), severity="warn"),
    ),
)
def interactions_this_run(
    events: DataFrame, settings: MediaPlayerSettings, hooks: Hooks
) -> DataFrame:
    """One row per media event of the run: what happened in which player, and how far it had come.

    Events without a page view or media id are here, and in no other table.
    """
    media_events = events.where((F.col("event_name") == EVENT) & is_human(settings, hooks))
    player = F.get(F.col(MEDIA_PLAYER.name), F.lit(0))
    event = F.col(MEDIA_PLAYER_EVENT.name)
    described = media_events.withColumns(
        {
            **_media(settings),
            "media_label": event.getField("label"),
            "event_type": event.getField("type"),
            "duration": F.round(player.getField("duration")),
            "start_tstamp": F.col("derived_tstamp"),
            "player_current_time": player.getField("current_time"),
            "playback_rate": F.coalesce(player.getField("playback_rate"), F.lit(1.0)),
            "percent_progress": F.when(event.getField("type") == ENDED, F.lit(END)).otherwise(
                player.getField("percent_progress")
            ),
            "is_muted": player.getField("muted"),
            "is_live": player.getField("is_live"),
            "loop": player.getField("loop"),
            "volume": player.getField("volume"),
        }
    )
    if not settings.compat:
        known = F.when(F.col("media_id").isNotNull(), F.col("media_player_type"))
        described = described.withColumn(
            "media_player_type", F.coalesce(known, F.lit(UNKNOWN_PLAYER))
        )

    timed = described.withColumn("play_time_sec", _play_time(settings))
    return timed.withColumns(
        {
            "play_id": _surrogate_key(settings, "page_view_id", "media_id"),
            "play_time_sec_muted": F.when(F.col("is_muted"), F.col("play_time_sec")).otherwise(0),
        }
    ).select(*COLUMNS)


def _media(settings: MediaPlayerSettings) -> dict[str, Column]:
    """What is played, and in which player: from the entities that the switches say there are."""
    youtube, element, video = (
        fields_of_first(entity, is_read=is_there)
        for entity, is_there in (
            (YOUTUBE, settings.enable_youtube),
            (MEDIA_ELEMENT, settings.enable_whatwg_media),
            (VIDEO_ELEMENT, settings.enable_whatwg_video),
        )
    )
    size = devices.screen_resolution(video["video_width"], video["video_height"])
    media_type = element["media_type"] if settings.compat else F.lower(element["media_type"])
    if settings.enable_youtube and settings.enable_whatwg_media:
        player = (
            F.when(youtube["player_id"].isNotNull(), PLAYER_OF_YOUTUBE)
            .when(element["html_id"].isNotNull(), PLAYER_OF_HTML5)
            .otherwise(UNKNOWN_PLAYER)
        )
    else:
        player = F.lit(PLAYER_OF_YOUTUBE if settings.enable_youtube else PLAYER_OF_HTML5)
    knows_quality = settings.enable_youtube or settings.enable_whatwg_video
    return {
        "media_id": F.coalesce(youtube["player_id"], element["html_id"]),
        "media_player_type": player,
        "source_url": F.coalesce(youtube["url"], element["current_src"]),
        "media_type": F.when(media_type == "audio", "audio").otherwise("video"),
        "playback_quality": F.coalesce(youtube["playback_quality"], size)
        if knows_quality
        else F.lit("N/A"),
    }


def _play_time(settings: MediaPlayerSettings) -> Column:
    """The seconds that reaching a boundary is worth, by the duration that the event knows."""
    weights = F.create_map(*(F.lit(part) for pair in settings.weights.items() for part in pair))
    weight = F.try_element_at(weights, F.col("percent_progress"))
    seconds = F.round(weight * F.col("duration") / F.lit(END))
    return F.coalesce(seconds.try_cast("int"), F.lit(0))


def _surrogate_key(settings: MediaPlayerSettings, *names: str) -> Column:
    null = "" if settings.surrogate_key_treat_nulls_as_empty_strings else _NULL_IN_KEYS
    return F.md5(F.concat_ws("-", *(F.coalesce(F.col(name), F.lit(null)) for name in names)))
