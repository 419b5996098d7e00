"""Column lists that the web tables share: fields taken from an event as they are."""

from __future__ import annotations

from windrow.event_columns import IAB, STANDARD_COLUMNS, UA_PARSER, YAUAA
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


def typed(*names: str) -> dict[str, str]:
    """Standard event columns with their types."""
    return {name: STANDARD_COLUMNS[name] for name in names}


def strings(*names: str) -> dict[str, str]:
    """Columns that are text."""
    return dict.fromkeys(names, "string")


_device_class, *_other_yauaa = YAUAA.fields

ENRICHED: Columns = {
    **IAB.fields,
    **UA_PARSER.fields,
    **strings(_device_class, "device_category", "screen_resolution", *_other_yauaa),
}
"""The enrichment columns in table order, with what is derived of them in its place."""
