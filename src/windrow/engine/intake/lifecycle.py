"""Which sessions a window touches, and since when; over-long ones are capped and quarantined."""

from __future__ import annotations

from datetime import date, datetime, timedelta

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from windrow.columns.timestamps import literal, plus_days
from windrow.config import PackageSettings
from windrow.models.foundation import DAYS_AHEAD, SESSION_ID, USER_ID, Foundation
from windrow.state.limits import Limits, State
from windrow.tables.days import DayRange
from windrow.tables.observed import Observed

_ROW = (SESSION_ID, USER_ID, "start_tstamp", "end_tstamp", "start_tstamp_date")


def sessions_with_new_events(
    window_events: DataFrame, settings: PackageSettings, **more: Column
) -> DataFrame:
    """One row per session of the window's events: its user, first and last collector time there.

    `window_events`: session id, user, event_id and tstamp of usable events. The user is
    the earliest event's, so that it does not depend on where one window ended; the reference takes
    the greatest id instead. `more`: further aggregates, by name.
    """
    has_user = F.col(USER_ID).isNotNull()
    order = F.struct("tstamp", "event_id")
    earliest_user = F.min_by(USER_ID, F.when(has_user, order))
    user = F.max(USER_ID) if settings.compat else earliest_user
    return window_events.groupBy(SESSION_ID).agg(
        user.alias(USER_ID),
        F.min("tstamp").alias("start_tstamp"),
        F.max("tstamp").alias("end_tstamp"),
        *(value.alias(name) for name, value in more.items()),
    )


def earlier_rows(lifecycle: DataFrame, limits: Limits, settings: PackageSettings) -> DataFrame:
    """Stored rows that a session with new events may continue.

    The reference looks back `session_lookback_days` and stores an older session a second time.
    """
    if not settings.compat:
        return lifecycle
    since = limits.lower - timedelta(days=settings.session_lookback_days)
    return _started_from(lifecycle, since)


def _started_from(lifecycle: DataFrame, since: datetime) -> DataFrame:
    """Rows since an instant; the date bound is what prunes the files."""
    on_day = F.col("start_tstamp_date") >= F.lit(since.date())
    return lifecycle.where(on_day & (F.col("start_tstamp") >= literal(since)))


def continued(
    new: DataFrame,
    earlier: DataFrame,
    foundation: Foundation,
    settings: PackageSettings,
    *,
    at_cap: Observed | None = None,
) -> DataFrame:
    """The lifecycle rows that the window's sessions get: what was stored, carried on, and capped.

    A session that already reached its cap gets no row: the stored one stays. `stored_start` and
    `stored_end` say what was known of the session before. `at_cap`: counts those without a row.
    """
    stored = earlier.select(
        SESSION_ID,
        F.col(USER_ID).alias("stored_user"),
        F.col("start_tstamp").alias("stored_start"),
        F.col("end_tstamp").alias("stored_end"),
    )
    cap = settings.max_session_days
    is_at_cap = F.col("stored_end") >= plus_days(F.col("stored_start"), cap)
    start = F.least("start_tstamp", "stored_start")
    end = F.least(plus_days(start, cap), F.greatest("end_tstamp", "stored_end"))
    users = ["stored_user", USER_ID]
    if settings.compat and not foundation.has_one_user_per_session:
        # The reference keeps the first user it saw only where the whole session gets that user.
        users.reverse()
    joined = new.join(stored, SESSION_ID, how="left")
    if at_cap is not None:
        joined = at_cap.over(joined, {"sessions": F.count_if(is_at_cap)})
    return joined.where(~F.coalesce(is_at_cap, F.lit(False))).select(
        SESSION_ID,
        F.coalesce(*users).alias(USER_ID),
        start.alias("start_tstamp"),
        end.alias("end_tstamp"),
        F.to_date(start).alias("start_tstamp_date"),
        "stored_start",
        "stored_end",
    )


def sessions_this_run(
    continued_rows: DataFrame, lifecycle: DataFrame, limits: Limits, settings: PackageSettings
) -> DataFrame:
    """Every session whose life overlaps the window: the continued rows and the stored others.

    Of late events' sessions `lifecycle` has no others, and each is meant wherever it lives.
    """
    if limits.state is State.LATE:
        stored = lifecycle.join(continued_rows, SESSION_ID, how="left_anti")
        every = continued_rows.select(*_ROW).unionByName(stored.select(*_ROW))
        return every.drop("start_tstamp_date")
    earliest_start = limits.lower - timedelta(days=settings.max_session_days)
    others = _started_from(lifecycle, earliest_start).join(
        continued_rows, SESSION_ID, how="left_anti"
    )
    overlaps = (
        (F.col("start_tstamp") >= literal(earliest_start))
        & (F.col("start_tstamp") <= literal(limits.upper))
        & (F.col("end_tstamp") >= literal(limits.lower))
    )
    end = F.least("end_tstamp", literal(limits.upper)).alias("end_tstamp")
    if limits.state is State.RERUN:
        # What comes after a past window was processed too, and its rows are to stay.
        end = F.col("end_tstamp")
    return (
        continued_rows.select(*_ROW)
        .unionByName(others.select(*_ROW))
        .where(overlaps)
        .select(SESSION_ID, USER_ID, "start_tstamp", end)
    )


def days_of_life(first: datetime, last: datetime, settings: PackageSettings) -> list[date]:
    """The days on which rows can lie of sessions that live between two instants.

    Rows lie by when events happened, which is before they were collected.
    """
    begin = first - timedelta(days=max(1, settings.days_late_allowed))
    return DayRange(begin.date(), (last + timedelta(days=DAYS_AHEAD)).date()).days()


def is_over_long(settings: PackageSettings) -> Column:
    """True for a session row that reached its cap and takes in nothing more."""
    return F.col("end_tstamp") == plus_days(F.col("start_tstamp"), settings.max_session_days)
