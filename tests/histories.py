"""Histories of weeks, of which a later run must not read the days that do not bear on it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta

from website import Site

FIRST_DAY = date(2024, 1, 1)
LAST_DAY = date(2024, 1, 28)
DAYS = [FIRST_DAY + timedelta(days=number) for number in range(28)]
GONE = (date(2024, 1, 7), date(2024, 1, 19))
"""The days whose files are deleted, both included: 13 of them."""


def delete_files(site: Site, table: str, first: date, last: date, day: str) -> int:
    """Delete the data files of some days; a scan of one of them fails."""
    gone = 0
    for number in range((last - first).days + 1):
        for file in site.folder.glob(
            f"{table}/**/{day}={first + timedelta(days=number)}/*.parquet"
        ):
            file.unlink()
            gone += 1
    return gone


def delete_old_days(site: Site, tables: Mapping[str, str]) -> None:
    """Delete the files of GONE; `tables`: each with the column that has the day."""
    for table, day in tables.items():
        assert delete_files(site, table, *GONE, day) >= 13, table
