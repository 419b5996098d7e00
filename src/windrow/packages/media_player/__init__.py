"""media_player: plays of audio and video on web pages, per page view, media item, session, user.

It stands on web's base: the same run, sessions and manifests. Two kinds of tables keep the plays:

    interactions_this_run -> play_parts -> base -> plays_by_pageview
                               |            |
                               |            +-> media_totals -> media_stats, retention
                               +-> media_durations -> base

A page view can go on in another session, so that a play has parts in several. `play_parts` has a
row for each, and what the run does not bring of a play comes from there. What all plays of a media
item come to is carried on from run to run.
"""

from __future__ import annotations

from collections.abc import Sequence

from windrow.atomic.entity_columns import MEDIA_ELEMENT, VIDEO_ELEMENT, YOUTUBE
from windrow.models.hooks import FILTER_BOTS
from windrow.models.model import Model
from windrow.models.package import Package
from windrow.packages.media_player.base import base
from windrow.packages.media_player.interactions import interactions_this_run
from windrow.packages.media_player.media_durations import media_durations
from windrow.packages.media_player.media_stats import media_stats
from windrow.packages.media_player.media_totals import media_totals
from windrow.packages.media_player.pivot_base import pivot_base
from windrow.packages.media_player.play_parts import play_parts
from windrow.packages.media_player.plays_by_pageview import (
    plays_by_pageview,
    reference_plays_by_pageview,
)
from windrow.packages.media_player.reference_base import reference_base
from windrow.packages.media_player.reference_media_stats import reference_media_stats
from windrow.packages.media_player.retention import retention, retention_with_reference
from windrow.packages.media_player.session_stats import session_stats
from windrow.packages.media_player.settings import MediaPlayerSettings
from windrow.packages.media_player.user_stats import user_stats

__all__ = ["MEDIA_PLAYER"]

_PLAYS = (play_parts, media_durations, base, plays_by_pageview, media_totals, media_stats)
_PLAYS_OF_REFERENCE = (reference_base, reference_plays_by_pageview, reference_media_stats)


def _models(settings: MediaPlayerSettings) -> Sequence[Model]:
    return [
        *(pivot_base, interactions_this_run),
        *(_PLAYS_OF_REFERENCE if settings.compat else _PLAYS),
        *_retention(settings),
        *((session_stats, user_stats) if settings.enable_session_and_user_stats else ()),
    ]


def _retention(settings: MediaPlayerSettings) -> Sequence[Model]:
    if not settings.is_wanted(settings.enable_retention):
        return ()
    return (retention_with_reference if settings.compat else retention,)


MEDIA_PLAYER = Package(
    "media_player",
    MediaPlayerSettings,
    _models,
    hooks=(FILTER_BOTS,),
    views_in_reference=("plays_by_pageview",),
    options_of_columns={
        YOUTUBE.name: "enable_youtube",
        MEDIA_ELEMENT.name: "enable_whatwg_media",
        VIDEO_ELEMENT.name: "enable_whatwg_video",
    },
)
