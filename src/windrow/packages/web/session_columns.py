"""The columns of web's sessions, each with its rule."""

from __future__ import annotations

from windrow.columns.rules import column, with_note
from windrow.models.parts.time_columns import MODEL_TSTAMP, START_DATE
from windrow.packages.web import conversions
from windrow.packages.web.event_fields import (
    CAME_FROM,
    COUNTRY_NAMES,
    ENRICHED,
    GEO,
    LANGUAGE_NAME,
    PAGE,
    fields,
)
from windrow.packages.web.settings import WebSettings
from windrow.tables import Columns

_EVENT_COUNTS: Columns = {
    "event_counts": column(
        "map<string,bigint>",
        "Event name -> number of the session's events with that name; "
        "there only with `list_event_counts`.",
    )
}

_FROM_FIRST = "from the session's first page view or ping"


def _first(*names: str) -> Columns:
    """Columns of the session's first page event, under the event's names."""
    return with_note(fields(*names), _FROM_FIRST)


def _from_last(test: str) -> str:
    """What sessions do for a column of their last page, in words."""
    return (
        f"from the session's last page view, or, if that has neither this nor `{test}`, "
        "from its first page view or ping"
    )


def columns(settings: WebSettings) -> Columns:
    """The table's columns; event counts and conversions come with their options."""
    return {**_visit(settings), **_origin(), **conversions.columns(settings), **START_DATE}


def _visit(settings: WebSettings) -> Columns:
    """Whose session it is, when it was, and what it adds up to."""
    return {
        **_first("app_id", "platform"),
        **fields("domain_sessionid"),
        **_first("domain_sessionidx"),
        "start_tstamp": column(
            "timestamp",
            "Time of the session's earliest event; `min_visit_length` seconds before it "
            "if that is a page ping.",
        ),
        "end_tstamp": column("timestamp", "Time of the session's latest event."),
        **MODEL_TSTAMP,
        **_first("user_id"),
        **fields("domain_userid"),
        "stitched_user_id": column(
            "string",
            "The user's id in `user_mapping`, or else `domain_userid`, unless the hook "
            "`stitch_user_identifiers` says otherwise; null without `session_stitching`.",
        ),
        **_first("network_userid"),
        "page_views": column(
            "bigint", "Number of different page views that the session has views or pings of."
        ),
        "engaged_time_in_s": column(
            "bigint",
            "Engaged seconds: for every page with pings `min_visit_length` for its first "
            "heartbeat with a ping, and `heartbeat` for every further one.",
        ),
        **(_EVENT_COUNTS if settings.list_event_counts else {}),
        "total_events": column("bigint", "Number of the session's events, whatever their name."),
        "is_engaged": column(
            "boolean",
            "True with two page views, two heartbeats of engaged time or a conversion; "
            "the hook `engaged_session` may say otherwise.",
        ),
        "absolute_time_in_s": column(
            "bigint",
            "Whole seconds from the earliest to the latest event, and `min_visit_length` more "
            "if the earliest is a page ping.",
        ),
    }


def _origin() -> Columns:
    """Its first and last page, and where the user came from, is, and with what device."""
    return {
        **with_note(fields(*PAGE), _FROM_FIRST, prefix="first_"),
        **with_note(fields(*PAGE), _from_last("page_url"), prefix="last_"),
        **with_note(CAME_FROM, _FROM_FIRST),
        **_first(*GEO),
        **with_note(COUNTRY_NAMES, _FROM_FIRST),
        **with_note(
            {**fields("geo_country", "geo_region_name", "geo_city"), **COUNTRY_NAMES},
            _from_last("geo_country"),
            prefix="last_",
        ),
        **_first("user_ipaddress", "useragent", "br_renderengine", "br_lang"),
        **with_note(LANGUAGE_NAME, _FROM_FIRST),
        **with_note({**fields("br_lang"), **LANGUAGE_NAME}, _from_last("br_lang"), prefix="last_"),
        **_first("os_timezone"),
        **with_note(ENRICHED, _FROM_FIRST),
    }
