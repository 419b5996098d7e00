"""Where a session, event, user or page view is: many questions on one site, after one run.

Files of days that no question is about are gone: a look at one of them would fail.
"""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from website import Event, Site, at, event, event_frame
from windrow.operations.explain import Explanation, Fate

FIRST_DAY = date(2024, 1, 1)
LAST_DAY = date(2024, 1, 28)
GOOGLE = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"


class OldSite(Site):
    """A site whose events lie in a Delta table, a folder for each day: it knows what is where."""

    def __init__(self, spark: SparkSession, folder: Path, **options: Any) -> None:
        super().__init__(spark, folder, format="delta", **options)
        config = folder / "windrow.yml"
        found = yaml.safe_load(config.read_text())
        found["events"] = {"path": "./events", "format": "delta"}
        config.write_text(yaml.safe_dump(found))

    def arrive(self, *events: Event) -> None:
        frame = event_frame(self.spark, events).coalesce(1)
        dated = frame.withColumn("load_tstamp_date", F.to_date("load_tstamp"))
        writer = dated.write.format("delta").mode("append").partitionBy("load_tstamp_date")
        writer.save(str(self.folder / "events"))

    def ask(self, kind: str, id: str, **bounds: Any) -> Explanation:
        (told,) = self.project().explain(kind, id, now=at(f"{LAST_DAY} 00:00"), **bounds)
        return told


def visit(day: date) -> list[Event]:
    return [
        event(
            f"{day}-{number}", f"s-{day}", f"{day} 10:0{number}", page=f"p-{day}", cookie=f"c-{day}"
        )
        for number in (0, 1)
    ]


def odd_events() -> list[Event]:
    return [
        event("bot", "bots", "2024-01-27 10:00", page="p-bot", useragent=GOOGLE),
        event("late", "slow", "2024-01-27 10:00", page="p1", delay=timedelta(days=5)),
        event("prompt", "slow", "2024-01-27 10:01", page="p2"),
        event("elsewhere", "others", "2024-01-27 10:00", page="p3", app_id="blog"),
        event("nobody", None, "2024-01-27 10:00", page="p4"),
        event("never", "ancient", "2024-01-27 10:00", page="p5", derived_tstamp=at("1980-01-01")),
        event("begin", "long", "2024-01-22 10:00", page="p6"),
        event("end", "long", "2024-01-26 10:00", "page_ping", page="p6"),
        event("click", "clicks", "2024-01-27 10:00", "link_click"),
        event("twice", "one", "2024-01-27 10:00", page="p7"),
        event("twice", "two", "2024-01-27 11:00", page="p7"),
        event("quoted", 'it\'s "x" `y`', "2024-01-27 10:00", page="p8"),
        event("ping", 'it\'s "x" `y`', "2024-01-27 10:01", "page_ping", page="p8"),
    ]


@pytest.fixture(scope="module")
def site(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> OldSite:
    folder = tmp_path_factory.mktemp("explain")
    site = OldSite(spark, folder, backfill_limit_days=100, app_id=["shop"])
    days = [FIRST_DAY + timedelta(days=number) for number in range(28)]
    site.arrive(*(it for day in days[:-1] for it in visit(day)), *odd_events())
    assert site.run(f"{LAST_DAY} 00:00").outcome == "succeeded"
    # What came after the run: news, and an event of a week ago.
    site.arrive(
        event("news", "tomorrow", "2024-01-27 23:00", page="p9"),
        event(
            "straggler", "forgotten", "2024-01-24 10:00", page="p10", load_tstamp=at("2024-01-27")
        ),
    )
    unasked = [*days[:7], *days[14:20]]
    gone = [delete_files(site, day) for day in unasked]
    assert gone == [5] * len(unasked)
    return site


def delete_files(site: Site, day: date) -> int:
    """Delete the data files of a day, of all tables that have days."""
    files = [
        *site.folder.glob(f"events/load_tstamp_date={day}/*.parquet"),
        *site.folder.glob(f"warehouse/**/start_tstamp_date={day}/*.parquet"),
    ]
    for file in files:
        file.unlink()
    return len(files)


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


@pytest.mark.parametrize(
    ("kind", "id", "fate", "sentence"),
    [
        ("event", "bot", Fate.LEFT_OUT, "its user agent is a bot's (ua_bot_filter)."),
        ("session", "bots", Fate.LEFT_OUT, "its one event is, because its user agent is a bot's"),
        ("page-view", "p-bot", Fate.LEFT_OUT, "its user agent is a bot's (ua_bot_filter)."),
        ("event", "late", Fate.LEFT_OUT, "it was sent more than 3 days after it was made"),
        ("session", "slow", Fate.IN_TABLES, "Of 2 events that were found, these are left out: 1 "),
        ("session", "others", Fate.LEFT_OUT, "it is of another application (app_id)."),
        ("event", "nobody", Fate.LEFT_OUT, "it has no session id."),
        ("event", "never", Fate.LEFT_OUT, "its time is unknown or absurd."),
        ("event", "end", Fate.LEFT_OUT, "it came more than 3 days after its session began"),
        ("session", "long", Fate.IN_TABLES, "It is quarantined: later events of it are left out."),
        ("session", "clicks", Fate.LEFT_OUT, "has one row per session with a page view or ping."),
        ("event", "twice", Fate.IN_TABLES, "Event twice is in the tables: snowplow_web_page_views"),
        ("session", "two", Fate.LEFT_OUT, "which came first"),
        ("session", 'it\'s "x" `y`', Fate.IN_TABLES, 'Session it\'s "x" `y` is in the tables'),
        ("event", "ping", Fate.IN_TABLES, "Event ping counts in its session, which is in snow"),
        ("user", "c-2024-01-10", Fate.IN_TABLES, "snowplow_web_sessions, snowplow_web_users"),
        ("session", "tomorrow", Fate.WAITING, "The next runs take it in."),
        ("session", "forgotten", Fate.MISSED, "`windrow rerun --from 2024-01-24 --to 2024-01-25`"),
        ("event", "unheard-of", Fate.NOT_FOUND, "give --from and --to to look at other days."),
        ("session", "it's none", Fate.NOT_FOUND, "2024-01-27 to 2024-01-28 (the days since"),
    ],
)
def test_a_verdict_names_the_rule(
    site: OldSite, kind: str, id: str, fate: Fate, sentence: str
) -> None:
    days = {"first": at("2024-01-22 00:00")} if id in ("end", "forgotten", "two") else {}
    verdict = site.ask(kind, id, **days).verdict
    assert (verdict.fate, sentence in verdict.sentence) == (fate, True), verdict.sentence


def test_the_events_of_other_days_are_found_when_asked_for(site: OldSite) -> None:
    assert site.ask("event", "2024-01-09-1").verdict.fate is Fate.NOT_FOUND
    bounds = {"first": at("2024-01-09 00:00"), "last": at("2024-01-10 00:00")}
    told = site.ask("event", "2024-01-09-1", **bounds)
    assert told.verdict.fate is Fate.IN_TABLES
    assert [it.session for it in told.sessions] == ["s-2024-01-09"]


def test_a_project_without_a_run_says_so(spark: SparkSession, tmp_path: Path) -> None:
    site = OldSite(spark, tmp_path)
    site.arrive(*visit(FIRST_DAY))
    told = site.ask("session", "s-2024-01-01")
    assert told.verdict.sentence == (
        "No run of web has happened yet: `windrow run` makes the tables."
    )
