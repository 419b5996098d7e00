"""When rounds begin, as arithmetic."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow.cli.timetable import LONGEST_PAUSE, Timetable

FIVE_MINUTES = Timetable(timedelta(minutes=5))


def minutes(number: float) -> timedelta:
    return timedelta(minutes=number)


@pytest.mark.parametrize(
    ("began", "ended", "next_begin"),
    [
        (0, 1, 5),
        # Late by a moment, or by the round before it: the beat stays where it is.
        (5.001, 6, 10),
        (7, 8, 10),
        # Over just when the next is due.
        (0, 5, 5),
        # Longer than the interval: at once, and once, however many beats have passed.
        (0, 7, 7),
        (0, 23, 23),
        (23, 24, 25),
    ],
)
def test_rounds_keep_the_beat_and_do_not_pile_up(
    began: float, ended: float, next_begin: float
) -> None:
    found = FIVE_MINUTES.next_begin(minutes(began), minutes(ended), failures=0)
    assert found == minutes(next_begin)


@pytest.mark.parametrize(
    ("failures", "pause"), [(1, 5), (2, 10), (3, 20), (4, 40), (5, 60), (6, 60), (5000, 60)]
)
def test_failures_double_the_pause_up_to_an_hour(failures: int, pause: float) -> None:
    assert FIVE_MINUTES.pause(failures) == minutes(pause)
    assert FIVE_MINUTES.next_begin(minutes(0), minutes(7), failures) == minutes(7 + pause)


def test_a_pause_is_never_shorter_than_the_interval() -> None:
    assert timedelta(hours=6) > LONGEST_PAUSE
    assert Timetable(timedelta(hours=6)).pause(3) == timedelta(hours=6)


def test_after_a_success_rounds_are_on_the_beat_again() -> None:
    tried_again = FIVE_MINUTES.next_begin(minutes(5), minutes(6), failures=1)
    assert tried_again == minutes(11)
    assert FIVE_MINUTES.next_begin(tried_again, minutes(12), failures=0) == minutes(15)


@given(
    every=st.timedeltas(min_value=timedelta(seconds=10), max_value=timedelta(hours=24)),
    began=st.timedeltas(min_value=timedelta(0), max_value=timedelta(days=3650)),
    took=st.timedeltas(min_value=timedelta(0), max_value=timedelta(days=2)),
    failures=st.integers(min_value=0, max_value=100_000),
)
def test_no_round_begins_before_the_last_has_ended_or_twice_in_a_beat(
    every: timedelta, began: timedelta, took: timedelta, failures: int
) -> None:
    ended = began + took
    due = Timetable(every).next_begin(began, ended, failures)
    assert due >= ended
    assert due // every > began // every or due == ended >= (began // every + 1) * every
    # One that neither failed nor took long is followed by the very next beat.
    if not failures and took < every:
        assert due - began <= max(every, took)
