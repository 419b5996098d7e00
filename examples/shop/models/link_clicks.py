"""Every link that was clicked, and the page it was clicked on."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from windrow import model


@model(key="event_id", date="derived_tstamp", tags=["shop"])
def link_clicks(events: DataFrame) -> DataFrame:
    """One row per click on a link."""
    clicks = events.where(F.col("event_name") == "link_click")
    return clicks.select(
        "event_id", "domain_sessionid", "domain_userid", "derived_tstamp", "page_url"
    )
