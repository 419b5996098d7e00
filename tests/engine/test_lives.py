"""On which days rows can lie of sessions that live between two instants."""

from __future__ import annotations

from datetime import date

import pytest

from website import at
from windrow.engine.intake.lifecycle import days_of_life
from windrow.models.foundation import DAYS_AHEAD
from windrow.packages.web.settings import WebSettings


@pytest.mark.parametrize(("days_late", "first"), [(3, 2), (1, 4), (-1, 4)])
def test_rows_lie_since_the_day_on_which_the_latest_event_was_made(days_late: int, first: int):
    settings = WebSettings(days_late_allowed=days_late)
    found = days_of_life(at("2024-01-05 00:30"), at("2024-01-06 23:30"), settings)
    assert found == [date(2024, 1, day) for day in range(first, 6 + DAYS_AHEAD + 1)]
