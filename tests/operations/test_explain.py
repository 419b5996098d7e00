"""Where a session, event, user or page view is: many questions on one site, after one run.

Files of days that no question is about are gone: a look at one of them would fail.
"""

from __future__ import annotations

import json
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from event_tables import TableSite
from normalized import Normalized, entry
from phone_app import App, app_event
from random_runs import days_become_old
from shop import Shop
from website import ONLY_PAGE_VIEWS, Event, Site, at, event, event_frame
from windrow.cli import main
from windrow.errors import UsageError
from windrow.operations.explain import Explanation, Fate
from windrow.operations.explain.values import QuarantineNote, RowChange

pytestmark = pytest.mark.ci

LAST_DAY = date(2024, 1, 28)
QUOTED = 'it\'s "x" `y` [z]'
GOOGLE = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"


class OldSite(TableSite):
    """A site whose events lie in a table, a folder for each day: it knows what is where."""

    new_by = "collector"

    def arrive(self, *events: Event) -> None:
        frame = event_frame(self.spark, events).coalesce(1)
        dated = frame.withColumn("load_tstamp_date", F.to_date("load_tstamp"))
        if self.format == "delta":
            writer = dated.write.format("delta").mode("append").partitionBy("load_tstamp_date")
            writer.save(str(self.place))
        elif self.place.exists():
            dated.sortWithinPartitions("load_tstamp_date").writeTo(self.name).append()
        else:
            writer_to = dated.writeTo(self.name).using("iceberg")
            writer_to.partitionedBy(F.col("load_tstamp_date")).create()

    def ask(self, kind: str, id: str, now: str = f"{LAST_DAY} 00:00", **bounds: Any) -> Explanation:
        (told,) = self.project().explain(kind, id, now=at(now), **bounds)
        return told


def visit(day: date) -> list[Event]:
    return [
        event(
            f"{day}-{number}", f"s-{day}", f"{day} 10:0{number}", page=f"p-{day}", cookie=f"c-{day}"
        )
        for number in (0, 1)
    ]


def odd(event_id: str, session: str | None, when: str, *name: str, **columns: Any) -> Event:
    return event(event_id, session, when, *name, cookie="odd", **{"page": event_id, **columns})


def odd_events() -> list[Event]:
    """A visitor whose events are left out for every reason there is."""
    return [
        odd("bot", "bots", "2024-01-27 10:00", useragent=GOOGLE),
        odd("late", "slow", "2024-01-27 10:00", delay=timedelta(days=5)),
        odd("prompt", "slow", "2024-01-27 10:01"),
        odd("prompt", "slow", "2024-01-27 10:02"),
        odd("blog", "others", "2024-01-27 10:00", app_id="blog"),
        odd("nobody", None, "2024-01-27 10:00"),
        odd("never", "ancient", "2024-01-27 10:00", derived_tstamp=at("1980-01-01")),
        odd("begin", "long", "2024-01-22 10:00"),
        odd("end", "long", "2024-01-26 10:00", "page_ping", page="begin"),
        odd("click", "clicks", "2024-01-27 10:00", "link_click", page=None),
        odd("twice", "one", "2024-01-27 10:00"),
        odd("twice", "two", "2024-01-27 11:00"),
        odd("quoted", QUOTED, "2024-01-27 10:00"),
        odd("ping", QUOTED, "2024-01-27 10:01", "page_ping", page="quoted"),
    ]


on_delta = pytest.mark.parametrize("site", ["delta"], indirect=True)
on_both_formats = pytest.mark.parametrize("site", ["delta", "iceberg"], indirect=True)
"""For what is asked of the tables themselves; verdicts and sentences follow from the answers."""


