"""The demo: a small shop's week, delivered day by day as a loader would, and run day by day."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from pyspark.sql import DataFrame, GroupedData, SparkSession
from pyspark.sql import functions as F

from windrow.demo.app_answers import AppAnswers, app_answers
from windrow.demo.events import APPS, WEBSITES, GenerateOptions, generate, write
from windrow.demo.hard_cases import LATE_LOAD_HOURS
from windrow.engine.result import RunResult
from windrow.engine.steps import Listener
from windrow.engine.workspace import Workspace
from windrow.errors import UsageError
from windrow.project import Project
from windrow.templates import demo_files, write_files

START = date(2024, 3, 4)
DAYS = 5
EVENTS_PER_DAY = 2_000
CLOCKS = tuple(datetime(2024, 3, day, tzinfo=UTC) for day in (7, 8, 9))
"""When the demo runs: each time at midnight, the first time with three days behind it."""

MARKER = ".windrow/demo"
UNDERWAY = ".windrow/underway"

_TOP_PAGES = 5


@dataclass(frozen=True)
class Delivery:
    """The events that reached the events table on one day; late are those collected long before."""

    day: date
    events: int
    late: int


@dataclass(frozen=True)
class DemoRun:
    """One run of the demo, and what had arrived since the one before."""

    clock: datetime
    arrived: int
    late: int
    result: RunResult


@dataclass(frozen=True)
class Channel:
    """What one channel brought."""

    name: str
    visitors: int
    sessions: int
    engaged: int
    bounced: int
    """Sessions with one page view in which the visitor did not engage."""


@dataclass(frozen=True)
class Page:
    """How one page did."""

    path: str
    views: int
    visitors: int
    engaged_seconds: float
    """On average, by page view."""


@dataclass(frozen=True)
class Answers:
    """What the tables say about the shop."""

    channels: tuple[Channel, ...]
    total: Channel
    pages: tuple[Page, ...]


@dataclass(frozen=True)
class DemoResult:
    """All that the demo did and found."""

    folder: Path
    format: str
    runs: tuple[DemoRun, ...]
    answers: Answers | AppAnswers
    quarantined: int
    table_rows: dict[str, int]
    outstanding: int
    """Events that arrived after the last run."""

    @property
    def has_failed(self) -> bool:
        """True when a model failed in one of the runs."""
        return any(run.result.has_failed for run in self.runs)

    @property
    def next_clock(self) -> datetime:
        """A time at which one more run takes in what is outstanding."""
        return CLOCKS[-1] + timedelta(days=5)


def make_project(folder: Path, format: str, package: str) -> None:
    """The demo's project in the folder: a new one, or the one of last time without its tables."""
    if folder.exists() and any(folder.iterdir()) and not (folder / MARKER).exists():
        raise UsageError(
            f"{folder} is not empty and was not made by `windrow demo`, which would write its "
            "tables there. Name another folder: windrow demo DIR"
        )
    for own in ("warehouse", "events", UNDERWAY):
        shutil.rmtree(folder / own, ignore_errors=True)
    marker = folder / MARKER
    marker.parent.mkdir(parents=True, exist_ok=True)
    marker.write_text("Made by `windrow demo`, which may remove warehouse and events again.\n")
    write_files(folder, demo_files(format, package), replace=frozenset({"windrow.yml"}))


def generate_events(spark: SparkSession, folder: Path, package: str) -> list[Delivery]:
    """Make all events and keep them back, in a folder for each day on which they will arrive."""
    options = GenerateOptions(
        start=START,
        days=DAYS,
        events_per_day=EVENTS_PER_DAY,
        seed=7,
        hard_cases=True,
        columns="needed",
        platforms=(APPS,) if package == "mobile" else (WEBSITES,),
    )
    underway = str(folder / UNDERWAY)
    write(generate(spark, options), underway)

    late_by = F.unix_seconds("load_tstamp") - F.unix_seconds("collector_tstamp")
    is_late = late_by > LATE_LOAD_HOURS * 3600
    by_day = spark.read.parquet(underway).groupBy("load_tstamp_date")
    counted = by_day.agg(F.count(F.lit(1)), F.count_if(is_late)).orderBy("load_tstamp_date")
    return [Delivery(*row) for row in counted.collect()]


