"""Killed at any change, any number of times: the next run ends in the tables of a whole one."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from itertools import cycle, product

import pytest
from pyspark.sql import SparkSession

from crashes.kills import Moment, plug_pulled
from crashes.scenes import DAY_THREE, SCENES, Stage, differences, state_of
from random_runs import days_become_old

pytestmark = pytest.mark.kills

Schedule = tuple[Moment, ...]

_DRAWN = 16
"""Of a scene's schedules, others in every run of `test-all`, which shall end within the hour."""


EVERY_CHANGE_SEES = {
    ("first run", "delta"),
    ("standard run", "iceberg"),
    ("refresh", "iceberg"),
    ("rollback", "delta"),
}
"""Each scene takes a minute or two: these are looked at with every change, all by `test-all`."""
STAGES = [
    pytest.param(it, marks=() if it in EVERY_CHANGE_SEES else pytest.mark.slow, id="-".join(it))
    for it in product(SCENES, ("delta", "iceberg"))
]


@pytest.fixture(scope="module", autouse=True)
def days_are_old_the_next_day() -> Iterator[None]:
    """So that where keys lie is written down, and looked up, in histories of two days."""
    with days_become_old(recent=0):
        yield


@pytest.fixture(scope="module", params=STAGES)
def stage(
    request: pytest.FixtureRequest, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> Stage:
    scene, format = request.param
    return Stage(spark, tmp_path_factory.mktemp("stage"), format, SCENES[scene])


def failures(stage: Stage, schedules: Iterator[Schedule]) -> dict[str, list[str]]:
    """Schedule -> what was wrong after it; an error of the last run counts too."""
    found = {}
    for schedule in schedules:
        if stage.scene.is_given_up and stage.is_decided(schedule[0]):
            continue
        try:
            problems = stage.problems_after(*schedule)
        except Exception as error:
            problems = [f"{type(error).__name__}: {error}"]
        if problems:
            name = f"{stage.changes[schedule[0].number - 1]}: "
            found[name + ", then ".join(map(str, schedule))] = problems
    return found


def spread(changes: int) -> Iterator[Schedule]:
    """In the middle and late; some of it is undone in more than one attempt."""
    yield (Moment(1 + changes // 2, is_after=True), Moment(1, is_after=True))
    yield (Moment(changes - 1), Moment(1), Moment(2))
    yield (Moment(changes - 1, is_after=True),)


def everywhere(changes: int) -> Iterator[Schedule]:
    """Every change, before and after it; then again, with kills of the next run and the one after.

    Undoing is what the next run does first, so its first changes are the ones to be killed at.
    """
    for number in range(1, changes + 1):
        yield (Moment(number),)
        yield (Moment(number, is_after=True),)
    for number, next_one in zip(range(2, changes + 1), cycle(range(1, 7))):
        yield Moment(number), Moment(next_one)
        yield Moment(number, is_after=True), Moment(1, is_after=True), Moment(next_one)


def test_after_a_kill_the_next_run_makes_the_tables_of_an_undisturbed_one(stage: Stage):
    assert failures(stage, spread(len(stage.changes))) == {}


@pytest.mark.slow
def test_after_kills_anywhere_the_next_run_makes_the_tables_of_an_undisturbed_one(stage: Stage):
    seed = int(os.environ["WINDROW_SEED"])
    all_of_them = list(everywhere(len(stage.changes)))
    chosen = random.Random(seed).sample(all_of_them, min(_DRAWN, len(all_of_them)))
    assert failures(stage, iter(chosen)) == {}, f"drawn with WINDROW_SEED={seed}"


@pytest.mark.parametrize(
    "stage",
    [
        ("standard run", "iceberg"),
        pytest.param(("standard run", "delta"), marks=pytest.mark.slow),
    ],
    indirect=True,
)
def test_a_rollback_goes_no_further_when_the_run_before_was_killed_once_it_counted(stage: Stage):
    stage.put_back()
    site = stage.site
    with plug_pulled(Moment(len(stage.changes))) as watch:
        site.run("2024-01-03 00:00")
    assert watch.is_dead
    site.arrive(*DAY_THREE)
    third = site.run("2024-01-04 00:00")
    site.project().rollback("web", str(third.run_id))
    assert differences(state_of(site), stage.expected) == []
