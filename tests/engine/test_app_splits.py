"""Any split of the same phones' events into runs gives the same tables."""

from __future__ import annotations

import random
from datetime import timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from phone_app import NOBODY, App, app_contents, app_event
from random_runs import any_cuts, few_examples, run_in_pieces
from website import Event, at
from windrow.atomic.entity_columns import APPLICATION_ERROR

pytestmark = pytest.mark.ci

DAYS = 6
END = "2024-01-08 00:00"
NAMES = ("screen_view", "screen_view", "application_background", "application_error")


def traffic(seed: int) -> list[Event]:
    """A week of a small app with every kind of trouble: the same seed gives the same events."""
    draw = random.Random(f"app {seed}")
    events: list[Event] = []
    for visit in range(12):
        device = draw.choice([*(f"d{n}" for n in range(5)), NOBODY])
        start = at("2024-01-01") + timedelta(hours=draw.uniform(0, 24 * DAYS))
        length = draw.choice([0.1, 0.5, 3, 30, 80])
        has_login, moves = draw.random() < 0.4, draw.random() < 0.2
        for number in range(draw.randrange(1, 8)):
            moment = start + timedelta(hours=draw.uniform(0, length))
            name = "application_install" if visit % 5 == number else draw.choice(NAMES)
            failure = {**dict.fromkeys(APPLICATION_ERROR.fields), "is_fatal": draw.random() < 0.5}
            events.append(
                app_event(
                    f"e{visit:02d}{number}",
                    f"s{visit:02d}" if draw.random() < 0.95 else None,
                    f"{moment:%Y-%m-%d %H:%M:%S.%f}"[:-3],
                    name,
                    screen=f"v{visit:02d}{draw.randrange(3)}" if draw.random() < 0.95 else None,
                    screen_name=draw.choice(["home", "cart", "help"]),
                    # A phone is restored from another one's backup: two devices in one session.
                    device=None
                    if draw.random() < 0.05
                    else f"{device}x"
                    if moves and number % 2
                    else device,
                    delay=timedelta(
                        days=4 if draw.random() < 0.05 else 0, seconds=draw.randrange(60)
                    ),
                    user_id=draw.choice([f"u{device}", f"v{device}"])
                    if has_login and number
                    else None,
                    **({APPLICATION_ERROR.name: failure} if name == "application_error" else {}),
                )
            )
            if draw.random() < 0.1:
                copy = dict(events[-1])
                copy["etl_tstamp"] = moment + timedelta(minutes=5)
                events.append(copy)
    return events


def loaded(spark: SparkSession, folder: Path, seed: int) -> App:
    app = App(spark, folder, enable_app_errors_module=True)
    app.arrive(*traffic(seed))
    return app


@pytest.mark.slow
def test_daily_runs_of_an_app_equal_one_run(spark: SparkSession, tmp_path: Path):
    whole = loaded(spark, tmp_path / "whole", seed=1)
    whole.run(END)
    daily = loaded(spark, tmp_path / "daily", seed=1)
    for day in (3, 5, 8):
        daily.run(f"2024-01-{day:02d} 00:00")
    expected = app_contents(whole)
    assert all(expected.values())
    assert app_contents(daily) == expected


@pytest.mark.slow
@few_examples(4)
@any_cuts()
def test_random_runs_of_an_app_equal_one_run(
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
    run_in_pieces(split, cuts, again)
    assert app_contents(split) == app_contents(whole)
