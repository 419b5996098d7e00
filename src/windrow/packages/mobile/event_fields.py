"""What every mobile event is given: fields of its entities, under the names that the tables use.

Location fields are doubles, in `compat` too: the reference makes 32-bit floats of them on Spark,
but its own published tables hold the full numbers. An empty array of entities gives nulls.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import Window as W
from pyspark.sql import functions as F

from windrow.atomic.columns import STANDARD_COLUMNS
from windrow.atomic.entity_columns import (
    APPLICATION,
    CLIENT_SESSION,
    GEOLOCATION,
    MOBILE_CONTEXT,
    SCREEN,
    SCREEN_VIEW,
    EntityColumn,
)
from windrow.atomic.fields import first_of
from windrow.columns.rules import column
from windrow.models.parts.entities import fields_of_first
from windrow.models.parts.first_events import EARLIEST
from windrow.packages.mobile.settings import MobileSettings
from windrow.tables import Columns

CONTEXTS: dict[str, tuple[EntityColumn, str]] = {
    "enable_screen_context": (SCREEN, "screen_"),
    "enable_mobile_context": (MOBILE_CONTEXT, ""),
    "enable_geolocation_context": (GEOLOCATION, "device_"),
    "enable_application_context": (APPLICATION, ""),
}
"""Option -> the entity that it turns on, and what the names of its columns begin with."""

SCREEN_VIEW_PREFIX = "screen_view_"

_OF_CLIENT_SESSION = {
    "session_index": "session_index",
    "previous_session_id": "previous_session_id",
    "session_first_event_id": "first_event_id",
}


def _prefix_fields(entity: EntityColumn, prefix: str) -> Columns:
    return {prefix + name: kind for name, kind in entity.fields.items()}


ADDED: Columns = {
    **_prefix_fields(SCREEN_VIEW, SCREEN_VIEW_PREFIX),
    **{
        name: kind
        for context in CONTEXTS.values()
        for name, kind in _prefix_fields(*context).items()
    },
    **{name: CLIENT_SESSION.fields[field] for name, field in _OF_CLIENT_SESSION.items()},
    "session_id": CLIENT_SESSION.fields["session_id"],
    "device_user_id": CLIENT_SESSION.fields["user_id"],
    "event_index_in_session": column(
        "int", "Number of the event among its session's events, in the order of their times."
    ),
}
"""The columns that an event has beside those of the events table."""

SESSION = ("session_id", "session_index", "previous_session_id", "session_first_event_id")
SHOWN = ("screen_view_name", "screen_view_transition_type", "screen_view_type")
SCREEN_SIZE = ("dvce_screenwidth", "dvce_screenheight")
DEVICE = (
    *("device_manufacturer", "device_model", "os_type", "os_version"),
    *("android_idfa", "apple_idfa", "apple_idfv", "open_idfa"),
)
LOCATION = tuple(_prefix_fields(GEOLOCATION, "device_"))
GEO = (
    *("geo_country", "geo_region", "geo_city", "geo_zipcode"),
    *("geo_latitude", "geo_longitude", "geo_region_name", "geo_timezone"),
)
PHONE = ("platform", *SCREEN_SIZE, *DEVICE)
PLACE = (*LOCATION, *GEO)
NETWORK = ("carrier", "network_technology", "network_type")
APP = ("build", "version")


def fields(*names: str) -> Columns:
    """Columns of an event with their types."""
    known = {**STANDARD_COLUMNS, **ADDED}
    return {name: known[name] for name in names}


def read_for(*names: str) -> tuple[str, ...]:
    """Of these columns, those that must be read from the events table; the others are added."""
    wanted = dict.fromkeys((*names, *EARLIEST))
    return tuple(name for name in wanted if name in STANDARD_COLUMNS)


def entities(settings: MobileSettings) -> tuple[EntityColumn, ...]:
    """The entities and events whose fields every event is given."""
    enabled = (entity for option, (entity, _) in CONTEXTS.items() if getattr(settings, option))
    return (CLIENT_SESSION, SCREEN_VIEW, *enabled)


def added_fields(settings: MobileSettings) -> dict[str, Column]:
    """Column -> value; all there, and null where the option is off."""
    added = {
        SCREEN_VIEW_PREFIX + name: F.col(SCREEN_VIEW.name).getField(name).cast(kind)
        for name, kind in SCREEN_VIEW.fields.items()
    }
    for option, (entity, prefix) in CONTEXTS.items():
        of_entity = fields_of_first(entity, is_read=getattr(settings, option))
        added |= {prefix + name: value for name, value in of_entity.items()}
    session = {name: first_of(CLIENT_SESSION, field) for name, field in _OF_CLIENT_SESSION.items()}
    return added | session


def fields_in_session() -> dict[str, Column]:
    """Column -> value, of what an event gets by its place among its session's events."""
    in_session = W.partitionBy("session_id").orderBy(*EARLIEST)
    return {"event_index_in_session": F.row_number().over(in_session)}
