"""What the data itself shows: rows of each table by day, so that a hole is seen."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from windrow.operations.overview import DailyRows, PackageOverview
from windrow.report import words
from windrow.report.page.charts import daily_chart
from windrow.report.page.health import missing_days
from windrow.report.page.names import anchor


@dataclass(frozen=True)
class DataView:
    """A picture for each table, and the same in numbers."""

    charts: tuple[tuple[str, str, Markup], ...]
    """Table, its rows in words, picture."""
    days: tuple[tuple[str, tuple[str, ...]], ...]
    """Newest first: the day, and the rows of each table."""
    models: tuple[str, ...]
    missing: tuple[str, ...]
    stretch: str
    more: str
    """That some tables are not counted; empty: all are."""


def data_view(package: PackageOverview) -> DataView:
    """The rows that were counted."""
    daily, days = package.daily, package.days
    if days is None or not any(it.rows for it in daily):
        return DataView((), (), (), (), "", "")
    first = min(day for it in daily for day in it.rows)
    every = [day for day in days.days() if day >= first]
    return DataView(
        charts=tuple(
            (
                it.model,
                _told(it),
                daily_chart(
                    anchor(package.status.package, "daily", it.model),
                    f"Rows of {it.model} by day, {days.first} to {days.last}. {_told(it)}",
                    it.rows,
                    every,
                ),
            )
            for it in daily
        ),
        days=tuple(
            (day.isoformat(), tuple(f"{it.rows.get(day, 0):,}" for it in daily))
            for day in reversed(every)
        ),
        models=tuple(it.model for it in daily),
        missing=tuple(day.isoformat() for day in missing_days(package)),
        stretch=f"{every[0]} to {every[-1]}",
        more=""
        if package.with_day <= len(daily)
        else f"Counted are {len(daily)} of {package.with_day} tables with a day.",
    )


def _told(it: DailyRows) -> str:
    if not it.rows:
        return "No rows on these days."
    return (
        f"{words.count(sum(it.rows.values()), 'row')} on {words.count(len(it.rows), 'day')}, "
        f"at most {max(it.rows.values()):,} on one."
    )
