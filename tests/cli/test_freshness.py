"""`windrow status` on a shop with a day of its own: opens at 8, closes at 20, every day."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pyspark.sql import SparkSession

from costs import counted
from website import ONLY_PAGE_VIEWS, Site, event

from .conftest import Outcome, Windrow

pytestmark = pytest.mark.ci

Status = Callable[..., Outcome]

STALE = ("--fail-if-stale", "--json")


@pytest.fixture(scope="module")
def site(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Site:
    made = Site(spark, tmp_path_factory.mktemp("shop"), stale_after_hours=6, **ONLY_PAGE_VIEWS)
    made.arrive(
        *(
            event(f"e{day}.{hour}", f"s{day}.{hour}", f"2024-01-{day:02d} {hour:02d}:00", page="p")
            for day in range(2, 10)
            for hour in (8, 12, 20)
        )
    )
    made.run("2024-01-10 00:00")
    return made


@pytest.fixture
def status(site: Site, windrow: Windrow, spark: SparkSession) -> Status:
    def call(now: str, *options: str) -> Outcome:
        place = ("--project-dir", str(site.folder))
        return windrow("status", "--now", now, *options, *place, spark=spark)

    return call


def freshness(outcome: Outcome) -> dict[str, Any]:
    (package,) = outcome.document["packages"]
    assert package["problem"] is None
    return package["freshness"]


def test_fresh_events_are_told_and_cost_no_further_look(status: Status, spark: SparkSession):
    with counted(spark) as cost:
        outcome = status("2024-01-10T01:00", *STALE)
    assert outcome.exit_code == 0
    assert outcome.document["packages"][0]["newest_event"] == "2024-01-09T20:00:00.000000Z"
    found = freshness(outcome)
    assert (found["flow"], found["is_stale"], found["pauses"]) == ("flowing", False, None)
    assert found["newest_event_age_seconds"] == 5 * 3600
    assert found["model_age_seconds"]["snowplow_web_page_views"] == 5 * 3600
    assert cost.executions <= 5, cost.what


def test_a_night_without_events_is_a_quiet_time(status: Status):
    outcome = status("2024-01-10T06:00", *STALE)
    found = freshness(outcome)
    assert (outcome.exit_code, found["flow"], found["behind"]) == (0, "quiet", [])
    # At 6 in the morning on each day from the 3rd to the 9th.
    assert found["pauses"] == {"days": 7, "days_as_long": 7, "longest_seconds": 10 * 3600}


def test_a_day_without_events_is_a_stopped_tracker(status: Status):
    outcome = status("2024-01-10T18:00", *STALE)
    found = freshness(outcome)
    assert (outcome.exit_code, found["flow"], found["is_stale"]) == (1, "stopped", True)
    assert found["pauses"] == {"days": 8, "days_as_long": 0, "longest_seconds": 6 * 3600}
    warned = status("2024-01-10T18:00")
    assert warned.exit_code == 0
    assert (
        "Stale: no event for 22 h, more than stale_after_hours (6) allows; at this time of day, on "
        "the 8 days before, the newest was at most 6 h old. It looks as if the tracker, or what "
        "loads its events, has stopped." in " ".join(warned.out.split())
    )


def test_events_that_wait_for_a_run_are_told_from_a_source_that_is_silent(
    status: Status, site: Site
):
    site.arrive(event("new", "new", "2024-01-10 17:30", page="p"))
    outcome = status("2024-01-10T18:00", *STALE)
    found = freshness(outcome)
    assert (outcome.exit_code, found["flow"], found["is_stale"]) == (1, "flowing", True)
    assert "snowplow_web_page_views" in found["behind"]
