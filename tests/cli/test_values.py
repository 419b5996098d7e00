"""Option values as people type them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from windrow.cli.values import joined, parse_now, parse_vars


@pytest.mark.parametrize(
    ("text", "hour"),
    [
        ("2024-03-05T18:00:00", 18),
        ("2024-03-05 18:00", 18),
        ("2024-03-05", 0),
        ("2024-03-05T18:00:00Z", 18),
        ("2024-03-05T18:00:00+02:00", 16),
    ],
)
def test_a_clock_without_a_zone_is_utc(text: str, hour: int) -> None:
    assert parse_now(text) == datetime(2024, 3, 5, hour, tzinfo=UTC)


def test_without_a_clock_it_is_now() -> None:
    assert parse_now(None).tzinfo is UTC


def test_json_with_tabs_is_read() -> None:
    assert parse_vars('{"web":\t{"start_date": "2024-01-01"}}') == {
        "web": {"start_date": "2024-01-01"}
    }


def test_no_selection_is_none() -> None:
    assert (joined(None), joined([]), joined(["a", "+b"])) == (None, None, "a +b")
