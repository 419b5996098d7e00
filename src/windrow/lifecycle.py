"""Which sessions a window touches, and since when; over-long ones are capped and quarantined."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from windrow.column_rules import column
from windrow.columns.timestamps import literal, plus_days
from windrow.config import PackageSettings
from windrow.limits import Limits
from windrow.tables import Columns

LIFECYCLE: Columns = {
    "session_id": column("string", "Id of the session."),
    "domain_userid": column(
        "string", "Cookie id of the session's user: that of its earliest event that has one."
    ),
    "start_tstamp": column("timestamp", "Collector time of the session's earliest event."),
    "end_tstamp": column(
        "timestamp",
        "Collector time of the session's latest event, at most `max_session_days` after its start.",
    ),
    "start_tstamp_date": column("date", "Day of `start_tstamp` in UTC."),
}

QUARANTINE: Columns = {
    "session_id": column(
        "string",
        "Id of a session that takes in no more events, as it lasted `max_session_days` or the hook "
        "`quarantine_sessions` says so.",
    )
}


def sessions_with_new_events(window_events: DataFrame, settings: PackageSettings) -> DataFrame:
    """One row per session of the window's events: its user, first and last collector time there.

    `window_events`: session_id, domain_userid, event_id and tstamp of usable events. The user is
    the earliest event's, so that it does not depend on where one window ended; the reference takes
    the greatest id instead.
    """
    has_user = F.col("domain_userid").isNotNull()
    order = F.struct("tstamp", "event_id")
    earliest_user = F.min_by("domain_userid", F.when(has_user, order))
    user = F.max("domain_userid") if settings.compat else earliest_user
    return window_events.groupBy("session_id").agg(
        user.alias("domain_userid"),
        F.min("tstamp").alias("start_tstamp"),
        F.max("tstamp").alias("end_tstamp"),
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


def continued(new: DataFrame, earlier: DataFrame, settings: PackageSettings) -> DataFrame:
    """The lifecycle rows that the window's sessions get: what was stored, carried on, and capped.

    A session that already reached its cap gets no row: the stored one stays. `stored_start` and
    `stored_end` say what was known of the session before.
    """
    stored = earlier.select(
        "session_id",
        F.col("domain_userid").alias("stored_user"),
        F.col("start_tstamp").alias("stored_start"),
        F.col("end_tstamp").alias("stored_end"),
    )
    cap = settings.max_session_days
    is_at_cap = F.col("stored_end") >= plus_days(F.col("stored_start"), cap)
    start = F.least("start_tstamp", "stored_start")
    end = F.least(plus_days(start, cap), F.greatest("end_tstamp", "stored_end"))
    joined = new.join(stored, "session_id", how="left")
    return joined.where(~F.coalesce(is_at_cap, F.lit(False))).select(
        "session_id",
        F.coalesce("stored_user", "domain_userid").alias("domain_userid"),
        start.alias("start_tstamp"),
        end.alias("end_tstamp"),
        F.to_date(start).alias("start_tstamp_date"),
        "stored_start",
        "stored_end",
    )


def sessions_this_run(
    continued_rows: DataFrame, lifecycle: DataFrame, limits: Limits, settings: PackageSettings
) -> DataFrame:
    """Every session whose life overlaps the window: the continued rows and the stored others."""
    earliest_start = limits.lower - timedelta(days=settings.max_session_days)
    others = _started_from(lifecycle, earliest_start).join(
        continued_rows, "session_id", how="left_anti"
    )
    overlaps = (
        (F.col("start_tstamp") >= literal(earliest_start))
        & (F.col("start_tstamp") <= literal(limits.upper))
        & (F.col("end_tstamp") >= literal(limits.lower))
    )
    return (
        continued_rows.select(*LIFECYCLE)
        .unionByName(others.select(*LIFECYCLE))
        .where(overlaps)
        .select(
            "session_id",
            "domain_userid",
            "start_tstamp",
            F.least("end_tstamp", literal(limits.upper)).alias("end_tstamp"),
        )
    )


def is_over_long(settings: PackageSettings) -> Column:
    """True for a session row that reached its cap and takes in nothing more."""
    return F.col("end_tstamp") == plus_days(F.col("start_tstamp"), settings.max_session_days)


def window_floor(limits: Limits, settings: PackageSettings) -> datetime:
    """Where looking for new events really begins.

    The look-back of an early run may reach before `start_date`; events from before it are not
    ours, and taking them in would make the tables depend on how runs were cut.
    """
    if settings.compat:
        return limits.lower
    return max(limits.lower, datetime.combine(settings.start_date, time(), UTC))
