"""screen_views: one row per screen view, numbered within its session.

A screen view id that two sessions have counts only where it is earliest. When another session of
an earlier run had it first, it stays there; the reference lets the later run take it away.
"""

from __future__ import annotations

from datetime import datetime

from pyspark.sql import Column, DataFrame
from pyspark.sql import Window as W
from pyspark.sql import functions as F

from windrow.columns.rules import column
from windrow.columns.timestamps import literal
from windrow.models.checks import NotNull, OneValuePer, Unique
from windrow.models.extras import Extras
from windrow.models.model import Reads, Storage, model
from windrow.models.parts.first_events import (
    EARLIEST,
    first_of_each,
    not_had_before,
    with_rows,
)
from windrow.models.parts.time_columns import DERIVED_DATE, MODEL_TSTAMP
from windrow.packages.mobile.event_fields import (
    APP,
    NETWORK,
    PHONE,
    PLACE,
    SESSION,
    SHOWN,
    fields,
    read_for,
)
from windrow.packages.mobile.settings import MobileSettings
from windrow.tables import Columns

COLUMNS: Columns = {
    **fields("screen_view_id", "event_id", "app_id", "user_id", "device_user_id", "network_userid"),
    **fields(*SESSION),
    "screen_view_in_session_index": column(
        "int", "Number of the screen view among its session's, in the order of their times."
    ),
    "screen_views_in_session": column("int", "Number of screen views that the session has."),
    **fields("dvce_created_tstamp", "collector_tstamp", "derived_tstamp"),
    **MODEL_TSTAMP,
    **fields(*SHOWN),
    **fields("screen_fragment", "screen_top_view_controller", "screen_view_controller"),
    **fields("screen_view_previous_id", "screen_view_previous_name", "screen_view_previous_type"),
    **fields(*PHONE, *PLACE),
    **fields("user_ipaddress", "useragent", *NETWORK, *APP),
    **DERIVED_DATE,
}


def _is_shown() -> Column:
    """True for an event that is a screen view and says of which screen."""
    return (F.col("event_name") == "screen_view") & F.col("screen_view_id").isNotNull()


@model(
    key="screen_view_id",
    date="derived_tstamp",
    columns=COLUMNS,
    replaces="session_id",
    reads=Reads(
        read_for("event_name", *COLUMNS),
        extras=Extras("events", by=("screen_view_id", "session_id"), first=EARLIEST, of=_is_shown),
    ),
    storage=Storage(steps=("screen_views_this_run",)),
    checks=(
        *(Unique("event_id"), NotNull("event_id"), NotNull("session_id")),
        Unique(("session_id", "screen_view_in_session_index")),
        OneValuePer("screen_views_in_session", per="session_id"),
        NotNull(("screen_view_in_session_index", "screen_views_in_session", "collector_tstamp")),
        NotNull(("device_user_id", "session_index", "session_first_event_id"), severity="warn"),
        NotNull(("network_userid", "dvce_created_tstamp", "derived_tstamp"), severity="warn"),
    ),
)
def screen_views(
    events: DataFrame, nearby: DataFrame, settings: MobileSettings, now: datetime
) -> DataFrame:
    """One row per screen view: what was shown, what before it, on which device and where."""
    views = events.where(_is_shown())
    firsts = first_of_each(
        views.select("screen_view_id", "session_id", *EARLIEST), "screen_view_id", EARLIEST
    )
    if not settings.compat:
        firsts = not_had_before(firsts, nearby, "screen_view_id", EARLIEST)

    in_session = W.partitionBy("session_id")
    indexed = firsts.select(
        *("screen_view_id", "session_id", "event_id"),
        F.row_number().over(in_session.orderBy(*EARLIEST)).alias("screen_view_in_session_index"),
        F.count(F.lit(1)).over(in_session).alias("screen_views_in_session"),
    )
    rows = with_rows(views.drop("screen_view_id"), indexed, "event_id", "session_id")
    made = {"model_tstamp": literal(now), "derived_tstamp_date": F.to_date("derived_tstamp")}
    return rows.withColumns(made).select(*(F.col(n).cast(kind) for n, kind in COLUMNS.items()))
