"""Sets of days become few literal ranges that hold every one of them."""

from datetime import date, timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from windrow.tables.days import MOST_RANGES, DayRange, at_times, day_ranges, on_days

JAN = date(2024, 1, 1)
days = st.lists(st.dates(date(1970, 1, 1), date(2100, 1, 1)), max_size=300)


def test_neighbours_become_one_range():
    found = day_ranges([date(2024, 1, 3), JAN, date(2024, 1, 2)])
    assert found == (DayRange(JAN, date(2024, 1, 3)),)


def test_a_stray_day_stays_a_range_of_its_own():
    assert day_ranges([JAN, date(1970, 1, 1)]) == (
        DayRange(date(1970, 1, 1), date(1970, 1, 1)),
        DayRange(JAN, JAN),
    )


def test_a_range_knows_its_days():
    last = date(2024, 1, 3)
    assert DayRange(JAN, last).days() == [JAN, date(2024, 1, 2), last]


def test_days_before_and_after_are_added_to_each():
    assert day_ranges([JAN], before=2, after=1) == (DayRange(date(2023, 12, 30), date(2024, 1, 2)),)


def test_the_ends_of_time_do_not_overflow():
    assert day_ranges([date.min, date.max], before=5, after=5)[0].first == date.min


@given(days, st.integers(0, 40), st.integers(0, 40))
def test_every_day_is_in_one_of_a_few_ordered_ranges(found, before, after):
    ranges = day_ranges(found, before=before, after=after)
    assert len(ranges) <= MOST_RANGES
    assert list(ranges) == sorted(ranges)
    assert all(a.last + timedelta(days=1) < b.first for a, b in pairwise(ranges))
    assert all(any(r.first <= day <= r.last for r in ranges) for day in found)


def test_a_condition_on_a_date_column():
    condition = on_days("d", day_ranges([JAN]), or_null=True)
    assert condition == "(d BETWEEN DATE '2024-01-01' AND DATE '2024-01-01' OR d IS NULL)"


def test_a_condition_on_a_timestamp_column_covers_the_whole_last_day():
    condition = at_times("t", day_ranges([JAN]), or_null=False)
    assert condition == (
        "((t >= TIMESTAMP '2024-01-01 00:00:00Z' AND t < TIMESTAMP '2024-01-02 00:00:00Z'))"
    )


def test_no_day_is_a_condition_that_holds_nowhere():
    assert on_days("d", (), or_null=False) == "FALSE"
