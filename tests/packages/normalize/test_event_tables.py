"""Event tables, the filtered events and users over runs, on both formats."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from normalized import BANNER, PAGE, ROBOTS, Normalized, entry
from website import at, event, rows
from windrow import Limits, State
from windrow.atomic.entity_columns import CMP_VISIBLE, IAB
from windrow.engine.intake.values import Intake
from windrow.engine.replaced_rows import ReplacedRows
from windrow.tables.days import DayRange

TABLES = {
    "events": [
        entry(
            "page_view",
            "page_ping",
            event_columns=["page_url", "app_id", "event_id"],
            context_schemas=[PAGE],
            context_aliases=["page"],
            table_name="pages",
            version="1",
        ),
        entry("cmp_visible", self_describing_event_schemas=[BANNER]),
    ],
    "config": {"filtered_events_table_name": "routes"},
    "users": {
        "user_id": {"id_column": "domain_userid", "alias": "visitorId"},
        "user_contexts": [ROBOTS],
        "user_columns": ["app_id", "app_id"],
    },
}


def robot(reason: str) -> dict:
    return {IAB.name: [{**dict.fromkeys(IAB.fields), "reason": reason}]}


@pytest.fixture
def site(spark: SparkSession, tmp_path: Path, format: str) -> Normalized:
    site = Normalized(spark, tmp_path, format=format, **TABLES)
    site.arrive(
        event("e1", None, "2024-01-02 10:00", page="p1", cookie="ann", **robot("first")),
        event("e2", None, "2024-01-02 11:00", "page_ping", page=None, cookie="ann"),
        event(
            "e3",
            None,
            "2024-01-03 09:00",
            "cmp_visible",
            cookie=None,
            **{CMP_VISIBLE.name: {"elapsed_time": 1.5}},
        ),
        event("e4", None, "2024-01-03 10:00", "other", cookie="bob", **robot("bob")),
        # Collected again, a little later and a day later; and one that was sent too late.
        event("e1", None, "2024-01-02 10:05", page="copy", cookie="ann"),
        event("e5", None, "2024-01-03 11:00", page="late", delay=timedelta(days=4)),
    )
    return site


@pytest.mark.ci
@pytest.mark.parametrize("format", ["delta", pytest.param("iceberg", marks=pytest.mark.ci)])
def test_a_run_fills_every_table_and_a_later_one_goes_on(site: Normalized):
    first = site.run("2024-01-04 00:00")
    assert first.outcome == "succeeded"
    assert first.counts == {
        "window_events": 6,
        "window_absurd_time": 0,
        "window_too_late": 1,
        "window_left_out": 1,
        "window_other_app": 0,
        "events": 4,
        "duplicates": 1,
    }
    pages = site.table("pages_1")
    assert pages.columns == [
        "event_id",
        "collector_tstamp",
        "collector_tstamp_date",
        "app_id",
        "page_url",
        "page_id",
    ]
    assert rows(pages.select("event_id", "collector_tstamp", "page_id")) == [
        ("e1", "2024-01-02 10:00:00", "p1"),
        ("e2", "2024-01-02 11:00:00", None),
    ]
    assert site.rows("snowplow_cmp_visible_1", "event_id", "elapsed_time") == [("e3", 1.5)]
    assert site.rows("routes", "event_name", "event_table_name", "unique_id") == [
        ("cmp_visible", "snowplow_cmp_visible_1", "e3-snowplow_cmp_visible_1"),
        ("page_ping", "pages_1", "e2-pages_1"),
        ("page_view", "pages_1", "e1-pages_1"),
    ]
    users = ("visitor_id", "latest_collector_tstamp", "app_id", "reason")
    assert site.table("snowplow_events_users").columns[:4] == [
        "visitor_id",
        "latest_collector_tstamp",
        "latest_collector_tstamp_date",
        "app_id",
    ]
    assert site.rows("snowplow_events_users", *users) == [
        ("ann", "2024-01-02 11:00:00", "shop", None),
        ("bob", "2024-01-03 10:00:00", "shop", "bob"),
    ]
    comments = {
        column.name: column.description
        for column in site.spark.catalog.listColumns(
            site.workspace.tables.identifier(site.workspace.table(site.workspace.model("pages_1")))
        )
    }
    assert comments["page_id"] == (
        "Field `id` of the first context `com.snowplowanalytics.snowplow/web_page`."
    )
    assert comments["page_url"] == "URL of the page."

    # A copy beyond the look-back, and an event of ann's that was collected before her latest one.
    site.arrive(
        event("e1", None, "2024-01-05 10:00", page="copy", cookie="carl"),
        event("e6", None, "2024-01-05 11:00", page="p6", cookie="bob", **robot("new")),
        event("e7", None, "2024-01-03 10:00", page="p7", cookie="ann", **robot("loaded late")),
    )
    second = site.run("2024-01-06 00:00")
    assert second.plan.limits.state is State.STANDARD
    assert site.rows("pages_1", "event_id", "page_id") == [
        ("e1", "p1"),
        ("e2", None),
        ("e6", "p6"),
        ("e7", "p7"),
    ]
    assert site.rows("snowplow_events_users", *users) == [
        ("ann", "2024-01-03 10:00:00", "shop", "loaded late"),
        ("bob", "2024-01-05 11:00:00", "shop", "new"),
        ("carl", "2024-01-05 10:00:00", "shop", None),
    ]
    manifest = site.rows("manifest", "model", "last_success")
    names = ["pages_1", "routes", "snowplow_cmp_visible_1", "snowplow_events_users"]
    assert manifest == [(name, "2024-01-05 11:00:00") for name in names]


@pytest.mark.slow
def test_a_type_added_later_has_all_its_events_and_holds_nothing_up(
    spark: SparkSession, tmp_path: Path
):
    tables = TABLES["events"]
    events = [
        event(
            f"e{day}",
            None,
            f"2024-01-{day:02d} 10:00",
            name,
            page=f"p{day}",
            cookie=f"u{day}",
            **{CMP_VISIBLE.name: {"elapsed_time": float(day)}} if name == "cmp_visible" else {},
        )
        for day, name in enumerate(["page_view", "cmp_visible"] * 6, start=1)
    ]
    whole = Normalized(spark, tmp_path / "whole", **TABLES)
    whole.arrive(*events)
    whole.run("2024-01-13 00:00")

    site = Normalized(spark, tmp_path / "later", **{**TABLES, "events": tables[:1]})
    site.arrive(*events)
    site.run("2024-01-09 00:00")
    assert site.rows("routes", "event_name") == [("page_view",)] * 4
    site.configure(events=tables, backfill_limit_days=5)
    result = site.run("2024-01-10 00:00")
    # The others went on, while the new one is still at the beginning of its history.
    assert result.plan.limits.state is State.STANDARD
    assert [it.name for it in result.models] == ["pages_1", "routes", "snowplow_events_users"]
    assert result.catch_up is not None
    assert result.catch_up.plan.limits.state is State.NEW_MODEL
    assert [it.name for it in result.catch_up.models] == ["snowplow_cmp_visible_1", "routes"]
    assert site.rows("pages_1", "event_id")[-1] == ("e9",)
    assert site.rows("snowplow_cmp_visible_1", "event_id") == [("e2",), ("e4",)]
    site.project().run_until_caught_up("normalize", now=at("2024-01-13 00:00"))

    names = [member.name for member in site.workspace.models]
    assert {n: rows(site.table(n)) for n in names} == {n: rows(whole.table(n)) for n in names}
    assert site.rows("manifest", "model", "last_success") == whole.rows(
        "manifest", "model", "last_success"
    )


@pytest.mark.parametrize("compat", [False, True])
def test_history_of_a_new_type_comes_into_the_filtered_events_unless_compat(
    spark: SparkSession, tmp_path: Path, compat: bool
):
    ws = Normalized(spark, tmp_path, compat=compat, **TABLES).workspace
    there = at("2024-01-09 00:00")
    limits = Limits(State.NEW_MODEL, at("2024-01-01"), at("2024-01-04"), None, there)
    # Filtered events and pages have been at the window before; the new type has not.
    known = dict.fromkeys(("routes", "pages_1", "snowplow_events_users"), there)
    replaced = ReplacedRows(ws, None, limits, known)  # type: ignore[arg-type]  # not asked for
    assert replaced.has_new_events(ws.model("routes")) != compat
    assert replaced.has_new_events(ws.model("snowplow_cmp_visible_1"))


@pytest.mark.parametrize("compat", [False, True])
def test_which_row_of_a_key_stays_and_where_it_is_looked_for(
    spark: SparkSession, tmp_path: Path, compat: bool
):
    ws = Normalized(spark, tmp_path, compat=compat, **TABLES).workspace
    limits = Limits(State.STANDARD, at("2024-03-05"), at("2024-03-07"), None, at("2024-03-07"))
    nothing = spark.range(0)
    frames = dict.fromkeys(("sessions", "users", "everyone", "events", "cached"), nothing)
    days = (date(2024, 3, 5), date(2024, 3, 6))
    intake = Intake(**frames, found=None, reached=None, days=days, counts={})
    replaced = ReplacedRows(ws, intake, limits, {})
    pages, users = ws.model("pages_1"), ws.model("snowplow_events_users")
    assert (replaced.keeps(pages), replaced.keeps(users)) == (
        ("new", "new") if compat else ("earliest", "latest")
    )
    # A user is found however long ago the latest event was; in the reference within 30 days.
    month = (DayRange(date(2024, 2, 4), date(2024, 3, 6)),)
    assert replaced.search(users) == (month if compat else None)


@pytest.mark.slow
def test_compat_replaces_copies_and_newer_users(spark: SparkSession, tmp_path: Path):
    site = Normalized(spark, tmp_path, compat=True, lookback_window_hours=24 * 9, **TABLES)
    site.arrive(event("e1", None, "2024-01-02 10:00", page="p1", cookie="ann"))
    site.run("2024-01-03 00:00")
    site.configure(app_id="other", lookback_window_hours=0)
    site.arrive(event("e1", None, "2024-03-05 10:00", page="copy", cookie="ann", app_id="other"))
    site.run("2024-01-31 00:00")
    site.configure(backfill_limit_days=90)
    site.run("2024-03-06 00:00")
    # As in the reference, what comes after 30 days of silence is stored a second time.
    assert site.rows("snowplow_events_users", "visitor_id", "latest_collector_tstamp") == [
        ("ann", "2024-01-02 10:00:00"),
        ("ann", "2024-03-05 10:00:00"),
    ]
    site.configure(upsert_lookback_days=90)
    site.arrive(event("e2", None, "2024-03-06 10:00", page="p2", cookie="ann", app_id="other"))
    site.run("2024-03-07 00:00")
    assert site.rows("pages_1", "event_id", "page_id") == [
        ("e1", "copy"),
        ("e1", "copy"),
        ("e2", "p2"),
    ]
