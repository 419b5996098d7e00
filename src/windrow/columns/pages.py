"""Which page view an event belongs to."""

from __future__ import annotations

from pyspark.sql import Column

from windrow.columns.entities import first_of
from windrow.event_columns import WEB_PAGE


def page_view_id() -> Column:
    """The id of the page view an event belongs to, from its web-page entity."""
    return first_of(WEB_PAGE, "id")