@pytest.fixture(scope="module")
def site(
    request: pytest.FixtureRequest, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> OldSite:
    folder = tmp_path_factory.mktemp("explain")
    options = {"backfill_limit_days": 100, "app_id": ["shop"]}
    site = OldSite(spark, folder, format=request.param, **options)
    days = [date(2024, 1, number) for number in (1, 2, 10, 17, 18)]
    site.arrive(*(it for day in days for it in visit(day)), *odd_events())
    with days_become_old():
        assert site.run(f"{LAST_DAY} 00:00").outcome == "succeeded"
    # What came after the run: news, and an event of a week ago.
    site.arrive(
        event("news", "tomorrow", "2024-01-27 23:00", page="p9"),
        event(
            "straggler", "forgotten", "2024-01-24 10:00", page="p10", load_tstamp=at("2024-01-27")
        ),
    )
    gone = [delete_files(site, day) for day in days if day != date(2024, 1, 10)]
    assert gone == [5, 5, 5, 5]
    return site


def delete_files(site: Site, day: date) -> int:
    """Delete the data files of a day, of all tables that have days."""
    files = [
        *site.folder.glob(f"lake/**/load_tstamp_date={day}/*.parquet"),
        *site.folder.glob(f"warehouse/**/start_tstamp_date={day}/*.parquet"),
    ]
    for file in files:
        file.unlink()
    return len(files)


@on_both_formats
def test_a_session_of_long_ago_is_found_by_reading_its_own_days(site: OldSite) -> None:
    told = site.ask("session", "s-2024-01-10")
    (run,) = told.runs
    assert told.verdict.fate is Fate.IN_TABLES
    assert told.verdict.sentence.startswith(
        "Session s-2024-01-10 is in the tables: snowplow_web_page_views, snowplow_web_sessions; "
        f"last processed by run {run.run_id}"
    )
    (session,) = told.sessions
    assert (session.events, session.taken, session.left_out) == (2, 2, {})
    assert (session.start, session.end) == (at("2024-01-10 10:00"), at("2024-01-10 10:01"))
    rows = {it.table.removeprefix("derived.snowplow_web_"): it for it in told.tables}
    assert {name: it.rows for name, it in rows.items()} == {"page_views": 1, "sessions": 1}
    assert rows["sessions"].samples == (
        {
            "start_tstamp": at("2024-01-10 10:00"),
            "domain_sessionid": "s-2024-01-10",
            "start_tstamp_date": date(2024, 1, 10),
        },
    )
    assert {it.written_by for it in told.tables} == {run.run_id}
    assert {it.changes for it in told.tables} == {(RowChange(run.run_id, added=1),)}


@on_both_formats
def test_every_rule_that_leaves_events_out_is_named(site: OldSite) -> None:
    told = site.ask("user", "odd", first=at("2024-01-22 00:00"))
    assert {it.session: dict(it.left_out) for it in told.sessions} == {
        "bots": {"bot": 1},
        "slow": {"too_late": 1},
        "others": {"other_app": 1},
        None: {"without_session": 1},
        "ancient": {"absurd_time": 1},
        "long": {"past_cap": 1},
        "clicks": {},
        "one": {},
        "two": {"copy_elsewhere": 1},
        QUOTED: {},
    }
    facts = {it.session: it for it in told.sessions}
    assert (facts["slow"].events, facts["slow"].copies, facts["slow"].taken) == (3, 1, 2)
    copies = {it: facts[it].first_copies_in for it in facts if facts[it].first_copies_in}
    assert copies == {"two": ("one",)}
    assert told.reasons["copy_elsewhere"] == "whose first copy is in session one"
    assert [it for it in facts if facts[it].is_quarantined] == ["long"]
    (run,) = site.workspace.runs.last("web", 1)
    noted = QuarantineNote("max_session_days", at(f"{LAST_DAY} 00:00"), run.run_id)
    assert [it.quarantine for it in told.sessions if it.quarantine] == [noted]
    assert [it for it in facts if facts[it].taken and not facts[it].begins_row] == ["clicks"]
    known = {it for it in facts if facts[it].is_known}
    assert known == {"bots", "slow", "long", "clicks", "one", "two", QUOTED}


@on_delta
@pytest.mark.parametrize(
    ("kind", "id", "fate", "sentence"),
    [
        ("event", "ping", Fate.IN_TABLES, "Event ping counts in its session, which is in snow"),
        ("page-view", "quoted", Fate.IN_TABLES, "Page view quoted is in the tables: snowplow_web"),
        ("session", "two", Fate.LEFT_OUT, "of the same event in session one, which came first"),
        ("event", "end", Fate.LEFT_OUT, "more than 3 days after its session began (max_session"),
        ("user", "c-2024-01-10", Fate.IN_TABLES, "snowplow_web_sessions, snowplow_web_users"),
        ("session", "forgotten", Fate.MISSED, "`windrow rerun --from 2024-01-24 --to 2024-01-25`"),
        ("session", "it's none", Fate.NOT_FOUND, "2024-01-27 to 2024-01-28 (the days since"),
    ],
)
def test_the_verdict_says_where_it_is(
    site: OldSite, kind: str, id: str, fate: Fate, sentence: str
) -> None:
    days = {"first": at("2024-01-22 00:00")} if id in ("forgotten", "end") else {}
    verdict = site.ask(kind, id, **days).verdict
    assert (verdict.fate, sentence in verdict.sentence) == (fate, True), verdict.sentence


@on_delta
def test_the_command_tells_people_and_programs(site: OldSite, capsys: Any) -> None:
    asked = ["explain", "session", QUOTED, "--project-dir", str(site.folder), "-q"]
    assert main([*asked, "--now", "2024-01-28"], spark=site.spark) == 0
    text = capsys.readouterr().out
    assert f"  Session {QUOTED}: 2 events, collected 2024-01-27 10:00:00 to " in text
    (run,) = site.workspace.runs.last("web", 1)
    assert text.splitlines()[-1] == (
        f"Session {QUOTED} is in the tables: snowplow_web_page_views, snowplow_web_sessions; last "
        f"processed by run {run.run_id}, {run.finished_at:%Y-%m-%d %H:%M:%S}."
    )
    assert main([*asked, "--now", "2024-01-28", "--json"], spark=site.spark) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["kind"], document["id"]) == ("session", QUOTED)
    (web,) = document["packages"]
    assert (web["package"], web["fate"]) == ("web", "in_tables")
    assert main([*asked, "--package", "mobile"], spark=site.spark) == 2
    assert capsys.readouterr().err.startswith("Error: Package 'mobile' is not in windrow.yml.")


