"""sessions: one row per session of an application, stitched to the user's latest id.

Counts of screen views and errors are null, not 0, in a session that has none. Turning on a context
or the errors fills new and touched sessions; a full refresh fills the older ones too.
"""

from __future__ import annotations

from datetime import datetime

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from windrow.atomic.entity_columns import APPLICATION_ERROR
from windrow.columns.distinct import count_different
from windrow.columns.rules import column, with_note
from windrow.columns.timestamps import literal, seconds_between
from windrow.models.checks import NotNull, Unique
from windrow.models.extras import Extras
from windrow.models.hooks import Hooks
from windrow.models.model import Reads, Storage, model, stored
from windrow.models.parts.declared_columns import select_declared
from windrow.models.parts.first_events import EARLIEST
from windrow.models.parts.stitching import (
    restitch_older_sessions,
    stitch_sessions,
    stitched_user_id,
)
from windrow.models.parts.time_columns import MODEL_TSTAMP, START_DATE
from windrow.packages.mobile.devices import known_device
from windrow.packages.mobile.event_fields import APP, NETWORK, PHONE, PLACE, SHOWN, fields, read_for
from windrow.packages.mobile.settings import MobileSettings
from windrow.tables import Columns

_SHOWN_FIRST = "from the session's first screen view"
_SHOWN_LAST = "from the session's last screen view"


def _first(*names: str, prefix: str = "") -> Columns:
    return with_note(fields(*names), "from the session's first event", prefix=prefix)


def _last(*names: str) -> Columns:
    return with_note(fields(*names), "from the session's last event", prefix="last_")


COLUMNS: Columns = {
    **_first("app_id"),
    **fields("session_id"),
    **_first("session_index", "previous_session_id", "session_first_event_id"),
    "session_last_event_id": column("string", "Id of the session's last event."),
    "start_tstamp": column("timestamp", "Time of the session's earliest event."),
    "end_tstamp": column("timestamp", "Time of the session's latest event."),
    **MODEL_TSTAMP,
    **_first("user_id", "device_user_id", "network_userid"),
    "stitched_user_id": column(
        "string",
        "The device's id in `user_mapping`, or else `device_user_id` unless the device hides it; "
        "the hook `stitch_user_identifiers` may say otherwise; null without `session_stitching`.",
    ),
    "session_duration_s": column(
        "bigint", "Seconds from start to end, fractions cut from both before subtracting."
    ),
    "has_install": column("boolean", "True if the app was installed in the session."),
    "screen_views": column("bigint", "Number of the session's screen views; null if none."),
    "screen_names_viewed": column(
        "bigint", "Number of different screen names among them; null if it has no screen view."
    ),
    "app_errors": column(
        "int", "Number of the session's errors; null if none, or without the errors module."
    ),
    "fatal_app_errors": column(
        "int", "Number of them that ended the app; null where `app_errors` is."
    ),
    **_first("event_name", prefix="first_"),
    **_last("event_name"),
    **with_note(fields(*SHOWN), _SHOWN_FIRST, prefix="first_"),
    **with_note(fields(*SHOWN), _SHOWN_LAST, prefix="last_"),
    **_first(*PHONE, *PLACE),
    **_first("user_ipaddress", "useragent", "name_tracker", "v_tracker", *NETWORK),
    **_first("build", prefix="first_"),
    **_last("build"),
    **_first("version", prefix="first_"),
    **_last("version"),
    **START_DATE,
}

_AS_FIRST = (
    *("app_id", "session_index", "previous_session_id", "session_first_event_id"),
    *("user_id", "device_user_id", "network_userid", *PHONE, *PLACE),
    *("user_ipaddress", "useragent", "name_tracker", "v_tracker", *NETWORK),
)
"""Columns that the session has from its first event, under the event's name; nulls count too."""

_OF_FIRST = (*_AS_FIRST, "event_name", *APP)
_OF_LAST = ("event_id", "event_name", *APP)


def _reads(settings: MobileSettings) -> tuple[str, ...]:
    errors = (APPLICATION_ERROR.name,) if settings.enable_app_errors_module else ()
    return (*read_for(*_OF_FIRST, *_OF_LAST), *errors)


def _stitched_user_id(settings: MobileSettings, hooks: Hooks) -> Column | None:
    """The user's known id where there is one, the device's otherwise; None: stitching is off."""
    return stitched_user_id(hooks, known_device(settings)) if settings.session_stitching else None


