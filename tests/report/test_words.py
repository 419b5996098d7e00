"""Numbers and times as people read them."""

from __future__ import annotations

from datetime import timedelta

import pytest

from report.values import at
from windrow.report import words


@pytest.mark.parametrize(
    ("length", "text"),
    [
        (timedelta(seconds=40), "40 s"),
        (timedelta(minutes=12, seconds=30), "12 min"),
        (timedelta(hours=3, minutes=20), "3 h 20 min"),
        (timedelta(hours=3), "3 h"),
        (timedelta(days=1), "1 day"),
        (timedelta(days=2, hours=4), "2 days 4 h"),
        (timedelta(days=700, hours=4), "700 days"),
    ],
)
def test_a_span_has_the_units_that_matter(length: timedelta, text: str):
    assert words.span(length) == text


@pytest.mark.parametrize(
    ("part", "text"), [(0, "0 %"), (1, "under 0.1 %"), (40, "0.4 %"), (1200, "12 %")]
)
def test_a_small_share_is_not_nothing(part: int, text: str):
    assert words.percent(part, 10_000) == text


def test_a_minute_has_no_seconds():
    assert words.minute(at(5, 18)) == "2024-03-05 18:00"
