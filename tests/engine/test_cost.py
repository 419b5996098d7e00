"""What a standard run is made of, so that it cannot creep back: a query is dear, however small."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from costs import Cost, counted
from media import MediaSite, media_event
from normalized import Normalized, entry
from phone_app import App, app_event
from shop import Shop, action, product
from traffic import EVERYTHING
from website import Event, Site, at, event
from windrow.atomic.entity_columns import CMP_VISIBLE, CONSENT_PREFERENCES, WEB_VITALS
from windrow.state import fence

pytestmark = pytest.mark.ci

MOST_EXECUTIONS = 24
MOST_JOBS = 75
"""Keys that are sent to stored rows take a job each."""
MOST_SCANS = 30
"""A plan shows what a cached frame was read from each time that the frame is used."""


@pytest.fixture(autouse=True)
def _lease_is_not_looked_after(monkeypatch: pytest.MonkeyPatch) -> None:
    # A slow machine looks after its lease more often.
    monkeypatch.setattr(fence, "LOOK_AGAIN_AFTER", timedelta(hours=1))


def day(number: int) -> list[Event]:
    """A new visitor, one who comes back and logs in, and a session that goes on after midnight."""
    when = f"2024-01-{number:02d}"
    return [
        event(f"n{number}", f"new{number}", f"{when} 10:00", page=f"pn{number}", cookie="new"),
        event(f"m{number}", f"new{number}", f"{when} 10:01", "page_ping", page=f"pn{number}"),
        event(f"b{number}", f"back{number}", f"{when} 12:00", page=f"pb{number}", user_id="anna"),
        event(f"l{number}", f"late{number}", f"{when} 23:50", page=f"pl{number}", cookie="owl"),
        event(f"o{number}", f"late{number - 1}", f"{when} 00:05", page=f"po{number}", cookie="owl"),
    ]


def asked_and_measured(number: int) -> list[Event]:
    """The same, and one of the visitors is asked for consent, and agrees; a page is measured."""
    when = f"2024-01-{number:02d} 12:0"
    agreed = {"event_type": "allow_all", "consent_version": "1", "consent_scopes": ["all"]}
    own: list[tuple[str, str, dict[str, Any]]] = [
        ("cmp_visible", CMP_VISIBLE.name, {"elapsed_time": 1.0}),
        ("consent_preferences", CONSENT_PREFERENCES.name, agreed),
        ("web_vitals", WEB_VITALS.name, {"lcp": 1000.0, "fid": 10.0, "cls": 0.1}),
    ]
    return [
        *day(number),
        *(
            event(f"{name}{number}", f"back{number}", f"{when}{n}", name, page=f"pb{number}")
            | {column: fields}
            for n, (name, column, fields) in enumerate(own)
        ),
    ]


def in_app(number: int) -> list[Event]:
    """What a day of the site has, in the app."""
    when = f"2024-01-{number:02d}"
    return [
        app_event(f"an{number}", f"an{number}", f"{when} 10:00", screen=f"n{number}", device="new"),
        app_event(f"ab{number}", f"ab{number}", f"{when} 12:00", screen=f"b{number}", user_id="a"),
        app_event(f"al{number}", f"al{number}", f"{when} 23:50", screen=f"l{number}", device="owl"),
        app_event(
            f"ao{number}", f"al{number - 1}", f"{when} 00:05", screen=f"o{number}", device="owl"
        ),
    ]


def in_shop(number: int) -> list[Event]:
    """One cart is bought, one is left behind."""
    when = f"2024-01-{number:02d}"
    bought, left = f"s{number}", f"u{number}"
    things = [product("p1", 10)]
    return [
        action(f"v{number}", bought, f"{when} 10:00", "product_view", products=things),
        action(f"c{number}", bought, f"{when} 10:01", "add_to_cart", cart=10, products=things),
        action(f"k{number}", bought, f"{when} 10:02", "checkout_step", step=1),
        action(
            *(f"t{number}", bought, f"{when} 10:03", "transaction"),
            transaction=f"t{number}",
            revenue=10,
            products=things,
        ),
        action(f"l{number}", left, f"{when} 23:50", "add_to_cart", cart=7, products=things),
        action(f"r{number}", f"u{number - 1}", f"{when} 00:05", "remove_from_cart", cart=0),
    ]


def with_films(number: int) -> list[Event]:
    """A day of the site, on whose pages a film is played, one of them past midnight."""
    when = f"2024-01-{number:02d}"
    page, before = f"pl{number}", f"pl{number - 1}"
    return [
        *day(number),
        media_event(f"f{number}", f"new{number}", f"{when} 10:02", page=f"pn{number}"),
        media_event(f"p{number}", f"late{number}", f"{when} 23:55", page=page, cookie="owl"),
        media_event(
            *(f"q{number}", f"late{number - 1}", f"{when} 00:03", "percentprogress"),
            page=before,
            percent=50,
            cookie="owl",
        ),
    ]


class Both(App):
    """A project with web and mobile over the same events."""

    def packages(self, settings: dict[str, Any]) -> dict[str, Any]:
        return {"web": settings, "mobile": dict(settings)}


@dataclass(frozen=True)
class Case:
    """A project, a day of its events, and what a standard run of such a day has at most."""

    make: Callable[[SparkSession, Path], Site]
    day: Callable[[int], list[Event]]
    executions: int
    jobs: int
    scans: int


TYPES = ("page_view", "page_ping", "web_vitals", "cmp_visible")
NORMALIZED: dict[str, Any] = {
    "events": [entry(it, event_columns=["page_url"], table_name=it, version="1") for it in TYPES],
    "users": {"user_id": {"id_column": "domain_userid"}, "user_columns": ["page_url"]},
    "config": {"filtered_events_table_name": "routes"},
}
CASES = {
    "web with consent and vitals": Case(
        lambda spark, folder: Site(spark, folder, **EVERYTHING), asked_and_measured, 44, 143, 52
    ),
    "mobile": Case(App, in_app, 24, 66, 30),
    "ecommerce": Case(Shop, in_shop, 35, 96, 41),
    "web+media_player": Case(
        lambda spark, folder: MediaSite(spark, folder, disabled_models=[]), with_films, 54, 170, 58
    ),
    "normalize": Case(
        lambda spark, folder: Normalized(spark, folder, **NORMALIZED),
        asked_and_measured,
        26,
        52,
        22,
    ),
    "web and mobile in one command": Case(Both, lambda n: [*day(n), *in_app(n)], 48, 140, 60),
}


def check(cost: Cost, *, executions: int, jobs: int, scans: int) -> None:
    told = "\n".join(cost.what)
    assert cost.executions <= executions, f"{cost.executions} executions:\n{told}"
    assert cost.jobs <= jobs, f"{cost.jobs} jobs, of:\n{told}"
    assert cost.scans <= scans, f"{cost.scans} scans, of:\n{told}"


def test_a_standard_run_has_a_handful_of_queries(spark: SparkSession, tmp_path: Path):
    site = Site(spark, tmp_path, format="delta")
    for number in (2, 3, 4):
        site.arrive(*day(number))
        with counted(spark) as cost:
            assert site.run(f"2024-01-{number + 1:02d} 00:00").outcome == "succeeded"
    assert len(site.rows("page_views", "page_view_id")) == 12
    check(cost, executions=MOST_EXECUTIONS, jobs=MOST_JOBS, scans=MOST_SCANS)


@pytest.mark.parametrize("name", CASES)
def test_a_standard_run_of_each_package_has_no_more_queries_than_it_had(
    spark: SparkSession, tmp_path: Path, name: str
):
    case = CASES[name]
    site = case.make(spark, tmp_path)
    site.arrive(*case.day(2))
    site.project().run_all(now=at("2024-01-03 00:00"))
    site.arrive(*case.day(3))
    with counted(spark) as cost:
        done = site.project().run_all(now=at("2024-01-04 00:00"))
    assert [run.outcome for it in done.values() for run in it.runs] == ["succeeded"] * len(done)
    check(cost, executions=case.executions, jobs=case.jobs, scans=case.scans)
