"""A project's own models are right after late events, re-runs and runs without them."""

from __future__ import annotations

import shutil
from datetime import date
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from own_models import write_own_models
from website import ONLY_PAGE_VIEWS, Site, at, event
from windrow.engine import upsert

pytestmark = pytest.mark.ci

HEAD = """
from pyspark.sql import functions as F
from windrow import model, stored
"""

PYTHON = """
@model(key="page_view_id", date="start_tstamp")
def seen(page_views):
    return page_views.select("page_view_id", "domain_sessionid", "start_tstamp")

@model(key=("page_url", "domain_sessionid"))
def pages_of_sessions(page_views):
    return page_views.groupBy("page_url", "domain_sessionid").agg(F.count("*").alias("views"))

@model(key="event_id")
def first_events(events):
    return events.select("event_id", "domain_sessionid", "page_url")

@model(key=("day", "page_url"))
def daily_by_hand(page_views, all_page_views=stored("page_views")):
    days = page_views.select("start_tstamp_date").distinct()
    views = all_page_views.join(days, "start_tstamp_date", how="left_semi")
    return views.groupBy(F.col("start_tstamp_date").alias("day"), "page_url").agg(
        F.count("*").alias("views")
    )
"""

DAILY_PAGES = """
@model(key=("day", "page_url"), date="day", per={"day": "start_tstamp_date"})
def daily_pages(page_views):
    return page_views.groupBy(F.col("start_tstamp_date").alias("day"), "page_url").agg(
        F.count("*").alias("views")
    )
"""

LAST_SEEN = """
-- key: page_url
-- tags: nightly
select page_url, max(start_tstamp) as last_seen
from page_views_this_run
where page_url is not null
group by page_url
"""

VIEWS_OF_DAYS = """
-- key: seen_on
-- An aggregate of an aggregate.
select d.day as seen_on, sum(d.views) as views
from daily_pages_this_run as d
group by d.day
"""

A, B, C = (f"https://shop.example/{name}" for name in "abc")
FIRST, SECOND = date(2024, 1, 1), date(2024, 1, 2)


def views(*of: tuple[str, str, str, str, str]) -> list[dict]:
    return [event(e, s, when, page=p, page_url=url) for e, s, when, p, url in of]


def a_site(spark: SparkSession, folder: Path, python: str, **sql: str) -> Site:
    """A site with models of its own, after its first run."""
    site = Site(spark, folder, format="delta", **ONLY_PAGE_VIEWS)
    models = folder / "models"
    models.mkdir()
    (models / "own.py").write_text(HEAD + python)
    for name, text in {"views_of_days": VIEWS_OF_DAYS, **sql}.items():
        (models / f"{name}.sql").write_text(text)
    site.arrive(
        *views(
            ("e1", "s1", "2024-01-02 00:10", "p1", A),
            ("e2", "s1", "2024-01-02 00:20", "p2", B),
            ("e3", "s2", "2024-01-01 10:00", "p3", A),
            ("e4", "s2", "2024-01-01 10:05", "p4", C),
        )
    )
    assert not site.run("2024-01-02 01:00").has_failed
    return site


def aggregates(site: Site) -> dict[str, list[tuple]]:
    return {
        "daily_pages": site.rows("daily_pages", "day", "page_url", "views"),
        "daily_by_hand": site.rows("daily_by_hand", "day", "page_url", "views"),
        "last_seen": site.rows("last_seen", "page_url", "last_seen"),
        "views_of_days": site.rows("views_of_days", "seen_on", "views"),
    }


def expected(daily: list[tuple], last_seen: list[tuple], days: list[tuple]) -> dict:
    return {
        "daily_pages": daily,
        "daily_by_hand": daily,
        "last_seen": last_seen,
        "views_of_days": days,
    }


AT_FIRST = expected(
    [(FIRST, A, 1), (FIRST, C, 1), (SECOND, A, 1), (SECOND, B, 1)],
    [(A, "2024-01-02 00:10:00"), (B, "2024-01-02 00:20:00"), (C, "2024-01-01 10:05:00")],
    [(FIRST, 2), (SECOND, 2)],
)
MOVED = expected(
    [(FIRST, A, 1), (FIRST, B, 1), (FIRST, C, 1), (SECOND, B, 1)],
    [(A, "2024-01-01 10:00:00"), (B, "2024-01-02 00:20:00"), (C, "2024-01-01 10:05:00")],
    [(FIRST, 3), (SECOND, 1)],
)


def moving(site: Site) -> None:
    """Page view p1 turns out to have begun before midnight, on another page."""
    site.arrive(*views(("e0", "s1", "2024-01-01 23:50", "p1", B)))


def test_rows_are_right_after_a_late_event_and_after_a_rerun_without_events(
    spark: SparkSession, tmp_path: Path
):
    site = a_site(spark, tmp_path, python=PYTHON + DAILY_PAGES, last_seen=LAST_SEEN)
    assert aggregates(site) == AT_FIRST
    moving(site)
    assert not site.run("2024-01-02 02:00").has_failed
    assert aggregates(site) == MOVED
    assert site.rows("pages_of_sessions", "page_url", "domain_sessionid", "views") == [
        (A, "s2", 1),
        (B, "s1", 2),
        (C, "s2", 1),
    ]

    shutil.rmtree(site.folder / "events")
    site.arrive(
        *views(("e2", "s1", "2024-01-02 00:20", "p2", B), ("e3", "s2", "2024-01-01 10:00", "p3", A))
    )
    project = site.project()
    assert not project.rerun("web", project.plan_rerun("web", first=at("2024-01-01")))[0].has_failed
    assert site.rows("page_views", "page_view_id") == [("p2",), ("p3",)]
    assert site.rows("seen", "page_view_id", "domain_sessionid") == [("p2", "s1"), ("p3", "s2")]
    assert site.rows("first_events", "event_id") == [("e2",), ("e3",)]
    assert site.rows("pages_of_sessions", "page_url", "domain_sessionid", "views") == [
        (A, "s2", 1),
        (B, "s1", 1),
    ]
    assert aggregates(site) == expected(
        [(FIRST, A, 1), (SECOND, B, 1)],
        [(A, "2024-01-01 10:00:00"), (B, "2024-01-02 00:20:00")],
        [(FIRST, 1), (SECOND, 1)],
    )


