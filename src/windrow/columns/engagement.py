"""How long a visitor was engaged, and how far a page was scrolled, from page pings."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F


def ping_bucket(created: Column, heartbeat: int) -> Column:
    """The heartbeat interval, counted since the epoch, in which a page ping was made."""
    return F.floor(F.unix_seconds(created) / F.lit(heartbeat))


def engaged_seconds(
    buckets: Column, pages: Column, *, heartbeat: int, min_visit_length: int
) -> Column:
    """Engaged time of `pages` pinged pages that were seen in `buckets` distinct heartbeats.

    The first ping of a page stands for the minimum visit, every further one for a heartbeat.
    """
    seconds = F.lit(heartbeat) * (buckets - pages) + pages * F.lit(min_visit_length)
    return seconds.cast("bigint")


def within(value: Column, greatest: Column) -> Column:
    """An offset in pixels, held between 0 and the size of the document."""
    return F.least(F.greatest(value, F.lit(0)), greatest)


def percent(part: Column, whole: Column) -> Column:
    """Whole percent as float. Divide, multiply, round: the halves depend on this order."""
    share = part.cast("double") / whole.cast("double")
    return F.round(share * F.lit(100.0)).cast("float")
