"""A week of random traffic, with every kind of trouble, for runs that are cut anyhow."""

from __future__ import annotations

import random
from datetime import timedelta
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from website import Event, Site, at, event
from windrow.atomic.entity_columns import CMP_VISIBLE, CONSENT_PREFERENCES, WEB_VITALS

DAYS = 6
END = "2024-01-08 00:00"


def traffic(seed: int) -> list[Event]:
    """A week of a small site with every kind of trouble: the same seed gives the same events."""
    draw = random.Random(seed)
    events: list[Event] = []
    for visit in range(14):
        session, cookie = f"s{visit:02d}", f"c{draw.randrange(6)}"
        start = at("2024-01-01") + timedelta(hours=draw.uniform(0, 24 * DAYS))
        length = draw.choice([0.1, 0.5, 3, 30, 80])
        has_login, rotates = draw.random() < 0.4, draw.random() < 0.2
        for number in range(draw.randrange(1, 9)):
            moment = start + timedelta(hours=draw.uniform(0, length))
            page = f"p{visit:02d}{draw.randrange(3)}"
            if draw.random() < 0.1:
                page = f"p{max(visit - 1, 0):02d}{draw.randrange(3)}"
            events.append(
                event(
                    f"e{visit:02d}{number}",
                    session if draw.random() < 0.95 else None,
                    f"{moment:%Y-%m-%d %H:%M:%S.%f}"[:-3],
                    draw.choice(["page_view", "page_view", "page_ping", "page_ping", "link_click"]),
                    page=page if draw.random() < 0.95 else None,
                    cookie=None
                    if draw.random() < 0.05
                    else f"{cookie}x"
                    if rotates and number % 2
                    else cookie,
                    delay=timedelta(
                        days=4 if draw.random() < 0.05 else 0, seconds=draw.randrange(60)
                    ),
                    user_id=draw.choice([f"u{cookie}", f"v{cookie}"])
                    if has_login and number
                    else None,
                    mkt_source=draw.choice([None, "google", "newsletter"]),
                    doc_height=2000,
                    doc_width=1000,
                    br_viewheight=800,
                    br_viewwidth=1000,
                    pp_yoffset_max=draw.randrange(2000),
                )
            )
            if draw.random() < 0.1:
                copy = dict(events[-1])
                copy["etl_tstamp"] = moment + timedelta(minutes=5)
                events.append(copy)
    return events


ANSWERS = ("allow_all", "allow_all", "allow_selected", "deny_all", "pending", "withdrawn")


def consent_and_vitals(seed: int) -> list[Event]:
    """Banners, answers and web vitals in the sessions of the same seed's traffic.

    Answers change, come late or without a banner; the version and its terms change with time, and
    an old version is still answered; a page is measured twice, or in another session too.
    """
    draw = random.Random(f"consent and vitals {seed}")
    events: list[Event] = []
    for number, seen in enumerate(traffic(seed)):
        name = draw.choice(["cmp_visible", "consent_preferences", "web_vitals", "web_vitals", None])
        if name is None:
            continue
        moment = seen["collector_tstamp"] + timedelta(seconds=draw.randrange(3, 4000))
        version = draw.choice(["1", "2"]) if moment > at("2024-01-03") else "1"
        scopes = draw.sample(["necessary", "statistics", "marketing"], k=draw.randrange(1, 4))
        own: Event = {
            CMP_VISIBLE.name: {"elapsed_time": draw.uniform(0.1, 3)},
            CONSENT_PREFERENCES.name: {
                "event_type": draw.choice(ANSWERS),
                "consent_version": version,
                "consent_scopes": scopes,
                "consent_url": f"https://shop.example/terms/{version}",
                "domains_applied": ["shop.example"],
            },
            WEB_VITALS.name: {
                "lcp": draw.choice([None, draw.uniform(100, 6000)]),
                "fid": draw.uniform(1, 400),
                "cls": draw.uniform(0, 0.4),
            },
        }
        column = {
            "cmp_visible": CMP_VISIBLE.name,
            "consent_preferences": CONSENT_PREFERENCES.name,
            "web_vitals": WEB_VITALS.name,
        }[name]
        events.append(
            event(
                f"x{number:03d}",
                seen["domain_sessionid"],
                f"{moment:%Y-%m-%d %H:%M:%S.%f}"[:-3],
                name,
                page=f"p{draw.randrange(14):02d}{draw.randrange(3)}",
                cookie=seen["domain_userid"],
                delay=timedelta(seconds=draw.choice([0, 0, 30, 90_000])),
                user_id=seen["user_id"],
                geo_country=draw.choice([None, "GR", "DE"]),
                load_tstamp=moment + timedelta(minutes=draw.choice([1, 1, 300])),
                **{column: own[column]},
            )
        )
    return events


EVERYTHING = {"enable_consent": True, "enable_cwv": True}
ONLY_CONSENT_AND_VITALS = EVERYTHING | {
    "disabled_models": ["page_views", "sessions", "users", "user_mapping"]
}


def loaded(spark: SparkSession, folder: Path, seed: int, **options: Any) -> Site:
    site = Site(spark, folder, **options)
    site.arrive(*traffic(seed), *consent_and_vitals(seed))
    return site
