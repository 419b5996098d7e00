"""users: one row per device, over all sessions it ever had.

`user_id` is what the first event of the first session knew, so it is often null: for the current
id join `user_mapping`, or take `stitched_user_id` of the sessions. `screen_names_viewed` adds up
the sessions' counts, so a name seen in two sessions counts twice, and `active_days` are days on
which a session began.
"""

from __future__ import annotations

from datetime import datetime

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from windrow.columns.rules import column, with_note
from windrow.columns.timestamps import literal
from windrow.models.checks import NotNull
from windrow.models.model import Storage, model
from windrow.models.parts.declared_columns import select_declared
from windrow.models.parts.time_columns import MODEL_TSTAMP, START_DATE
from windrow.models.parts.users import STEPS, Summary, Visits, reads_sessions
from windrow.packages.mobile.devices import known_device
from windrow.packages.mobile.event_fields import GEO, SCREEN_SIZE, SHOWN, fields
from windrow.packages.mobile.settings import MobileSettings
from windrow.tables import Columns

_SUMS = ("screen_views", "screen_names_viewed", "app_errors", "fatal_app_errors")
_FIRST_SHOWN = tuple(f"first_{name}" for name in SHOWN)
_LAST_SHOWN = tuple(f"last_{name}" for name in SHOWN)
_CHANGING = ("os_version", "carrier")
"""What a device has at its first session and may have otherwise at its last."""

_FROM_FIRST = "from the device's first session"
_FROM_LAST = "from the device's last session"


def _first(*names: str, prefix: str = "") -> Columns:
    return with_note(fields(*names), _FROM_FIRST, prefix=prefix)


def _last(*names: str) -> Columns:
    return with_note(fields(*names), _FROM_LAST, prefix="last_")


COLUMNS: Columns = {
    **_first("user_id"),
    **fields("device_user_id"),
    **_first("network_userid"),
    "start_tstamp": column("timestamp", "Start of the device's first session."),
    "end_tstamp": column("timestamp", "End of the device's last session."),
    **MODEL_TSTAMP,
    "screen_views": column("bigint", "Screen views of all sessions together; null if none."),
    "screen_names_viewed": column(
        "bigint", "Sum of the sessions' `screen_names_viewed`: a name may count several times."
    ),
    "sessions": column("bigint", "Number of the device's sessions."),
    "sessions_duration_s": column("bigint", "Seconds of all sessions together."),
    "active_days": column("bigint", "Number of different days in UTC on which a session began."),
    "app_errors": column("bigint", "Errors of all sessions together; null if none."),
    "fatal_app_errors": column("bigint", "Errors that ended the app; null where none is known."),
    **_first(*SHOWN, prefix="first_"),
    **_last(*SHOWN),
    **_first("platform", *SCREEN_SIZE, "device_manufacturer", "device_model", "os_type"),
    **_first("os_version", prefix="first_"),
    **_last("os_version"),
    **_first("android_idfa", "apple_idfa", "apple_idfv", "open_idfa", *GEO),
    **_first("carrier", prefix="first_"),
    **_last("carrier"),
    **START_DATE,
}

_AS_FIRST = (
    *("user_id", "network_userid", *_FIRST_SHOWN, "platform", *SCREEN_SIZE),
    *("device_manufacturer", "device_model", "os_type"),
    *("android_idfa", "apple_idfa", "apple_idfv", "open_idfa", *GEO),
)
"""Columns that the user has from the first session, under the session's name."""


_SUMMARY = Summary(
    user="device_user_id",
    session="session_id",
    of_first={
        **{name: name for name in _AS_FIRST},
        **{f"first_{name}": name for name in _CHANGING},
    },
    of_last={
        **{name: name for name in _LAST_SHOWN},
        **{f"last_{name}": name for name in _CHANGING},
    },
    totals={**{name: name for name in _SUMS}, "sessions_duration_s": "session_duration_s"},
    days="active_days",
)


@model(
    key="device_user_id",
    date="start_tstamp",
    columns=COLUMNS,
    replaces="device_user_id",
    reads=reads_sessions(user="device_user_id", session="session_id"),
    storage=Storage(steps=STEPS),
    checks=(
        NotNull(("sessions", "active_days")),
        NotNull(("start_tstamp", "end_tstamp", "sessions_duration_s"), severity="warn"),
        NotNull("network_userid", severity="warn"),
    ),
)
def users(visits: Visits, settings: MobileSettings, now: datetime) -> DataFrame:
    """One row per device: first and last session, and totals over all sessions."""
    rows = _SUMMARY.of_users(visits).where(known_device(settings).isNotNull())
    values = {"model_tstamp": literal(now), "start_tstamp_date": F.to_date("start_tstamp")}
    return select_declared(rows, COLUMNS, values)
