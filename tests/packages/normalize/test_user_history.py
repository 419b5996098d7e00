"""However many users there were, a run reads the days on which its own were seen last."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from histories import DAYS, LAST_DAY, delete_old_days
from normalized import Normalized, entry
from random_runs import days_become_old
from website import Event, at, event, rows

pytestmark = pytest.mark.ci

TABLES = {
    "events": [entry("page_view", event_columns=["page_url"], table_name="pages", version="1")],
    "users": {
        "user_id": {"id_column": "domain_userid", "alias": "visitorId"},
        "user_columns": ["page_url"],
    },
}
USERS = "snowplow_events_users"


def view(day: date, cookie: str, page: str) -> Event:
    return event(f"{day}-{cookie}", None, f"{day} 10:00", cookie=cookie, page_url=page)


def usual(day: date) -> list[Event]:
    """Somebody new, and somebody who comes every day."""
    return [view(day, f"new-{day}", "home"), view(day, "daily", f"page-{day}")]


def test_a_run_reads_no_file_of_days_on_which_none_of_its_users_was_seen_last(
    spark: SparkSession, tmp_path: Path, format: str
):
    site = Normalized(spark, tmp_path, format=format, backfill_limit_days=100, **TABLES)
    site.arrive_by_day(*(it for day in DAYS for it in usual(day)))
    today = LAST_DAY + timedelta(days=1)
    assert site.run(f"{today} 00:00").outcome == "succeeded"
    noted = site.workspace.runs.last("normalize", 1)[0].key_days
    assert set(noted) == {f"{USERS}(visitor_id)"}

    delete_old_days(
        site,
        {
            "events": "load_tstamp_date",
            f"warehouse/derived/{USERS}": "latest_collector_tstamp_date",
        },
    )
    back = date(2024, 1, 5)
    site.arrive_by_day(*usual(today), view(today, f"new-{back}", "again"))
    assert site.run(f"{today + timedelta(days=1)} 00:00").outcome == "succeeded"
    users = site.table(USERS).where(
        f"latest_collector_tstamp_date <= '{back}' or latest_collector_tstamp_date > '2024-01-20'"
    )
    shown = users.select("visitor_id", "latest_collector_tstamp", "page_url")
    assert rows(shown.where(f"visitor_id in ('daily', 'new-{back}')")) == [
        ("daily", f"{today} 10:00:00", f"page-{today}"),
        (f"new-{back}", f"{today} 10:00:00", "again"),
    ]
    assert users.select("visitor_id").distinct().count() == users.count()


@days_become_old()
def test_days_that_users_left_are_forgotten_and_rows_are_those_of_one_run(
    spark: SparkSession, tmp_path: Path
):
    whole, daily = (Normalized(spark, tmp_path / it, **TABLES) for it in ("whole", "daily"))
    ends = [DAYS[number] for number in (3, 5, 7, 9, 11)]
    for number, end in enumerate(ends):
        day = end - timedelta(days=1)
        events = [view(day, f"once-{day}", "a")]
        if number in (0, 2):
            events.append(view(day, "often", f"page-{day}"))
        if number == 3:
            events.append(view(day, f"once-{DAYS[2]}", "back"))
        for site in (whole, daily):
            site.arrive(*events)
        assert daily.run(f"{end} 00:00").outcome == "succeeded"
    assert whole.run(f"{ends[-1]} 00:00").outcome == "succeeded"
    assert rows(daily.table(USERS)) == rows(whole.table(USERS))
    ws = daily.workspace
    days = ws.tables.read(ws.key_days).groupBy("key_hash").count().collect()
    # Those who came back were known of two old days each, until the last run.
    assert {row["count"] for row in days} == {1}
    assert len(days) == 5


def test_a_copy_that_is_sent_again_later_changes_neither_users_nor_tables(
    spark: SparkSession, tmp_path: Path
):
    other = entry("link_click", event_columns=["page_url"], table_name="clicks", version="1")
    tables = {**TABLES, "events": [*TABLES["events"], other]}
    site = Normalized(spark, tmp_path, **tables)
    first = event("e1", None, "2024-01-02 09:50", cookie="u", page_url="a")
    site.arrive(first, event("e2", None, "2024-01-02 09:55", cookie="u", page_url="b"))
    site.run("2024-01-02 10:00")

    again = {"collector_tstamp": at("2024-01-02 10:05"), "event_name": "link_click"}
    site.arrive({**first, **again})
    result = site.run("2024-01-02 11:00")
    assert (result.plan.settled_until, result.counts["shares_events"]) == (
        at("2024-01-02 10:00"),
        1,
    )
    seen = site.table(USERS).select("visitor_id", "latest_collector_tstamp", "page_url")
    assert rows(seen) == [("u", "2024-01-02 09:55:00", "b")]
    assert site.table("clicks_1").count() == 0
