"""Events of years: the same traffic every day, and people and sessions that come back."""

from __future__ import annotations

from datetime import date, datetime, timedelta

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from windrow.demo.draws import draw, uuid
from windrow.demo.events import APPS, WEBSITES, GenerateOptions, generate

RETURNING_SHARE = 0.05
"""So many sessions are of people who first came on any day of the history."""
NEW_PEOPLE_A_DAY = 5
"""So many of those come for the first time each day."""
RESUMED_SHARE = 0.002
"""So many sessions go on a month later: somebody opens an old tab."""
_MONTH_S = 30 * 86_400


def long_events(
    spark: SparkSession,
    *,
    start: date,
    days: int,
    events_per_day: int,
    package: str,
    resumed_share: float = RESUMED_SHARE,
) -> DataFrame:
    """Events of so many days, each with as many as any other.

    Visitors of the generated traffic stay for weeks. Beside them there are some who come back after
    years, and sessions that go on after a month.
    """
    asked = GenerateOptions(
        start=start,
        days=days,
        events_per_day=events_per_day,
        platforms=(APPS,) if package == "mobile" else (WEBSITES,),
        media="media_player" in package,
    )
    events = generate(spark, asked)
    end = start + timedelta(days=days)
    return _with_resumed(_with_returning(events, start), end, resumed_share)


def _with_returning(events: DataFrame, start: date) -> DataFrame:
    """A share of the sessions is of people drawn from all who ever came."""
    session = F.col("domain_sessionid")
    first = datetime.combine(start, datetime.min.time())
    days = F.datediff(F.col("derived_tstamp"), F.lit(first)) + 1
    nth = F.floor(draw("who", session) * days * NEW_PEOPLE_A_DAY)
    is_returning = draw("returning", session) < RETURNING_SHARE
    return events.withColumn(
        "domain_userid",
        F.when(is_returning, uuid("person", nth)).otherwise(F.col("domain_userid")),
    )


def _with_resumed(events: DataFrame, end: date, share: float) -> DataFrame:
    """A share of the sessions has views a month after its others."""
    session = F.col("domain_sessionid")
    # Of each view of the chosen sessions, once in a while.
    is_view = F.col("event_name").isin("page_view", "screen_view")
    once = draw("one of them", F.col("event_id")) < 0.5
    chosen = events.where(is_view & once & (draw("resumed", session) < share))
    times = [name for name, kind in events.dtypes if kind == "timestamp"]
    later = chosen.withColumns(
        {
            "event_id": uuid("resumed", F.col("event_id")),
            **{name: _after_a_month(name) for name in times},
        }
    )
    return events.unionByName(later.where(F.col("collector_tstamp") < F.lit(end)))


def _after_a_month(name: str) -> Column:
    return F.col(name) + F.make_dt_interval(secs=F.lit(_MONTH_S))
