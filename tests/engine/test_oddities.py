"""Oddities of the base: the rule by default and the reference's, on frames; docs/compat.md."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from website import Site, at, event, event_frame, rows
from windrow.engine.commit import reached_by
from windrow.engine.intake import lifecycle
from windrow.engine.intake.copies import copies_in_other_sessions
from windrow.engine.intake.record import _over_long
from windrow.engine.intake.session_events import named_users, user_of_session
from windrow.engine.intake.values import Intake
from windrow.engine.options import PLAIN, RunOptions
from windrow.engine.plan import _limits
from windrow.engine.refresh import fresh_start
from windrow.engine.replaced_rows import ReplacedRows, looked_back
from windrow.models.foundation import SESSION_ID, USER_ID, Foundation
from windrow.packages.web.settings import WebSettings
from windrow.state.limits import Limits, State
from windrow.tables.frames import frame_of

OURS, REFERENCE = WebSettings(), WebSettings(compat=True)
OWN_MODELS = """
from windrow import model

@model(key="page_view_id", date="start_tstamp")
def pages(page_views):
    return page_views

@model(key="page_view_id", date="start_tstamp")
def pages_of_pages(pages):
    return pages
"""
LIFE = {
    SESSION_ID: "string",
    USER_ID: "string",
    "start_tstamp": "timestamp",
    "end_tstamp": "timestamp",
    "start_tstamp_date": "date",
}


def lives(spark: SparkSession, *found: tuple[str, str, str, str]) -> DataFrame:
    """Session, user, first and last minute."""
    return frame_of(spark, [[*life, life[2][:10]] for life in found], LIFE)


def an_intake(sessions: DataFrame, **known: Any) -> Intake:
    nobody = sessions.select(USER_ID)
    given = {"users": nobody, "everyone": nobody, "events": sessions, "cached": sessions}
    given |= {"found": None, "reached": None, "days": (), "counts": {}}
    return Intake(sessions=sessions, **{**given, **known})


@pytest.fixture(scope="module")
def site(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Site:
    """One event, weeks after the start date; nothing was run."""
    site = Site(spark, tmp_path_factory.mktemp("odd"), target="prod", backfill_limit_days=3)
    site.arrive(event("e1", "s1", "2024-01-20 10:00", page="p1"))
    return site


@pytest.mark.parametrize("compat", [False, True])
def test_leave_to_refresh_refreshes_nothing_by_itself(site: Site, compat: bool) -> None:
    ws = site.project({"web": {"allow_refresh": True, "compat": compat}}).workspace("web")
    positions = dict.fromkeys(("snowplow_web_sessions",), at("2024-01-20 10:00"))
    assert not fresh_start(ws, ws.models, positions, PLAIN)
    for asked in (RunOptions(full_refresh=True), RunOptions(refresh_manifests=True)):
        assert fresh_start(ws, ws.models, positions, asked).is_whole


@pytest.mark.parametrize("compat", [False, True])
def test_a_window_without_events_reaches_on_unless_compat(site: Site, compat: bool) -> None:
    plan = site.project({"web": {"compat": compat}}).plan("web", now=at("2024-01-31 00:00"))
    assert (plan.gap is None) == compat
    assert (plan.limits.upper > at("2024-01-20 10:00")) != compat


def test_a_session_has_the_user_of_its_earliest_event_and_in_compat_the_greatest_of_its_first_run(
    spark: SparkSession,
) -> None:
    columns = {SESSION_ID: "string", USER_ID: "string", "event_id": "string", "tstamp": "timestamp"}
    window = frame_of(
        spark,
        [
            ("s", None, "1", "2024-01-02 10:00:00"),
            ("s", "b", "2", "2024-01-02 10:01:00"),
            ("s", "c", "3", "2024-01-02 10:02:00"),
        ],
        columns,
    )
    stored = lives(spark, ("s", "a", "2024-01-01 10:00:00", "2024-01-01 11:00:00"))
    for settings, user in ((OURS, "b"), (REFERENCE, "c")):
        new = lifecycle.sessions_with_new_events(window, settings)
        assert rows(new.select(USER_ID)) == [(user,)]
        later = lifecycle.continued(new, stored, Foundation(), settings)
        assert rows(later.select(USER_ID, "start_tstamp")) == [("a", "2024-01-01 10:00:00")]
    # All its events, and the user on record: an event that was loaded late names another one.
    events = window.withColumnsRenamed({USER_ID: "domain_userid", "tstamp": "collector_tstamp"})
    for settings, user in ((OURS, "b"), (REFERENCE, "a")):
        named = named_users(Foundation(), settings)
        of_all = events.agg(*(value.alias(name) for name, value in named.items()))
        chosen = user_of_session(settings)
        of_session = of_all.withColumn(USER_ID, F.lit("a")).withColumns(chosen)
        assert rows(of_session.select(*chosen)) == [(user, True)]


def test_caps_keep_fractions_of_a_second(spark: SparkSession) -> None:
    instant = "2024-01-01 10:00:00.123456"
    new = lives(spark, ("s", "u", instant, "2024-02-01 10:00:00")).drop("start_tstamp_date")
    for settings in (OURS, REFERENCE):
        life = lifecycle.continued(new, lives(spark), Foundation(), settings)
        ends = life.select(F.col("start_tstamp").cast("string"), F.col("end_tstamp").cast("string"))
        assert [tuple(row) for row in ends.collect()] == [(instant, "2024-01-04 10:00:00.123456")]


@pytest.mark.parametrize("compat", [False, True])
def test_a_model_is_up_to_date_by_its_own_name_and_then_its_rows_stay(
    site: Site, compat: bool
) -> None:
    (site.folder / "models").mkdir(exist_ok=True)
    (site.folder / "models" / "own.py").write_text(OWN_MODELS)
    ws = site.project({"web": {"compat": compat}}).workspace("web")
    tracked = {name for member in ws.models for name in member.tracked_names}
    # Without any tag, and though one of them reads no event itself.
    assert {"pages", "pages_of_pages"} <= tracked
    for member in ws.models:
        assert ws.table(member).name == member.full_name
        assert member.full_name in tracked
    there = at("2024-01-20 10:00")
    known = dict.fromkeys(tracked - {"pages_of_pages"}, there)
    limits = Limits(State.NEW_MODEL, at("2024-01-01"), at("2024-01-04"), None, there)
    replaced = ReplacedRows(ws, an_intake(lives(ws.spark)), limits, known)
    new = [member.name for member in ws.models if replaced.has_new_events(member)]
    assert new == ["pages_of_pages"]


@pytest.mark.parametrize("compat", [False, True])
def test_a_user_is_looked_for_wherever_the_row_may_lie(site: Site, compat: bool) -> None:
    """With the upsert by key, this is why a row whose day moved is not stored twice."""
    ws = site.project({"web": {"compat": compat}}).workspace("web")
    limits = Limits(State.STANDARD, at("2024-01-03"), at("2024-01-04"), None, at("2024-01-04"))
    # Both days of a session whose start moved: where it lies and where it comes to lie.
    moved = (date(2024, 1, 2), date(2023, 12, 31))
    replaced = ReplacedRows(ws, an_intake(lives(ws.spark), days=moved), limits, {})
    assert replaced.search(ws.model("users")) is None
    found = replaced.search(ws.model("sessions")) or ()
    assert {*moved} <= {day for days in found for day in days.days()}


@pytest.mark.parametrize("compat", [False, True])
def test_a_capped_session_that_is_not_of_the_run_is_quarantined_unless_compat(
    site: Site, compat: bool
) -> None:
    ws = site.project({"web": {"compat": compat}}).workspace("web")
    capped = lives(ws.spark, ("old", "u", "2024-01-02 10:00:00", "2024-01-05 10:00:00"))
    of_run = lives(ws.spark, ("new", "u", "2024-01-20 10:00:00", "2024-01-20 11:00:00"))
    intake = an_intake(of_run.drop("start_tstamp_date"))
    found = _over_long(ws, intake, ws.foundation.as_recorded(capped), has_over_long=True)
    assert found is not None
    assert rows(found.select("session_id")) == ([] if compat else [("old",)])


def test_a_session_is_found_however_old_it_is_and_in_compat_within_the_look_back(
    spark: SparkSession,
) -> None:
    stored = lives(
        spark,
        ("old", "u", "2021-01-02 10:00:00", "2021-01-02 11:00:00"),
        ("new", "u", "2024-01-02 10:00:00", "2024-01-02 11:00:00"),
    )
    limits = Limits(State.STANDARD, at("2024-01-03"), at("2024-01-04"), None, at("2024-01-04"))

    def found(settings: WebSettings) -> list[str]:
        earlier = lifecycle.earlier_rows(stored, limits, settings)
        return [row[0] for row in rows(earlier.select(SESSION_ID))]

    assert found(OURS) == ["new", "old"]
    assert found(REFERENCE) == ["new"]
    assert found(WebSettings(compat=True, session_lookback_days=2000)) == ["new", "old"]


def test_catching_up_ends_at_the_leading_model_and_in_compat_at_an_event(
    spark: SparkSession,
) -> None:
    last = at("2024-01-04 12:00")
    limits = Limits(State.OUT_OF_SYNC, at("2024-01-03"), last, None, last)
    intake = an_intake(lives(spark))
    assert reached_by(intake, limits, compat=False) == last
    assert reached_by(intake, limits, compat=True) is None


@pytest.mark.parametrize(
    ("compat", "lower"), [(False, "2024-01-01 00:00"), (True, "2023-12-31 20:00")]
)
def test_nothing_before_the_start_date_is_looked_for_unless_compat(
    site: Site, compat: bool, lower: str
) -> None:
    ws = site.project({"web": {"compat": compat}}).workspace("web")
    limits = _limits(ws, {"m": at("2024-01-01 02:00")}, ["m"], at("2024-01-02"))
    assert limits.lower == at(lower)


def test_events_at_absurd_times_are_left_out_unless_compat(spark: SparkSession) -> None:
    events = event_frame(
        spark,
        [
            event("fine", "s", "2024-01-02 10:00"),
            event("old", "s", "2024-01-02 10:00", delay=timedelta(days=20_000)),
            event("ahead", "s", "2024-01-02 10:00", derived_tstamp=at("2024-01-09 10:00")),
            event("never", "s", "2024-01-02 10:00", derived_tstamp=None),
        ],
    )
    for settings, number in ((OURS, 1), (REFERENCE, 4)):
        assert events.where(Foundation().has_possible_times(settings)).count() == number


def test_a_copy_of_an_event_in_another_session_of_the_run_does_not_count(
    spark: SparkSession,
) -> None:
    events = event_frame(
        spark,
        [
            event("e", "first", "2024-01-02 10:00"),
            event("e", "second", "2024-01-02 11:00"),
            event("f", "second", "2024-01-02 11:00"),
        ],
    )
    for settings in (OURS, REFERENCE):
        copies = copies_in_other_sessions(events, Foundation(), settings)
        assert rows(copies.select("event_id", F.col("domain_sessionid"))) == [("e", "second")]


def test_a_plan_knows_for_how_long_ids_that_come_back_are_found(
    spark: SparkSession, tmp_path: Path
) -> None:
    web = Site(spark, tmp_path / "web", enable_cwv=True, upsert_lookback_days=10).workspace
    assert looked_back(web, web.models) == {"page_views": 10, "vitals": 10}
    shop = Site(spark, tmp_path / "shop")
    text = (tmp_path / "shop" / "windrow.yml").read_text().replace("web:", "ecommerce:")
    (tmp_path / "shop" / "windrow.yml").write_text(text)
    ws = shop.project().workspace("ecommerce")
    assert looked_back(ws, ws.models) == {"transaction_interactions": 30}
