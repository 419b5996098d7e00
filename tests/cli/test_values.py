"""Option values as people type them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from windrow import UsageError
from windrow.cli.values import joined, parse_interval, parse_now, parse_vars


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


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("10s", 10),
        ("30s", 30),
        ("5m", 300),
        (" 5M ", 300),
        ("90m", 5400),
        ("1h", 3600),
        ("1h30m", 5400),
        ("24h", 86_400),
    ],
)
def test_an_interval_is_a_number_with_its_unit(text: str, seconds: int) -> None:
    assert parse_interval(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize("text", ["", " ", "5", "m", "-5m", "5 minutes", "0.5h", "30m1h", "1d"])
def test_what_is_no_interval_is_told_what_one_looks_like(text: str) -> None:
    with pytest.raises(UsageError, match=r"--every is '.*', expected .*30s, 5m, 1h"):
        parse_interval(text)


@pytest.mark.parametrize("text", ["0s", "9s", "24h1s", "999999h"])
def test_an_interval_is_neither_too_short_nor_too_long(text: str) -> None:
    with pytest.raises(UsageError, match="expected something from 10s to 24h"):
        parse_interval(text)