@model(
    key="session_id",
    date="start_tstamp",
    columns=COLUMNS,
    replaces="session_id",
    reads=Reads(_reads, extras=Extras("events", by=("session_id",), first=EARLIEST)),
    storage=Storage(
        steps=("sessions_aggs", "sessions_sv_details", "sessions_this_run"),
        amend=restitch_older_sessions(
            session="session_id", user="device_user_id", stitched_id=_stitched_user_id
        ),
    ),
    checks=(
        *(Unique("session_last_event_id"), NotNull("session_last_event_id")),
        NotNull(("start_tstamp", "end_tstamp", "session_duration_s"), severity="warn"),
        NotNull(("session_index", "device_user_id", "network_userid"), severity="warn"),
        NotNull(("session_first_event_id", "has_install", "last_event_name"), severity="warn"),
        # A phone restored from a backup can fork the first two for good.
        Unique("session_first_event_id", severity="warn"),
        Unique("previous_session_id", severity="warn"),
    ),
)
def sessions(
    events: DataFrame,
    screen_views: DataFrame,
    settings: MobileSettings,
    hooks: Hooks,
    now: datetime,
    user_mapping: DataFrame = stored("user_mapping", of_users=True),
) -> DataFrame:
    """One row per session: when, who, on which device, what was shown, and what went wrong."""
    totals = _totals(events, settings)
    flat = totals.select("*", *(F.col(f"first.{name}").alias(name) for name in _AS_FIRST))
    shown = flat.join(_sum_up_screens(screen_views), "session_id", how="left")
    stitched = _stitched_user_id(settings, hooks)
    known = stitch_sessions(shown, user_mapping, user="device_user_id", stitched=stitched)
    values: dict[str, Column] = {
        "session_last_event_id": F.col("last.event_id"),
        "model_tstamp": literal(now),
        "session_duration_s": seconds_between(F.col("start_tstamp"), F.col("end_tstamp")),
        **{f"first_{name}": F.col(f"first.{name}") for name in ("event_name", *APP)},
        **{f"last_{name}": F.col(f"last.{name}") for name in ("event_name", *APP)},
        **{f"first_{name}": F.col(f"first_shown.{name}") for name in SHOWN},
        **{f"last_{name}": F.col(f"last_shown.{name}") for name in SHOWN},
        "start_tstamp_date": F.to_date("start_tstamp"),
    }
    return select_declared(known, COLUMNS, values)


def _totals(events: DataFrame, settings: MobileSettings) -> DataFrame:
    """Per session: its first and last event, and what all its events add up to."""
    order = F.struct(*EARLIEST)
    return events.groupBy("session_id").agg(
        F.min_by(F.struct(*_OF_FIRST), order).alias("first"),
        F.max_by(F.struct(*_OF_LAST), order).alias("last"),
        F.min("derived_tstamp").alias("start_tstamp"),
        F.max("derived_tstamp").alias("end_tstamp"),
        F.bool_or(F.col("event_name") == "application_install").alias("has_install"),
        *(count.alias(name) for name, count in _errors(settings).items()),
    )


def _errors(settings: MobileSettings) -> dict[str, Column]:
    if not settings.enable_app_errors_module:
        return dict.fromkeys(("app_errors", "fatal_app_errors"), F.lit(None))
    is_error = F.col("event_name") == "application_error"
    is_fatal = is_error & F.col(APPLICATION_ERROR.name).getField("is_fatal")
    has_errors = F.count_if(is_error) > 0
    return {
        "app_errors": F.when(has_errors, F.count_if(is_error)),
        "fatal_app_errors": F.when(has_errors, F.count_if(is_fatal)),
    }


def _sum_up_screens(screen_views: DataFrame) -> DataFrame:
    """Per session with screen views: how many, the first of them and the last."""
    index = F.col("screen_view_in_session_index")
    fields = F.struct(*SHOWN)
    return screen_views.groupBy("session_id").agg(
        F.count(F.lit(1)).alias("screen_views"),
        count_different(F.col("screen_view_name")).alias("screen_names_viewed"),
        F.min_by(fields, index).alias("first_shown"),
        F.max_by(fields, index).alias("last_shown"),
    )