def deliver(folder: Path, deliveries: Sequence[Delivery], clock: datetime) -> list[Delivery]:
    """Let everything arrive that a loader would have loaded by now; gives what is new."""
    events = folder / "events"
    events.mkdir(exist_ok=True)
    arrived = []
    for delivery in deliveries:
        part = f"load_tstamp_date={delivery.day}"
        if delivery.day < clock.date() and (folder / UNDERWAY / part).exists():
            (folder / UNDERWAY / part).rename(events / part)
            arrived.append(delivery)
    return arrived


def run_days(
    project: Project,
    deliveries: Sequence[Delivery],
    *,
    begin: Callable[[datetime, int, int], None],
    listener: Listener,
) -> list[DemoRun]:
    """Deliver and run, day by day; `begin` is told the clock, what arrived and how much late."""
    (package,) = project.package_names()
    runs = []
    for clock in CLOCKS:
        new = deliver(project.config.project_dir, deliveries, clock)
        arrived, late = sum(it.events for it in new), sum(it.late for it in new)
        begin(clock, arrived, late)
        result = project.run(package, now=clock, listener=listener)
        runs.append(DemoRun(clock, arrived, late, result))
        if result.has_failed:
            break
    return runs


def finish(project: Project, deliveries: Sequence[Delivery], runs: Sequence[DemoRun]) -> DemoResult:
    """Let the rest arrive, and ask the tables."""
    folder = project.config.project_dir
    (package,) = project.package_names()
    ws = project.workspace(package)
    rest = deliver(folder, deliveries, datetime(9999, 1, 1, tzinfo=UTC))
    shutil.rmtree(folder / UNDERWAY, ignore_errors=True)
    quarantined = ws.quarantined_sessions()
    return DemoResult(
        folder=folder,
        format=project.target.format,
        runs=tuple(runs),
        answers=app_answers(ws) if package == "mobile" else answers(ws),
        quarantined=0 if quarantined is None else quarantined.count(),
        table_rows=_table_rows(ws),
        outstanding=sum(delivery.events for delivery in rest),
    )


def _table_rows(ws: Workspace) -> dict[str, int]:
    return {
        member.full_name: ws.tables.read(ws.table(member)).count()
        for member in ws.models
        if ws.tables.exists(ws.table(member))
    }


def answers(ws: Workspace) -> Answers:
    """Questions that a shop has, put to the derived tables."""
    sessions = ws.tables.read(ws.table(ws.model("sessions")))
    page_views = ws.tables.read(ws.table(ws.model("page_views")))
    channels = _channels(sessions.groupBy("default_channel_group"))
    return Answers(
        channels=tuple(sorted(channels, key=lambda channel: (-channel.sessions, channel.name))),
        total=_channels(sessions.groupBy(F.lit("all").alias("default_channel_group")))[0],
        pages=_top_pages(page_views),
    )


def _channels(groups: GroupedData) -> list[Channel]:
    is_bounced = (F.col("page_views") == 1) & ~F.col("is_engaged")
    rows = groups.agg(
        F.count_distinct("domain_userid"),
        F.count(F.lit(1)),
        F.count_if("is_engaged"),
        F.count_if(is_bounced),
    ).collect()
    return [Channel(row[0] or "unknown", *row[1:]) for row in rows]


def _top_pages(page_views: DataFrame) -> tuple[Page, ...]:
    by_page = page_views.groupBy("page_urlpath").agg(
        F.count(F.lit(1)).alias("views"),
        F.count_distinct("domain_userid"),
        F.avg("engaged_time_in_s"),
    )
    top = by_page.orderBy(F.desc("views"), "page_urlpath").limit(_TOP_PAGES)
    return tuple(Page(row[0] or "unknown", *row[1:]) for row in top.collect())
