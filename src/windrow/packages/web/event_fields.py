"""Columns that the web tables share: fields of an event as they are, and what is often added."""

from __future__ import annotations

from windrow.atomic.columns import STANDARD_COLUMNS
from windrow.atomic.entity_columns import IAB, UA_PARSER, YAUAA
from windrow.columns.rules import column, with_note
from windrow.tables import Columns

PAGE = (
    "page_title",
    "page_url",
    "page_urlscheme",
    "page_urlhost",
    "page_urlpath",
    "page_urlquery",
    "page_urlfragment",
)
REFERRER = (
    "refr_urlscheme",
    "refr_urlhost",
    "refr_urlpath",
    "refr_urlquery",
    "refr_urlfragment",
    "refr_medium",
    "refr_source",
    "refr_term",
)
MARKETING = (
    "mkt_medium",
    "mkt_source",
    "mkt_term",
    "mkt_content",
    "mkt_campaign",
    "mkt_clickid",
    "mkt_network",
)
GEO = (
    "geo_country",
    "geo_region",
    "geo_region_name",
    "geo_city",
    "geo_zipcode",
    "geo_latitude",
    "geo_longitude",
    "geo_timezone",
)


_EVENT_COLUMNS: Columns = {
    **STANDARD_COLUMNS,
    "domain_userid": column(
        "string",
        "Id of the user in the site's own cookie, the same for a whole session: that of its "
        "earliest event with one.",
    ),
}
"""The standard columns as the models get them: a run gives every session one user."""


def fields(*names: str) -> dict[str, str]:
    """Standard event columns with their types and rules."""
    return {name: _EVENT_COLUMNS[name] for name in names}


PAGE_VIEW_ID: Columns = {
    "page_view_id": column("string", "Id of the page view, from the event's web page entity.")
}
REFERRER_URL: Columns = {"referrer": STANDARD_COLUMNS["page_referrer"]}
SOURCE_PLATFORM: Columns = {
    "mkt_source_platform": column(
        "string", "Value of `utm_source_platform` in the query of the page's URL, null if empty."
    )
}
COUNTRY_NAMES: Columns = {
    "geo_country_name": column("string", "Name of the country, by the list of countries."),
    "geo_continent": column("string", "Continent of the country, by the list of countries."),
}
LANGUAGE_NAME: Columns = {
    "br_lang_name": column("string", "Name of the browser's language, by the list of languages.")
}
CHANNEL_GROUP: Columns = {
    "default_channel_group": column(
        "string",
        "Channel by marketing source, medium and campaign, such as `Paid Search` or `Unassigned`, "
        "unless the hook `channel_group` says otherwise.",
    )
}

CAME_FROM: Columns = {
    **REFERRER_URL,
    **fields(*REFERRER, *MARKETING),
    **SOURCE_PLATFORM,
    **CHANNEL_GROUP,
}
"""Where a visit came from, as sessions and users have it."""

_YAUAA = with_note(YAUAA.fields, "null without `enable_yauaa`")

ENRICHED: Columns = {
    **with_note(IAB.fields, "null without `enable_iab`"),
    **with_note(UA_PARSER.fields, "null without `enable_ua`"),
    "device_class": _YAUAA["device_class"],
    "device_category": column(
        "string", "`Desktop`, `Mobile` for a phone, `Tablet` or `Other`, by `device_class`."
    ),
    "screen_resolution": column(
        "string", "Width and height of the screen, as `414x896`, null if either is unknown."
    ),
    **{name: type_ for name, type_ in _YAUAA.items() if name != "device_class"},
}
"""The enrichment columns in table order, with what is derived of them in its place."""