@on_delta
def test_the_events_of_other_days_are_found_when_asked_for(site: OldSite) -> None:
    assert site.ask("event", "2024-01-10-1").verdict.fate is Fate.NOT_FOUND
    bounds = {"first": at("2024-01-09 00:00"), "last": at("2024-01-10 00:00")}
    told = site.ask("event", "2024-01-10-1", **bounds)
    assert told.verdict.fate is Fate.IN_TABLES
    assert [it.session for it in told.sessions] == ["s-2024-01-10"]


class LateSite(OldSite):
    """The same, and what was committed since the last run is new."""

    new_by = "commit"


@pytest.mark.parametrize("format", ["delta", "iceberg"])
def test_what_was_loaded_late_waits_where_commits_make_it_new(
    spark: SparkSession, tmp_path: Path, format: str
) -> None:
    site = LateSite(spark, tmp_path, format=format, **ONLY_PAGE_VIEWS)
    site.arrive(
        event("a1", "sA", "2024-01-05 10:00", page="pA"),
        event("z1", "sZ", "2024-01-20 10:00", page="pZ"),
    )
    site.run("2024-01-21 00:00")
    # Nothing says when these were loaded, but for the commit.
    site.arrive(
        event("a0", "sA", "2024-01-03 10:00", page="p0"),
        event("b1", "sB", "2024-01-10 10:00", page="pB"),
    )

    def fates() -> dict[str, tuple[Fate, int]]:
        asked = [("event", "a0"), ("page-view", "p0"), ("session", "sA")]
        asked += [("session", "sB"), ("event", "z1")]
        told = {id: site.ask(kind, id, "2024-01-21 00:00") for kind, id in asked}
        return {
            id: (it.verdict.fate, sum(part.arriving for part in it.sessions))
            for id, it in told.items()
        }

    assert fates() == {
        **dict.fromkeys(("a0", "p0", "sB"), (Fate.WAITING, 1)),
        **{"sA": (Fate.IN_TABLES, 1), "z1": (Fate.IN_TABLES, 0)},
    }
    assert site.ask("event", "a0").verdict.sentence == (
        "Event a0 waits: collected 2024-01-03 10:00:00, loaded 2024-01-03 10:00:00, after the last "
        "run. The next run takes it in (events.new_by is commit)."
    )
    assert site.ask("session", "sA").verdict.sentence.endswith(
        " Loaded since the last run: 1 event, which the next one takes in."
    )
    assert [it.outcome for it in site.run("2024-01-21 00:00").late] == ["succeeded"]
    days = {"first": at("2024-01-01 00:00")}
    assert site.ask("event", "a0", **days).verdict.fate is Fate.IN_TABLES
    assert site.ask("session", "sB").verdict.fate is Fate.IN_TABLES
    after = site.ask("session", "sA")
    (table,) = after.tables
    late, first = (run.run_id for run in after.runs)
    assert table.changes == (
        RowChange(late, 1, 0, 1, ("page_view_in_session_index", "page_views_in_session")),
        RowChange(first, 1),
    )


def test_a_project_without_a_run_says_so(spark: SparkSession, tmp_path: Path) -> None:
    site = OldSite(spark, tmp_path)
    site.arrive(*visit(date(2024, 1, 1)))
    told = site.ask("session", "s-2024-01-01")
    assert told.verdict.sentence == (
        "No run of web has happened yet: `windrow run` makes the tables."
    )


def left_out_in(site: Site, kind: str, id: str) -> list[tuple[str | None, dict[str, int]]]:
    """Asked before any run, of days that are given: events are judged all the same."""
    (told,) = site.project().explain(kind, id, first=at("2024-01-01 00:00"), now=at("2024-01-02"))
    assert told.verdict.fate is Fate.NO_RUN
    return [(it.session, dict(it.left_out)) for it in told.sessions]


def test_every_package_judges_by_its_own_rules(spark: SparkSession, tmp_path: Path) -> None:
    app = App(spark, tmp_path / "app", format="delta")
    app.arrive(app_event("a", "s", "2024-01-01 10:00", screen="v", platform="tv"))
    assert left_out_in(app, "page-view", "v") == [("s", {"other_platform": 1})]

    shop = Shop(spark, tmp_path / "shop", format="delta")
    shop.arrive(event("b", "s", "2024-01-01 10:00", page="v"))
    assert left_out_in(shop, "session", "s") == [("s", {"not_kept": 1})]

    pages = entry("page_view", event_columns=["page_url"], table_name="pages", version="1")
    normalized = Normalized(spark, tmp_path / "events", format="delta", events=[pages])
    normalized.arrive(event("c", None, "2024-01-01 10:00", delay=timedelta(days=9)))
    assert left_out_in(normalized, "event", "c") == [(None, {"too_late": 1})]
    with pytest.raises(UsageError, match="Package 'normalize' has no sessions"):
        normalized.project().explain("session", "s", package="normalize")
    assert normalized.project().explain("session", "s") == []
