"""users: one row per device, over all sessions it ever had.

`user_id` is what the first event of the first session knew, so it is often null: for the current
id join `user_mapping`, or take `stitched_user_id` of the sessions. `screen_names_viewed` adds up
the sessions' counts, so a name seen in two sessions counts twice, and `active_days` are days on
which a session began.
"""

from __future__ import annotations

from datetime import datetime

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from windrow.columns.timestamps import literal
from windrow.config import MobileSettings
from windrow.model import model, stored
from windrow.packages.mobile.devices import known_device
from windrow.packages.mobile.event_fields import GEO, SCREEN_SIZE, SHOWN, typed
from windrow.parts.users import over_sessions
from windrow.tables import Columns

_SUMS = ("screen_views", "screen_names_viewed", "app_errors", "fatal_app_errors")
_FIRST_SHOWN = tuple(f"first_{name}" for name in SHOWN)
_LAST_SHOWN = tuple(f"last_{name}" for name in SHOWN)
_CHANGING = ("os_version", "carrier")
"""What a device has at its first session and may have otherwise at its last."""

COLUMNS: Columns = {
    **typed("user_id", "device_user_id", "network_userid"),
    "start_tstamp": "timestamp",
    "end_tstamp": "timestamp",
    "model_tstamp": "timestamp",
    "screen_views": "bigint",
    "screen_names_viewed": "bigint",
    "sessions": "bigint",
    "sessions_duration_s": "bigint",
    "active_days": "bigint",
    "app_errors": "bigint",
    "fatal_app_errors": "bigint",
    **dict.fromkeys((*_FIRST_SHOWN, *_LAST_SHOWN), "string"),
    **typed("platform", *SCREEN_SIZE, "device_manufacturer", "device_model", "os_type"),
    "first_os_version": "string",
    "last_os_version": "string",
    **typed("android_idfa", "apple_idfa", "apple_idfv", "open_idfa", *GEO),
    "first_carrier": "string",
    "last_carrier": "string",
    "start_tstamp_date": "date",
}

_AS_FIRST = (
    *("user_id", "network_userid", *_FIRST_SHOWN, "platform", *SCREEN_SIZE),
    *("device_manufacturer", "device_model", "os_type"),
    *("android_idfa", "apple_idfa", "apple_idfv", "open_idfa", *GEO),
)
"""Columns that the user has from the first session, under the session's name."""


@model(
    key="device_user_id",
    date="start_tstamp",
    columns=COLUMNS,
    replaces="device_user_id",
    steps=("users_this_run", "users_aggs", "users_lasts", "users_sessions_this_run"),
)
def users(
    sessions_of_users: DataFrame,
    settings: MobileSettings,
    now: datetime,
    sessions: DataFrame = stored("sessions"),
) -> DataFrame:
    """One row per device: first and last session, and totals over all sessions."""
    totals = over_sessions(
        sessions_of_users.where(known_device(settings).isNotNull()),
        user="device_user_id",
        session="session_id",
        of_first=(*_AS_FIRST, *_CHANGING),
        of_last=(*_LAST_SHOWN, *_CHANGING),
        totals={
            **{name: F.sum(name) for name in _SUMS},
            "sessions_duration_s": F.sum("session_duration_s"),
            "active_days": F.count_distinct(F.to_date("start_tstamp")),
        },
    )
    values: dict[str, Column] = {
        "model_tstamp": literal(now),
        **{name: F.col(f"first.{name}") for name in _AS_FIRST},
        **{name: F.col(f"last.{name}") for name in _LAST_SHOWN},
        **{f"first_{name}": F.col(f"first.{name}") for name in _CHANGING},
        **{f"last_{name}": F.col(f"last.{name}") for name in _CHANGING},
        "start_tstamp_date": F.to_date("start_tstamp"),
    }
    return totals.select(
        *(values.get(name, F.col(name)).cast(kind).alias(name) for name, kind in COLUMNS.items())
    )
