"""Any split of the same events into runs gives the same tables."""

from __future__ import annotations

import random
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from website import Event, Site, at, contents, event

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


def loaded(spark: SparkSession, folder: Path, seed: int) -> Site:
    site = Site(spark, folder)
    site.arrive(*traffic(seed))
    return site


def test_daily_runs_equal_one_run(spark: SparkSession, tmp_path: Path):
    whole = loaded(spark, tmp_path / "whole", seed=1)
    whole.run(END)
    daily = loaded(spark, tmp_path / "daily", seed=1)
    for day in range(2, 9, 2):
        daily.run(f"2024-01-{day:02d} 00:00")
    assert contents(daily) == contents(whole)


@pytest.mark.slow
@settings(
    max_examples=4,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(
    seed=st.integers(2, 10_000),
    cuts=st.lists(st.integers(1, 24 * 7), min_size=1, max_size=4),
    again=st.integers(0, 3),
)
def test_random_runs_with_reruns_equal_one_run(
    spark: SparkSession,
    tmp_path_factory: pytest.TempPathFactory,
    seed: int,
    cuts: list[int],
    again: int,
):
    folder = tmp_path_factory.mktemp("splits")
    whole = loaded(spark, folder / "whole", seed)
    whole.run(END)
    split = loaded(spark, folder / "split", seed)
    for number, hours in enumerate([*sorted(cuts), 24 * 7]):
        now = f"{at('2024-01-01') + timedelta(hours=hours):%Y-%m-%d %H:%M}"
        split.run(now)
        if number == again:
            split.run(now)
    assert contents(split) == contents(whole)
