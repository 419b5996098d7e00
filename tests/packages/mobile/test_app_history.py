"""However long an app's history is, a run reads the days that bear on its sessions and users."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from histories import DAYS, LAST_DAY, delete_old_days
from phone_app import App, app_event
from website import Event, rows

pytestmark = pytest.mark.ci

BACK = date(2024, 1, 5)
TODAY = LAST_DAY + timedelta(days=1)


def visit(session: str, day: date, *, device: str, user: str | None = None) -> list[Event]:
    return [
        app_event(
            *(f"{session}-{day}-{number}", session, f"{day} 10:0{number}"),
            screen=f"{session}-{day}-{number}",
            device=device,
            user_id=user,
        )
        for number in (0, 1)
    ]


def usual(day: date) -> list[Event]:
    """Somebody new, and somebody who comes every day."""
    return [
        *visit(f"new-{day}", day, device=f"new-{day}"),
        *visit(f"daily-{day}", day, device="daily"),
    ]


def test_a_run_reads_no_file_of_days_that_do_not_bear_on_it(
    spark: SparkSession, tmp_path: Path, format: str
):
    # Screen view ids are looked for so far back.
    app = App(spark, tmp_path, format=format, backfill_limit_days=100, upsert_lookback_days=5)
    app.arrive_by_day(*(it for day in DAYS for it in usual(day)))
    assert app.run(f"{TODAY} 00:00").outcome == "succeeded"
    noted = app.workspace.runs.last("mobile", 1)[0].key_days
    assert {name.partition("(")[2] for name in noted} == {"session_id)", "device_user_id)"}

    delete_old_days(
        app,
        {
            "events": "load_tstamp_date",
            "warehouse/derived/snowplow_mobile_screen_views": "derived_tstamp_date",
            "warehouse/derived/snowplow_mobile_sessions": "start_tstamp_date",
            "warehouse/derived/snowplow_mobile_users": "start_tstamp_date",
            "warehouse/snowplow_manifest/snowplow_mobile_base_sessions_lifecycle_manifest": (
                "start_tstamp_date"
            ),
        },
    )
    app.arrive_by_day(
        *usual(TODAY),
        # A session of three weeks ago goes on, and its user comes back and logs in.
        *visit(f"new-{BACK}", TODAY, device=f"new-{BACK}"),
        *visit("login", TODAY, device=f"new-{BACK}", user="anna"),
    )
    assert app.run(f"{TODAY + timedelta(days=1)} 00:00").outcome == "succeeded"

    near = f"start_tstamp_date <= '{BACK}' or start_tstamp_date > '2024-01-20'"
    sessions = app.table("sessions").where(near)
    of_back = sessions.where(f"device_user_id = 'new-{BACK}'")
    assert rows(of_back.select("session_id", "stitched_user_id", "screen_views")) == [
        ("login", "anna", 2),
        (f"new-{BACK}", "anna", 2),
    ]
    assert app.table("lifecycle").where(near).where(f"session_id = 'new-{BACK}'").count() == 1
    users = app.table("users").where(near).where(f"device_user_id in ('daily', 'new-{BACK}')")
    assert rows(users.select("device_user_id", "sessions", "screen_views")) == [
        ("daily", 29, 58),
        (f"new-{BACK}", 2, 4),
    ]
