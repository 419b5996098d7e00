"""Fields of an event's entities."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from windrow.atomic.entity_columns import WEB_PAGE, EntityColumn


def first_of(entity: EntityColumn, field: str) -> Column:
    """A field of the first entity of its kind; null where the event has none."""
    return F.get(F.col(entity.name), F.lit(0)).getField(field)


def unknown(entity: EntityColumn, field: str) -> Column:
    """Null, of the field's type: what stands in for an entity that is not read."""
    return F.lit(None).cast(entity.fields[field])


def page_view_id() -> Column:
    """The id of the page view an event belongs to, from its web-page entity."""
    return first_of(WEB_PAGE, "id")