def last_operation(site: Site, name: str) -> str:
    ws = site.workspace
    return ws.tables.history(ws.table(ws.model(name)))[0].operation


def test_only_touched_keys_are_made_anew_unless_the_model_did_not_look(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    # A table as small as these is else written anew as a whole, whatever was made anew of it.
    monkeypatch.setattr(upsert, "_FEW_ROWS", 0)
    monkeypatch.setattr(upsert, "_STORED_PER_CHANGED", 0)
    site = a_site(spark, tmp_path, python=DAILY_PAGES)
    site.project().maintain("web", retention_days=7)
    site.arrive(*views(("e5", "s1", "2024-01-02 00:30", "p5", A)))
    site.run("2024-01-02 01:30")
    assert last_operation(site, "daily_pages") == "MERGE"
    assert last_operation(site, "views_of_days") == "MERGE"
    assert site.rows("views_of_days", "seen_on", "views") == [(FIRST, 2), (SECOND, 3)]

    moving(site)
    site.run("2024-01-02 02:00", select="page_views")
    # Nothing of what changed then is new in this run.
    site.run("2024-01-02 02:00", select="daily_pages views_of_days")
    assert last_operation(site, "daily_pages") == "WRITE"
    assert site.rows("views_of_days", "seen_on", "views") == [(FIRST, 3), (SECOND, 2)]

    site.run("2024-01-02 02:00", select="views_of_days", full_refresh=True)
    assert site.rows("views_of_days", "seen_on", "views") == [(FIRST, 3), (SECOND, 2)]


REFUSED = """
@model(key="page_url")
def from_events(events):
    return events.groupBy("page_url").agg(F.count("*").alias("events"))

@model(key="page_url")
def from_two(events, page_views):
    return page_views.join(events, "page_url").select("page_url").distinct()

@model(key="page_view_id")
def without_session(page_views):
    return page_views.select("page_view_id", "page_url")

@model(key="page_view_id", columns={"page_view_id": "string"})
def declared_without_session(page_views):
    return page_views

@model(key="page_url")
def from_former_rows(page_views, known=stored("from_former_rows")):
    return page_views.select("page_url").distinct()

@model(key="page")
def made_of_what(page_views):
    return page_views.groupBy(F.col("page_url").alias("page")).count()

@model(key="page_url")
def made_of_something_else(page_views):
    return page_views.groupBy(F.upper("page_url").alias("page_url")).count()

@model(key="page_urlpath")
def nameless(page_views):
    return page_views.groupBy("page_urlpath").count()

@model(key="page_url", kind="rebuilt")
def rebuilt(page_views=stored("page_views")):
    return page_views.groupBy("page_url").count()

@model(key="page_url", replaces="domain_sessionid")
def as_declared(events):
    return events.select("page_url", "domain_sessionid").distinct()
"""

SHARES = """
-- key: page_url
select page_url, count(*) / sum(count(*)) over () as share
from page_views_this_run
group by page_url
"""


def test_what_can_be_neither_is_refused_with_the_reason(spark: SparkSession, tmp_path: Path):
    site = Site(spark, tmp_path, format="delta", **ONLY_PAGE_VIEWS)
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "own.py").write_text(HEAD + REFUSED)
    (tmp_path / "models" / "shares.sql").write_text(SHARES)
    site.arrive(*views(("e1", "s1", "2024-01-02 10:00", "p1", A)))
    result = site.run("2024-01-02 12:00")
    found = {it.name: it.error or "" for it in result.models}

    for name, part in {
        "from_events": "a row per page_url, made from the run's events. A run has only a part",
        "from_two": "made from the run's rows of events and page_views together",
        "without_session": "has rows of sessions, but not the column domain_sessionid",
        "declared_without_session": "Add domain_sessionid to its rows",
        "from_former_rows": "made from the run's rows of page_views and its own former rows",
        "made_of_what": "'page' is made of 'page', which is no column of page_views",
        "made_of_something_else": "made a row for page_url = 'HTTPS://SHOP.EXAMPLE/A', which no",
        "nameless": "made a row whose key is not known (page_urlpath = None)",
        "shares": "it has a window function, which looks at the rows of other keys",
    }.items():
        assert part in found[name]
    for way_out in ("key it by session", "from one stored model", "replaces", "kind 'rebuilt'"):
        assert way_out in found["from_events"]
    succeeded = {it.name for it in result.models if it.outcome == "succeeded"}
    assert succeeded == {"snowplow_web_page_views", "rebuilt", "as_declared"}
    ws = site.workspace
    assert not ws.tables.exists(ws.table(ws.model("from_events")))


def test_a_plan_names_models_whose_cost_grows_with_history(spark: SparkSession, tmp_path: Path):
    write_own_models(tmp_path)
    site = Site(spark, tmp_path)
    site.arrive(event("e1", "s1", "2024-01-01 10:00", page="p1"))
    why = site.project().plan("web", now=at("2024-01-02 00:00")).unbounded
    assert "daily_sources" not in why
    assert "long_views" not in why
    assert "no column of its key is the day of page_views" in why["visited_pages"]
    assert why["days_by_hand"] == "it takes all stored rows of page_views"
    assert why["clicks"] == "a stored row with one of its keys may lie on any day"
