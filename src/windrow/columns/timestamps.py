"""Instants: whole-second arithmetic, literals for Spark, and values collected back from Spark."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from pyspark.sql import Column
from pyspark.sql import functions as F

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def seconds_between(start: Column, end: Column) -> Column:
    """Whole seconds from start to end; fractions are cut from both before subtracting."""
    return F.unix_seconds(end) - F.unix_seconds(start)


def plus_days(instant: Column, days: int) -> Column:
    """The instant so many times 24 hours later, fractions of a second kept."""
    return instant + F.make_dt_interval(F.lit(days))


def minus_seconds(instant: Column, seconds: int) -> Column:
    """The instant so many seconds earlier, fractions of a second kept."""
    zero = F.lit(0)
    return instant - F.make_dt_interval(zero, zero, zero, F.lit(seconds))


def literal(instant: datetime) -> Column:
    """The instant as a constant that Spark can push down to a scan."""
    return F.lit(sql_text(instant)).cast("timestamp")


def sql_text(instant: datetime) -> str:
    """The instant with microseconds and its zone, as Spark reads it."""
    return f"{instant.astimezone(UTC):%Y-%m-%d %H:%M:%S.%f}Z"


def micros(instant: Column) -> Column:
    """The instant as a number, which is collected alike in every time zone; see `from_micros`."""
    return F.unix_micros(instant)


def from_micros(number: int | None) -> datetime | None:
    """The instant that `micros` made a number of."""
    return None if number is None else _EPOCH + timedelta(microseconds=number)
