"""Whether events come in and models keep up, on literal ages."""

from __future__ import annotations

from datetime import timedelta

import pytest

from website import at
from windrow.operations.freshness import Flow, Freshness, Pauses, models_behind, pauses_of

HOUR = timedelta(hours=1)
NOW = at("2024-01-10 12:00")


def found(hours_old: float | None, pauses: Pauses | None = None, *behind: str) -> Freshness:
    newest = None if hours_old is None else NOW - hours_old * HOUR
    return Freshness(NOW, 6 * HOUR, newest, behind=behind, pauses=pauses)


@pytest.mark.parametrize(
    ("freshness", "flow", "is_stale"),
    [
        (found(6), Flow.FLOWING, False),
        (found(6, None, "users"), Flow.FLOWING, True),
        (found(9, Pauses(14, 0, 2 * HOUR)), Flow.STOPPED, True),
        # Once may have been an outage.
        (found(9, Pauses(14, 1, 10 * HOUR)), Flow.STOPPED, True),
        (found(9, Pauses(14, 2, 10 * HOUR)), Flow.QUIET, False),
        (found(9, Pauses(14, 2, 10 * HOUR), "users"), Flow.QUIET, True),
        (found(9, Pauses(2, 0, HOUR)), Flow.SILENT, True),
        (found(9), Flow.SILENT, True),
        (found(None), Flow.UNKNOWN, True),
    ],
)
def test_a_pause_is_a_quiet_time_only_if_it_is_usual(
    freshness: Freshness, flow: Flow, is_stale: bool
):
    assert (freshness.flow, freshness.is_stale) == (flow, is_stale)


def test_a_pause_is_compared_with_the_same_time_on_other_days():
    moments = [NOW - days * timedelta(days=1) for days in (1, 2, 3)]
    newest = [moments[0] - 3 * HOUR, moments[1] - 9 * HOUR, None]
    assert pauses_of(moments, newest, 9 * HOUR) == Pauses(2, 1, 9 * HOUR)
    assert pauses_of(moments, [None] * 3, HOUR) == Pauses(0, 0, timedelta(0))


def test_a_model_is_behind_if_it_is_due_and_stands_long_before_the_newest_event():
    positions = {"near": NOW - HOUR, "far": NOW - 9 * HOUR, "idle": NOW - 99 * HOUR}
    since, newest = NOW - 6 * HOUR, NOW - 2 * HOUR
    assert models_behind(["near", "far", "new"], positions, newest, since) == ("far", "new")
    # What is as old as the newest event has consumed all there is.
    assert models_behind(["far"], positions, NOW - 9 * HOUR, since) == ()
    assert models_behind(["far"], positions, None, since) == ()
