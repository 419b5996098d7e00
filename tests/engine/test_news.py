"""A run with nothing new writes nothing, and never takes late events for nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from costs import counted
from website import ONLY_PAGE_VIEWS, Site, at, event
from windrow import RunResult
from windrow.engine.news import EventTimes

OWN_REBUILT = """
from windrow import model, stored

@model(kind="rebuilt", key="page_view_id")
def all_views(page_views=stored("page_views")):
    return page_views.select("page_view_id")
"""


HOUR = 3_600_000_000
BEGIN = int(at("2024-01-01 00:00").timestamp()) * 1_000_000


def test_what_is_told_of_events_leaves_out_what_no_look_back_reaches():
    hour, begin = HOUR, BEGIN
    seen = EventTimes({begin: (3, 70), begin + hour: (2, 11)})
    assert seen.count == 5
    since = at("2024-01-01 01:30")
    assert seen.told(since) == EventTimes({begin + hour: (2, 11)}).told(since)
    assert seen.told(since) == EventTimes({begin + hour: (2, 11), None: (0, 0)}).told(since)
    for late in ({begin + hour: (3, 40)}, {begin + hour: (2, 12)}, {begin + 2 * hour: (1, 5)}):
        assert seen.told(since) != EventTimes({**seen.hours, **late}).told(since)
    # Times that cannot be read belong to no hour, and count all the same.
    assert seen.told(since) != EventTimes({**seen.hours, None: (1, 0)}).told(since)
    assert seen.count_since(since) == 2


@pytest.mark.parametrize(
    ("change", "first"),
    [
        ({}, None),
        ({BEGIN + 3 * HOUR: (1, 5)}, "2024-01-01 03:00"),
        ({BEGIN + 2 * HOUR: (5, 11), BEGIN + 3 * HOUR: (1, 5)}, "2024-01-01 02:00"),
        ({BEGIN + 2 * HOUR: (4, 12)}, "2024-01-01 02:00"),
        ({BEGIN + 2 * HOUR: (0, 0)}, "2024-01-01 02:00"),
        # Of the hour in which the look-back begins nobody knows which half is new.
        ({BEGIN + HOUR: (9, 9)}, "2024-01-01 01:30"),
        # What no look-back reaches any more is nobody's business.
        ({BEGIN: (9, 9)}, None),
        ({None: (1, 0)}, "2024-01-01 01:30"),
    ],
)
def test_news_begin_with_the_first_hour_that_has_changed(
    change: dict[int | None, tuple[int, int]], first: str | None
):
    since = at("2024-01-01 01:30")
    before = {BEGIN: (3, 70), BEGIN + HOUR: (2, 11), BEGIN + 2 * HOUR: (4, 11)}
    told = EventTimes(dict(before)).told(since)
    found = EventTimes({**before, **change}).first_change(told, since)
    assert found == (None if first is None else at(first))


def test_what_was_noted_in_another_way_makes_everything_new():
    since = at("2024-01-01 01:30")
    digest = "0123456789abcdef0123456789abcdef"
    assert EventTimes({BEGIN + 2 * HOUR: (4, 11)}).first_change(digest, since) == since


@pytest.fixture
def site(spark: SparkSession, tmp_path: Path) -> Site:
    made = Site(spark, tmp_path, format="delta", **ONLY_PAGE_VIEWS)
    made.arrive(
        event("e1", "s1", "2024-01-02 10:00", page="p1"),
        event("e2", "s2", "2024-01-02 12:00", page="p2"),
    )
    made.first_run("2024-01-03 00:00")
    return made


def versions(site: Site) -> dict[str, Any]:
    ws = site.workspace
    tables = [*ws.protected, ws.table(ws.model("page_views")), ws.runs.table, ws.leases.table]
    return {str(table): ws.tables.version(table) for table in tables}


@pytest.mark.ci
def test_nothing_new_writes_nothing_and_a_late_event_is_news(site: Site):
    before = versions(site)
    with counted(site.spark) as cost:
        result = site.run("2024-01-03 02:00")
    assert result.outcome == "nothing_to_do"
    assert "no event is new since run" in (result.plan.nothing_because or "")
    assert cost.executions <= 4, cost
    assert versions(site) == before
    assert site.project().plan("web", now=at("2024-01-03 03:00")).nothing_because

    # Loaded late, but within the look-back: an hour has one more event.
    site.arrive(event("late", "s2", "2024-01-02 11:00", page="p0"))
    assert site.run("2024-01-03 04:00").outcome == "succeeded"
    assert site.rows("page_views", "page_view_id") == [("p0",), ("p1",), ("p2",)]
    assert site.run("2024-01-03 04:00").outcome == "nothing_to_do"


@pytest.mark.ci
def test_events_that_change_no_table_are_looked_at_once(site: Site):
    site.arrive(event("without", None, "2024-01-03 03:00"))
    assert site.run("2024-01-03 05:00").outcome == "succeeded"
    assert site.run("2024-01-03 06:00").outcome == "nothing_to_do"


@pytest.mark.ci
def test_whoever_changed_something_is_not_told_that_nothing_is_new(site: Site):
    (run,) = site.workspace.runs.last("web", 1)
    site.project().rollback("web", run.run_id)
    assert site.run("2024-01-03 00:00").outcome == "succeeded"
    assert site.rows("page_views", "page_view_id") == [("p1",), ("p2",)]

    heartbeat = {"web": {"heartbeat": 20}}
    assert site.run("2024-01-03 00:00", heartbeat).outcome == "succeeded"
    assert site.run("2024-01-03 00:00", heartbeat).outcome == "nothing_to_do"

    (site.folder / "models").mkdir()
    (site.folder / "models" / "own.py").write_text(OWN_REBUILT)
    for _ in range(2):
        # What it reads beside events may have changed, so it is made each time.
        assert site.run("2024-01-03 00:00", heartbeat).outcome == "succeeded"
    assert site.rows("all_views", "page_view_id") == [("p1",), ("p2",)]


VIEW = ("page_view_id", "domain_sessionid")


def look_back(result: RunResult) -> tuple[str | None, int]:
    """From when on sessions were looked for, if not in all of the window; how many were found."""
    until = result.plan.settled_until
    return None if until is None else f"{until:%H:%M}", (result.counts or {})["sessions"]


@pytest.mark.ci
def test_sessions_of_the_look_back_are_left_alone_unless_something_is_new_of_them(site: Site):
    # One session goes on, one begins; of the other the look-back has nothing new.
    site.arrive(
        event("e3", "s2", "2024-01-02 14:00", page="p3"),
        event("e4", "s4", "2024-01-02 14:30", page="p4"),
    )
    result = site.run("2024-01-03 01:00")
    assert look_back(result) == ("14:00", 2)
    assert result.plan.limits.lower == at("2024-01-02 06:00")
    assert result.reached == at("2024-01-02 14:30")
    views = [("p1", "s1"), ("p2", "s2"), ("p3", "s2"), ("p4", "s4")]
    assert site.rows("page_views", *VIEW) == views

    # A late event of its own brings a session in, from the hour of that event on.
    site.arrive(event("late", "s1", "2024-01-02 12:30", page="p5"))
    assert look_back(site.run("2024-01-03 02:00")) == ("12:00", 3)
    assert site.rows("page_views", *VIEW) == [*views, ("p5", "s1")]

    # An event that counts for nobody moves nothing, and the next run knows of it.
    site.arrive(event("nobody", None, "2024-01-02 14:50"))
    result = site.run("2024-01-03 02:00")
    assert (look_back(result), result.reached) == (("14:00", 2), at("2024-01-02 14:30"))
    assert site.run("2024-01-03 02:00").outcome == "nothing_to_do"


@pytest.mark.ci
def test_a_copy_in_a_session_that_was_left_alone_counts_once(site: Site):
    # The tracker sent an event again under another session.
    site.arrive(
        event("e2", "s5", "2024-01-02 13:00", page="p2"),
        event("e5", "s5", "2024-01-02 13:05", page="p5"),
    )
    result = site.run("2024-01-03 01:00")
    assert result.counts is not None
    assert result.counts["shares_events"] == 1
    assert site.rows("page_views", *VIEW) == [("p1", "s1"), ("p2", "s2"), ("p5", "s5")]

    # Where events lay in several sessions, the next run looks at all of them at once.
    site.arrive(event("e6", "s6", "2024-01-02 13:30", page="p6"))
    assert look_back(site.run("2024-01-03 02:00")) == (None, 4)
    site.arrive(event("e7", "s7", "2024-01-02 14:10", page="p7"))
    assert look_back(site.run("2024-01-03 03:00")) == ("14:00", 1)


@pytest.mark.ci
@pytest.mark.parametrize("option", [{"compat": True}, {"keep_this_run": True}, {"heartbeat": 20}])
def test_who_wants_all_of_the_window_gets_it(site: Site, option: dict[str, Any]):
    site.arrive(event("e3", "s3", "2024-01-02 14:00", page="p3"))
    assert look_back(site.run("2024-01-03 01:00", {"web": option})) == (None, 3)


@pytest.mark.ci
def test_what_is_late_waits_for_a_run_whose_clock_is_not_behind(site: Site):
    site.arrive(event("late", "s9", "2024-01-02 09:00", page="p9"))
    # Models were further already: this one consumes nothing.
    assert site.run("2024-01-02 11:30").reached is not None
    site.arrive(event("e3", "s3", "2024-01-03 01:00", page="p3"))
    assert look_back(site.run("2024-01-03 02:00")) == (None, 4)
    views = [("p1", "s1"), ("p2", "s2"), ("p3", "s3"), ("p9", "s9")]
    assert site.rows("page_views", *VIEW) == views


@pytest.mark.ci
def test_what_a_released_session_has_beyond_the_others_is_taken_in(site: Site):
    site.project().add_to_quarantine("web", ["s2"])
    site.arrive(
        event("e3", "s3", "2024-01-02 12:30", page="p3"),
        event("e4", "s2", "2024-01-02 12:50", page="p4"),
    )
    assert site.run("2024-01-02 13:00").reached == at("2024-01-02 12:30")
    site.project().release_from_quarantine("web", ["s2"], now=at("2024-01-02 13:05"))
    site.arrive(event("e5", "s5", "2024-01-02 13:10", page="p5"))
    assert site.run("2024-01-02 13:30").outcome == "succeeded"
    assert site.rows("page_views", "page_view_id") == [(f"p{number}",) for number in range(1, 6)]


@pytest.mark.ci
def test_pings_of_other_sessions_are_not_left_alone_where_they_count(
    spark: SparkSession, tmp_path: Path
):
    site = Site(spark, tmp_path, **ONLY_PAGE_VIEWS, limit_page_views_to_session=False)
    site.arrive(event("e1", "s1", "2024-01-02 10:50", page="p1"))
    site.run("2024-01-02 11:00")
    # The page stays open, and the session is another one.
    pings = [f"2024-01-02 11:{minute}" for minute in ("05:00", "05:10", "05:20")]
    site.arrive(
        *(event(f"ping {when}", "s2", when, "page_ping", page="p1") for when in pings),
    )
    site.run("2024-01-02 12:00")
    site.arrive(event("e3", "s1", "2024-01-02 12:10", page="p3"))
    assert look_back(site.run("2024-01-02 13:00")) == (None, 2)
    assert site.rows("page_views", "page_view_id", "engaged_time_in_s") == [("p1", 25), ("p3", 0)]
