"""app_errors: one row per error that an application reported.

Beside the reference's columns it has where in the code the error was and what caused it, and room
for thread ids beyond 32 bits; with `compat` it has the reference's columns only.
"""

from __future__ import annotations

from datetime import datetime

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from windrow.atomic.entity_columns import APPLICATION_ERROR
from windrow.columns.rules import column, rule_of
from windrow.columns.timestamps import literal
from windrow.models.checks import NotNull
from windrow.models.extras import Extras
from windrow.models.model import Reads, Storage, model
from windrow.models.parts.time_columns import DERIVED_DATE, MODEL_TSTAMP
from windrow.packages.mobile.event_fields import (
    APP,
    NETWORK,
    PHONE,
    PLACE,
    SESSION,
    fields,
    read_for,
)
from windrow.packages.mobile.settings import MobileSettings
from windrow.tables import Columns

_ADDED = ("cause_stack_trace", "file_name", "line_column")
"""Fields of the error that the reference leaves out on Spark."""

_EVENT: Columns = {
    **fields("event_id", "app_id", "user_id", "device_user_id", "network_userid", *SESSION),
    **fields("dvce_created_tstamp", "collector_tstamp", "derived_tstamp"),
    **MODEL_TSTAMP,
    **fields(*PHONE),
    **fields("screen_id", "screen_name", "screen_activity", "screen_fragment"),
    **fields("screen_top_view_controller", "screen_type", "screen_view_controller"),
    **fields(*PLACE, "user_ipaddress", "useragent", *NETWORK, *APP),
    **fields("event_index_in_session"),
}


def columns(settings: MobileSettings) -> Columns:
    """The table's columns."""
    fields = dict(APPLICATION_ERROR.fields)
    if settings.compat:
        fields = {name: kind for name, kind in fields.items() if name not in _ADDED}
        fields["thread_id"] = column("int", rule_of(fields["thread_id"]))
    return {**_EVENT, **fields, **DERIVED_DATE}


@model(
    key="event_id",
    date="derived_tstamp",
    columns=columns,
    replaces="session_id",
    reads=Reads(
        (*read_for("event_name", *_EVENT), APPLICATION_ERROR.name),
        extras=Extras("events", by=("event_id", "session_id"), first=("event_id",)),
    ),
    storage=Storage(steps=("app_errors_this_run",)),
    checks=(
        NotNull(("session_id", "event_index_in_session", "collector_tstamp")),
        NotNull(("device_user_id", "session_index", "session_first_event_id"), severity="warn"),
        NotNull(("network_userid", "dvce_created_tstamp", "derived_tstamp"), severity="warn"),
    ),
)
def app_errors(events: DataFrame, settings: MobileSettings, now: datetime) -> DataFrame:
    """One row per application error: what went wrong, where in the code, and on which device."""
    errors = events.where(F.col("event_name") == "application_error")
    values = {
        "model_tstamp": literal(now),
        "derived_tstamp_date": F.to_date("derived_tstamp"),
        **{name: F.col(f"{APPLICATION_ERROR.name}.{name}") for name in APPLICATION_ERROR.fields},
    }
    return errors.select(
        *(
            # Text and numbers too long for their column are unknown, not a reason to stop.
            values.get(name, F.col(name)).try_cast(kind).alias(name)
            for name, kind in columns(settings).items()
        )
    )
