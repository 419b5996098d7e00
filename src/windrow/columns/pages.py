"""Which page view an event belongs to."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from windrow.event_columns import WEB_PAGE


def page_view_id() -> Column:
    """The id of the page view an event belongs to, from its web-page entity."""
    return F.get(F.col(WEB_PAGE.name), F.lit(0)).getField("id")
