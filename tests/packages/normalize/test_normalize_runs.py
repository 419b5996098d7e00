"""Any split of the same events into runs gives the same normalized tables."""

from __future__ import annotations

import random
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from normalized import BANNER, PAGE, ROBOTS, Normalized, entry
from random_runs import any_cuts, days_become_old, few_examples, run_in_pieces
from website import Event, at, event, rows
from windrow.atomic.entity_columns import CMP_VISIBLE, IAB

TABLES = {
    "events": [
        entry(
            *("page_view", "page_ping"),
            event_columns=["page_url", "app_id"],
            context_schemas=[PAGE],
            context_aliases=["page"],
            table_name="pages",
            version="1",
        ),
        # An event may go into several tables.
        entry("page_ping", "click", event_columns=["page_url"], table_name="acts", version="1"),
        entry("cmp_visible", self_describing_event_schemas=[BANNER]),
    ],
    "config": {"filtered_events_table_name": "routes"},
    "users": {
        "user_id": {"id_column": "domain_userid", "alias": "visitorId"},
        "user_contexts": [ROBOTS],
        "user_columns": ["page_url"],
    },
}
NAMES = ("page_view", "page_view", "page_ping", "click", "cmp_visible", "in no table")
END = "2024-01-08 00:00"


def traffic(seed: int) -> list[Event]:
    """A week of events with every kind of trouble: the same seed gives the same events."""
    draw = random.Random(f"normalize {seed}")
    events: list[Event] = []
    for number in range(60):
        # Some at the same moment as others.
        moment = at("2024-01-01") + timedelta(hours=draw.choice([draw.uniform(0, 160), 60]))
        name = draw.choice(NAMES)
        robot = {**dict.fromkeys(IAB.fields), "reason": draw.choice(["FAILED", "PASSED"])}
        banner = {CMP_VISIBLE.name: {"elapsed_time": draw.uniform(0, 3)}}
        events.append(
            event(
                f"e{number:02d}",
                None,
                f"{moment:%Y-%m-%d %H:%M:%S.%f}"[:-3],
                name,
                page=draw.choice([None, f"p{number}"]),
                cookie=draw.choice([None, *"abcde"]),
                delay=timedelta(days=4 if draw.random() < 0.05 else 0, seconds=draw.randrange(60)),
                page_url=draw.choice([None, f"https://shop.example/{number}"]),
                **({IAB.name: [robot]} if draw.random() < 0.5 else {}),
                **(banner if name == "cmp_visible" else {}),
            )
        )
        if draw.random() < 0.2:
            again = dict(events[-1], page_url="https://shop.example/again")
            # Sent once more, or loaded once more.
            if draw.random() < 0.5:
                again["collector_tstamp"] += timedelta(minutes=5)
            again["etl_tstamp"] += timedelta(minutes=5)
            events.append(again)
    return events


def loaded(spark: SparkSession, folder: Path, seed: int) -> Normalized:
    site = Normalized(spark, folder, **TABLES)
    site.arrive(*traffic(seed))
    return site


def contents(site: Normalized) -> dict[str, list[tuple[Any, ...]]]:
    """Every table; none of them may be empty, as what has no rows agrees with anything."""
    found = {it.name: rows(site.table(it.name)) for it in site.workspace.models}
    assert all(found.values())
    return found


@pytest.mark.ci
@days_become_old()
def test_daily_runs_fill_the_tables_of_one_run(spark: SparkSession, tmp_path: Path):
    whole, daily = (loaded(spark, tmp_path / name, seed=1) for name in ("whole", "daily"))
    assert not whole.run(END).has_failed
    run_in_pieces(daily, [24 * day for day in (2, 4, 5)], again=1)
    assert contents(daily) == contents(whole)


@pytest.mark.slow
@few_examples(4)
@any_cuts()
def test_random_runs_with_reruns_fill_the_tables_of_one_run(
    spark: SparkSession,
    tmp_path_factory: pytest.TempPathFactory,
    seed: int,
    cuts: list[int],
    again: int,
):
    folder = tmp_path_factory.mktemp("splits")
    whole, split = (loaded(spark, folder / name, seed) for name in ("whole", "split"))
    assert not whole.run(END).has_failed
    with days_become_old():
        run_in_pieces(split, cuts, again)
    assert contents(split) == contents(whole)
