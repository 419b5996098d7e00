"""screen_views: one row per screen view, numbered within its session.

A screen view id that two sessions have counts only where it is earliest. When another session of
an earlier run had it first, it stays there; the reference lets the later run take it away.
"""

from __future__ import annotations

from datetime import datetime

from pyspark.sql import DataFrame
from pyspark.sql import Window as W
from pyspark.sql import functions as F

from windrow.columns.timestamps import literal
from windrow.config import MobileSettings
from windrow.model import model
from windrow.packages.mobile.event_fields import (
    APP,
    DEVICE,
    EARLIEST,
    GEO,
    LOCATION,
    NETWORK,
    SCREEN_SIZE,
    SESSION,
    SHOWN,
    read_for,
    typed,
)
from windrow.parts.first_events import first_of_each, not_had_before
from windrow.tables import Columns

COLUMNS: Columns = {
    **typed("screen_view_id", "event_id", "app_id", "user_id", "device_user_id", "network_userid"),
    **typed(*SESSION),
    "screen_view_in_session_index": "int",
    "screen_views_in_session": "int",
    **typed("dvce_created_tstamp", "collector_tstamp", "derived_tstamp"),
    "model_tstamp": "timestamp",
    **typed(*SHOWN),
    **typed("screen_fragment", "screen_top_view_controller", "screen_view_controller"),
    **typed("screen_view_previous_id", "screen_view_previous_name", "screen_view_previous_type"),
    **typed("platform", *SCREEN_SIZE, *DEVICE, *LOCATION, *GEO),
    **typed("user_ipaddress", "useragent", *NETWORK, *APP),
    "derived_tstamp_date": "date",
}


@model(
    key="screen_view_id",
    date="derived_tstamp",
    columns=COLUMNS,
    replaces="session_id",
    steps=("screen_views_this_run",),
    reads=read_for("event_name", *COLUMNS),
)
def screen_views(
    events: DataFrame, nearby: DataFrame, settings: MobileSettings, now: datetime
) -> DataFrame:
    """One row per screen view: what was shown, what before it, on which device and where."""
    has_id = F.col("screen_view_id").isNotNull()
    shown = events.where((F.col("event_name") == "screen_view") & has_id)
    views = first_of_each(shown, "screen_view_id", EARLIEST)
    if not settings.compat:
        views = not_had_before(views, nearby, "screen_view_id", EARLIEST)

    in_session = W.partitionBy("session_id")
    return views.withColumns(
        {
            "screen_view_in_session_index": F.row_number().over(in_session.orderBy(*EARLIEST)),
            "screen_views_in_session": F.count(F.lit(1)).over(in_session),
            "model_tstamp": literal(now),
            "derived_tstamp_date": F.to_date("derived_tstamp"),
        }
    ).select(*(F.col(name).cast(kind) for name, kind in COLUMNS.items()))
