"""Synthetic events: a small shop's traffic, the same for the same seed on any cluster.

options = GenerateOptions(start=date(2024, 1, 1), days=3, events_per_day=10_000)
write(generate(spark, options), "events")
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import reduce
from typing import Literal
from urllib.parse import urlsplit

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from windrow.demo.activity import events_of, page_views
from windrow.demo.apps import app_events_of, as_app_rows
from windrow.demo.channels import channel_of
from windrow.demo.devices import device_of
from windrow.demo.draws import between, draw, key, uuid
from windrow.demo.event_rows import COLUMN_TYPES, NEEDED_COLUMNS, event_rows
from windrow.demo.hard_cases import ENDLESS_SESSIONS, HARD_CASES, LATE_LOAD_HOURS
from windrow.demo.media import with_media
from windrow.demo.places import place_of
from windrow.demo.visitors import endless_sessions, sessions
from windrow.errors import UsageError, did_you_mean

ALL_CASES = (ENDLESS_SESSIONS, *HARD_CASES)

# So many rows can be sorted in the memory a task has by default.
EVENTS_PER_SLICE = 100_000

ACCOUNT_SHARE = 0.3

WEBSITES, APPS = "web", "mob"
PLATFORMS = (WEBSITES, APPS)
_SEED_OF_APPS = 1_000_003


@dataclass(frozen=True)
class GenerateOptions:
    """What to generate. `hard_cases` is all of them, none, or the names of some (`ALL_CASES`).

    A session belongs to the day it starts on, and on each platform each day has exactly
    `events_per_day` events before hard cases add to them. A day is the same however many are
    generated together.
    """

    start: date
    days: int
    events_per_day: int
    seed: int = 1
    hard_cases: bool | Collection[str] = False
    site: str = "https://shop.example"
    columns: Literal["all", "needed"] = "all"
    platforms: Sequence[str] = (WEBSITES,)
    media: bool = False
    """True: product pages of the website have films and sounds, and events of their players."""

    def __post_init__(self) -> None:
        for name in ("days", "events_per_day"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} is {getattr(self, name)}; it must be at least 1.")
        if urlsplit(self.site).scheme not in ("http", "https"):
            raise UsageError(f"site is '{self.site}'; it must start with http:// or https://.")
        if not self.platforms or not set(self.platforms) <= set(PLATFORMS):
            found = ", ".join(self.platforms) or "none"
            raise UsageError(f"platforms are {found}; expected some of {', '.join(PLATFORMS)}.")
        for case in self.asked_cases:
            if case not in ALL_CASES:
                known, hint = ", ".join(ALL_CASES), did_you_mean(case, ALL_CASES)
                raise UsageError(f"There is no hard case '{case}', only {known}.{hint}")

    @property
    def asked_cases(self) -> Collection[str]:
        """The names of the hard cases asked for."""
        if isinstance(self.hard_cases, bool):
            return ALL_CASES if self.hard_cases else ()
        return self.hard_cases


def generate(spark: SparkSession, options: GenerateOptions) -> DataFrame:
    """The events asked for: the standard columns, then the entities."""
    sources = [_events_of(spark, options, platform) for platform in options.platforms]
    events = reduce(DataFrame.unionByName, sources)
    if options.columns == "needed":
        events = events.select(*[name for name in COLUMN_TYPES if name in NEEDED_COLUMNS])
    return events


def _events_of(spark: SparkSession, options: GenerateOptions, platform: str) -> DataFrame:
    """The events of the website, or of the application, whose visitors are others."""
    is_app = platform == APPS
    seed = options.seed + _SEED_OF_APPS if is_app else options.seed
    described_sessions = _sessions(spark, options, seed).withColumns(_session_columns())
    named_events = events_of(page_views(described_sessions, options.site))
    has_media = options.media and not is_app
    if is_app:
        named_events = app_events_of(named_events)
    if has_media:
        named_events = with_media(named_events)
    events = event_rows(named_events, options.site, media=has_media)
    for name, apply in HARD_CASES.items():
        if name in options.asked_cases:
            events = events.transform(apply)
    return as_app_rows(events) if is_app else events


def split_arrivals(events: DataFrame) -> tuple[DataFrame, DataFrame]:
    """The events that were loaded on time, and those loaded too late for the usual look-back."""
    in_time = F.col("collector_tstamp") + F.make_dt_interval(hours=F.lit(LATE_LOAD_HOURS))
    is_late = F.col("load_tstamp") > in_time
    return events.where(~is_late), events.where(is_late)


def write(
    events: DataFrame, path: str, *, format: str = "parquet", mode: str = "errorifexists"
) -> None:
    """Write events as the lake loader does: a folder per `load_tstamp_date`, in time order.

    Generated events lie in slices of time already, so that few files hold a day and each file
    covers a short stretch of `collector_tstamp`.
    """
    # From the epoch, since a cast to date would depend on the session's time zone.
    load_day = F.floor(F.unix_seconds("load_tstamp") / 86_400).cast("int")
    dated = events.withColumn("load_tstamp_date", F.date_from_unix_date(load_day))
    ordered = dated.sortWithinPartitions("load_tstamp_date", "collector_tstamp", "event_id")
    ordered.write.partitionBy("load_tstamp_date").format(format).mode(mode).save(path)


def _sessions(spark: SparkSession, options: GenerateOptions, seed: int) -> DataFrame:
    first_day = (options.start - date(1970, 1, 1)) // timedelta(days=1)
    rows = sessions(
        spark,
        first_day=first_day,
        days=options.days,
        events_per_day=options.events_per_day,
        seed=seed,
    ).withColumn("is_endless", F.lit(False))
    if ENDLESS_SESSIONS in options.asked_cases:
        endless = endless_sessions(
            spark, first_day=first_day, days=options.days, seed=seed
        ).withColumn("is_endless", F.lit(True))
        rows = rows.unionByName(endless)

    slices = max(2, -(-options.days * options.events_per_day // EVENTS_PER_SLICE))
    return rows.repartitionByRange(slices, "start_ms", "session_key")


def _session_columns() -> dict[str, Column]:
    visitor_key, session_key = F.col("visitor_key"), F.col("session_key")
    login_visit = between(1, 3, "login visit", visitor_key)
    login_position = F.floor(draw("login position", session_key) * F.col("events"))
    return {
        "device": device_of(visitor_key),
        "place": place_of(visitor_key),
        "channel": channel_of(session_key),
        "domain_userid": uuid("visitor", visitor_key),
        "network_userid": uuid("network", visitor_key),
        "domain_sessionid": uuid("session", session_key),
        "user_ipaddress": F.concat(
            F.lit("198.18."),
            between(0, 255, "ip", visitor_key),
            F.lit("."),
            between(1, 254, "host", visitor_key),
        ),
        "account": F.when(
            draw("account", visitor_key) < ACCOUNT_SHARE,
            F.concat(F.lit("user-"), F.lower(F.hex(key("account", visitor_key)))),
        ),
        # Who has logged in once, stays so.
        "login_position": F.when(F.col("visit_number") > login_visit, 0).when(
            F.col("visit_number") == login_visit, login_position
        ),
    }
