"""However long the history is, a run reads what can bear on it, and stores nothing twice."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from histories import DAYS, LAST_DAY, delete_old_days
from random_runs import days_become_old
from traffic import ONLY_CONSENT_AND_VITALS
from website import ONLY_PAGE_VIEWS, Event, Site, at, event, rows
from windrow.atomic.entity_columns import CMP_VISIBLE, CONSENT_PREFERENCES, WEB_VITALS
from windrow.engine import key_days
from windrow.engine.holding import look
from windrow.engine.intake.record import quarantine_sessions
from windrow.engine.key_days import KeyDays

pytestmark = pytest.mark.ci


def visit(session: str, day: date, *, user: str | None = None, cookie: str) -> list[Event]:
    return [
        event(f"{session}-{number}", session, f"{day} 10:0{number}", page=session, cookie=cookie)
        | {"user_id": user}
        for number in (0, 1)
    ]


def usual(day: date) -> list[Event]:
    """Somebody new, and somebody who comes every day."""
    return [
        *visit(f"new-{day}", day, cookie=f"new-{day}"),
        *visit(f"daily-{day}", day, cookie="daily"),
    ]


def site_with_history(spark: SparkSession, folder: Path, format: str) -> Site:
    """Four weeks, taken in at once, and old enough to be told from where their keys lie."""
    site = Site(spark, folder, format=format, backfill_limit_days=100)
    events = [it for day in DAYS for it in usual(day)]
    # Events lie as loaders leave them: a folder for each day.
    site.arrive_by_day(*events)
    assert site.run(f"{LAST_DAY} 00:00").outcome == "succeeded"
    noted = site.workspace.runs.last("web", 1)[0].key_days
    assert {name.partition("(")[2] for name in noted} == {"session_id)", "domain_userid)"}
    assert set(noted.values()) == {LAST_DAY - timedelta(days=key_days.RECENT_DAYS)}
    return site


def test_a_run_reads_no_file_of_days_that_do_not_bear_on_it(
    spark: SparkSession, tmp_path: Path, format: str
):
    site = site_with_history(spark, tmp_path, format)
    today = LAST_DAY
    back = date(2024, 1, 5)
    site.arrive_by_day(
        *usual(today),
        # A session of three weeks ago goes on, and its user comes back and logs in.
        *visit(f"new-{back}", today, cookie=f"new-{back}"),
        *visit("login", today, cookie=f"new-{back}", user="anna"),
    )
    tables = {
        "events": "load_tstamp_date",
        "warehouse/derived/snowplow_web_sessions": "start_tstamp_date",
        "warehouse/derived/snowplow_web_users": "start_tstamp_date",
        "warehouse/snowplow_manifest/snowplow_web_base_sessions_lifecycle_manifest": (
            "start_tstamp_date"
        ),
    }
    delete_old_days(site, tables)
    assert site.run(f"{today + timedelta(days=1)} 00:00").outcome == "succeeded"

    near = f"start_tstamp_date <= '2024-01-05' or start_tstamp_date > '{date(2024, 1, 20)}'"
    sessions = site.table("sessions").where(near)
    of_back = sessions.where(f"domain_userid = 'new-{back}'")
    assert {row[0] for row in of_back.select("stitched_user_id").collect()} == {"anna"}
    assert sorted(row[0] for row in of_back.select("domain_sessionid").collect()) == sorted(
        ["login", f"new-{back}"]
    )
    lifecycle = site.table("lifecycle").where(near)
    assert lifecycle.where(f"session_id = 'new-{back}'").count() == 1
    users = site.table("users").where(near).where("domain_userid like 'new-2024-01-05'")
    assert [row[0] for row in users.select("sessions").collect()] == [2]
    daily = site.table("users").where(near).where("domain_userid = 'daily'")
    assert [tuple(row) for row in daily.select("sessions", "page_views").collect()] == [(28, 28)]


BACK = date(2024, 1, 5)
TERMS_CHANGED = date(2024, 1, 20)


def answer(session: str, day: date, *, cookie: str) -> list[Event]:
    """Somebody sees the banner, agrees to the terms of the day, and has the page measured."""
    version = "2" if day >= TERMS_CHANGED else "1"
    given = {"event_type": "allow_all", "consent_version": version, "consent_scopes": ["all"]}
    own: list[tuple[str, str, dict[str, Any]]] = [
        ("cmp_visible", CMP_VISIBLE.name, {"elapsed_time": 1.0}),
        ("consent_preferences", CONSENT_PREFERENCES.name, given),
        ("web_vitals", WEB_VITALS.name, {"lcp": 1000.0, "fid": 10.0, "cls": 0.1}),
    ]
    return [
        event(
            f"{session}-{name}", session, f"{day} 10:0{number}", name, page=session, cookie=cookie
        )
        | {column: fields}
        for number, (name, column, fields) in enumerate(own)
    ]


def test_consent_and_vitals_read_no_file_of_days_that_do_not_bear_on_them(
    spark: SparkSession, tmp_path: Path, format: str
):
    # So far back page views are measured, and looked for.
    near = {"cwv_days_to_measure": 5, "upsert_lookback_days": 5}
    options = {"backfill_limit_days": 100, **ONLY_CONSENT_AND_VITALS, **near}
    site = Site(spark, tmp_path, format=format, **options)
    events = [it for day in DAYS for it in answer(f"new-{day}", day, cookie=f"new-{day}")]
    site.arrive_by_day(*events)
    today = LAST_DAY + timedelta(days=1)
    assert site.run(f"{today} 00:00").outcome == "succeeded"
    noted = site.workspace.runs.last("web", 1)[0].key_days
    assert "snowplow_web_consent_log(domain_userid)" in noted

    tables = {
        "events": "load_tstamp_date",
        "warehouse/derived/snowplow_web_consent_log": "derived_tstamp_date",
        "warehouse/derived/snowplow_web_vitals": "derived_tstamp_date",
    }
    delete_old_days(site, tables)
    # Somebody who agreed to the old terms three weeks ago is asked again.
    site.arrive_by_day(
        *answer(f"new-{today}", today, cookie=f"new-{today}"),
        *answer("again", today, cookie=f"new-{BACK}"),
    )
    assert site.run(f"{today + timedelta(days=1)} 00:00").outcome == "succeeded"

    users = site.table("consent_users").where(f"domain_userid = 'new-{BACK}'")
    shown = ("cmp_events", "consent_events", "last_consent_version", "is_latest_version")
    assert rows(users.select(*shown)) == [(2, 2, "2", True)]
    assert site.rows("consent_versions", "consent_version", "version_start_tstamp") == [
        ("1", "2024-01-01 10:01:00"),
        ("2", f"{TERMS_CHANGED} 10:01:00"),
    ]
    # Of 19 days without the one who came back; of ten, and that one.
    assert site.rows("consent_totals", "consent_version", "allow_all") == [("1", 18), ("2", 11)]
    assert site.table("consent_cmp_stats").count() == len(DAYS) + 2
    of_all = site.table("vital_measurements").where("measurement_type = 'overall'")
    assert rows(of_all.select("page_view_count")) == [(6,)]


@days_become_old()
def test_what_others_did_to_a_table_is_not_missed(spark: SparkSession, tmp_path: Path):
    site = Site(spark, tmp_path, format="delta", **ONLY_PAGE_VIEWS)
    for number in (3, 5):
        site.arrive(*usual(date(2024, 1, number)))
        run = site.run(f"2024-01-{number + 1:02d} 00:00")
    (until,) = site.workspace.runs.last("web", 1)[0].key_days.values()
    assert until == date(2024, 1, 5)

    # Taken back: what is known of the days of keys counts no more, and is made anew.
    site.project().rollback("web", str(run.run_id))
    assert not KeyDays.seen(site.workspace, look(site.workspace)).known
    site.run("2024-01-06 00:00")
    assert KeyDays.seen(site.workspace, look(site.workspace)).known

    # Emptied by somebody, it would send runs past what is stored.
    ws = site.workspace
    ws.tables.overwrite(ws.key_days, ws.tables.read(ws.key_days).limit(0))
    assert not KeyDays.seen(ws, look(ws)).known

    # Somebody brings back a session that nobody noted.
    ws.tables.append(
        ws.lifecycle,
        spark.sql(
            "select 'strange' as session_id, 'c' as domain_userid, "
            "timestamp '2024-01-02 10:00:00' as start_tstamp, "
            "timestamp '2024-01-02 10:00:00' as end_tstamp, date '2024-01-02' as start_tstamp_date"
        ),
    )
    site.arrive(*visit("strange", date(2024, 1, 6), cookie="c"))
    assert site.run("2024-01-07 00:00").outcome == "succeeded"
    assert site.rows("lifecycle", "session_id").count(("strange",)) == 1
    assert len(site.rows("lifecycle", "session_id")) == 5


def test_a_small_quarantine_stays_one_file(spark: SparkSession, tmp_path: Path, format: str):
    ws = Site(spark, tmp_path, format=format).workspace
    ws.prepare_manifests()
    for number in range(3):
        # One that is there already comes again.
        over_long = spark.sql(
            f"select id as session_id, timestamp '2024-01-01' as start_tstamp, "
            f"timestamp '2024-01-04' as end_tstamp, true as is_by_length "
            f"from values ('s0'), ('s{number}') as ids(id) group by id"
        )
        assert quarantine_sessions(ws, over_long, f"run {number}", at("2024-01-05")) == 1
    stored = ws.tables.read(ws.quarantine)
    assert sorted(row[0] for row in stored.collect()) == ["s0", "s1", "s2"]
    assert ws.tables.compact(ws.quarantine).files_before == 1
