"""A project's own models of every documented kind, for tests of how runs are cut."""

from __future__ import annotations

from pathlib import Path

PYTHON = """
from pyspark.sql import functions as F
from windrow import model, stored
from windrow.models.model import Reads

# Rows of sessions, declared and not.
@model(key="page_view_id", date="start_tstamp", replaces="domain_sessionid")
def long_views(page_views):
    return page_views.select("page_view_id", "start_tstamp", "domain_sessionid")

@model(key="event_id", reads=Reads(("event_id", "event_name", "derived_tstamp")))
def clicks(events):
    clicked = events.where("event_name = 'link_click'")
    return clicked.select("event_id", "domain_sessionid", "derived_tstamp")

@model(key=("page_url", "domain_sessionid"))
def pages_of_sessions(page_views):
    return page_views.groupBy("page_url", "domain_sessionid").agg(F.count("*").alias("views"))

# Aggregates of stored models: by page, by day, by what a later login changes in older sessions.
@model(key="page_url")
def visited_pages(page_views):
    return page_views.groupBy("page_url").agg(F.max("start_tstamp").alias("last_seen"))

@model(key=("day", "source"), date="day", per={
    "day": "start_tstamp_date", "source": "coalesce(mkt_source, 'none')"
})
def daily_sources(page_views):
    return page_views.groupBy(
        F.col("start_tstamp_date").alias("day"),
        F.coalesce("mkt_source", F.lit("none")).alias("source"),
    ).agg(F.count("*").alias("views"), F.sum("engaged_time_in_s").alias("engaged"))

@model(key="stitched_user_id")
def persons(sessions):
    known = sessions.where("stitched_user_id is not null")
    return known.groupBy("stitched_user_id").agg(F.count("*").alias("sessions"))

# Looking things up in a table that changes too.
@model(key="page_url")
def visits_to_pages(page_views, people=stored("users")):
    visits = people.select("domain_userid", F.col("sessions").alias("visits"))
    known = page_views.join(visits, "domain_userid")
    return known.groupBy("page_url").agg(F.sum("visits").alias("visits"))

# The whole table beside the run's rows, and whole tables alone.
@model(key="start_tstamp_date")
def days_by_hand(page_views, every=stored("page_views")):
    days = page_views.select("start_tstamp_date").distinct()
    of_days = every.join(days, "start_tstamp_date", how="left_semi")
    return of_days.groupBy("start_tstamp_date").agg(F.count("*").alias("views"))
"""

SQL = {
    "views_of_days": """
        -- key: seen_on
        select day as seen_on, sum(views) as views from daily_sources_this_run group by day
    """,
    "users_of_days": """
        -- key: first_day
        -- date: first_day
        select to_date(u.start_tstamp) as first_day, count(*) as users, sum(u.sessions) as sessions
        from users_this_run as u group by 1
    """,
    "totals": """
        -- kind: rebuilt
        select count(*) as days, sum(views) as views from views_of_days
    """,
}


def write_own_models(folder: Path) -> None:
    """The models among a project's files."""
    models = folder / "models"
    models.mkdir(parents=True)
    (models / "own.py").write_text(PYTHON)
    for name, text in SQL.items():
        lines = (line.strip() for line in text.strip().splitlines())
        (models / f"{name}.sql").write_text("\n".join(lines))
