"""Visitors and their sessions: who comes on which day, how often, when, and for how many events."""

from __future__ import annotations

from itertools import accumulate, pairwise

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import Window as W
from pyspark.sql import functions as F

from windrow.demo.draws import between, draw, key, weighted_index

DAY_MS = 86_400_000

# A visitor is new on one day and may come back on any of the days that follow.
LIFETIME_DAYS = 28
RETURNING_SHARE = 0.4
RETURN_RATE = 0.35
RETURN_DECAY_DAYS = 6.0

# Of a hundred visitor-days, how many have one, two and three sessions.
SESSIONS_A_DAY = (80, 15, 5)

# With the shares above and 12.5 events a session, a day's new visitors and those who came back
# before them cause this many events per new visitor.
EVENTS_PER_NEW_VISITOR = 27

# Sessions that start in each hour of the day, UTC; only their proportions count.
HOURLY_TRAFFIC = (
    *(8, 5, 4, 3, 3, 5, 9, 15, 22, 27, 29, 31),
    *(34, 33, 31, 30, 31, 34, 38, 42, 45, 41, 29, 16),
)


def sessions(
    spark: SparkSession, *, first_day: int, days: int, events_per_day: int, seed: int
) -> DataFrame:
    """One row per session, with its number of `events`; days count from 1970-01-01.

    A day's sessions depend on the seed, the day and events_per_day, not on the range asked for.
    """
    visitor_days = _visitor_days(spark, first_day, days, events_per_day, seed)

    nth = F.col("nth_of_day")
    starts = visitor_days.select(
        "*", F.explode(F.sequence(F.lit(0), F.col("sessions_today") - 1)).alias("nth_of_day")
    ).select(
        "visitor_key",
        "day",
        (F.col("earlier_sessions") + nth + 1).alias("visit_number"),
        # Cutting the day's traffic into equal slices keeps a visitor's sessions in order.
        (
            (nth + draw("start", F.col("visitor_key"), F.col("day"), nth)) / F.col("sessions_today")
        ).alias("traffic_before"),
    )

    started = starts.select(
        "visitor_key",
        "day",
        "visit_number",
        key(F.col("visitor_key"), F.col("visit_number")).alias("session_key"),
        (F.col("day") * DAY_MS + time_of_day_ms(F.col("traffic_before"))).alias("start_ms"),
    )
    return _share_events_out(started, events_per_day)


def endless_sessions(spark: SparkSession, *, first_day: int, days: int, seed: int) -> DataFrame:
    """One session a week that goes on for days on end, in the shape of `sessions`."""
    weeks = -(-days // 7)
    day = F.col("id") * 7 + first_day
    visitor_key = key("endless", seed, day)
    return spark.range(weeks).select(
        visitor_key.alias("visitor_key"),
        day.alias("day"),
        F.lit(1).alias("visit_number"),
        key(visitor_key, 1).alias("session_key"),
        (day * DAY_MS + between(0, DAY_MS - 1, "start", visitor_key)).alias("start_ms"),
        F.lit(1 + ENDLESS_DAYS * DAY_MS // ENDLESS_HEARTBEAT_MS).alias("events"),
    )


# Longer than the three days after which a session is cut off.
ENDLESS_DAYS = 5
ENDLESS_HEARTBEAT_MS = 1_800_000


def _visitor_days(
    spark: SparkSession, first_day: int, days: int, events_per_day: int, seed: int
) -> DataFrame:
    """One row per visitor and day on which the visitor comes."""
    new_a_day = max(1, round(events_per_day / EVENTS_PER_NEW_VISITOR))
    number = F.col("id")
    candidates = spark.range(days * LIFETIME_DAYS * new_a_day).select(
        (F.floor(number / (LIFETIME_DAYS * new_a_day)) + first_day).alias("day"),
        (F.floor(number / new_a_day) % LIFETIME_DAYS).cast("int").alias("age"),
        (number % new_a_day).alias("number"),
    )
    visitors = candidates.select(
        "day", "age", key(seed, F.col("day") - F.col("age"), F.col("number")).alias("visitor_key")
    )

    visitor_key, age = F.col("visitor_key"), F.col("age")
    ages = F.filter(F.sequence(F.lit(0), F.lit(LIFETIME_DAYS - 1)), lambda other: other < age)
    earlier = F.aggregate(
        ages,
        F.lit(0),
        lambda total, other: (
            total
            + F.when(_comes(visitor_key, other), _sessions_on(visitor_key, other)).otherwise(0)
        ),
    )
    return visitors.where(_comes(visitor_key, age)).select(
        "visitor_key",
        "day",
        _sessions_on(visitor_key, age).alias("sessions_today"),
        earlier.alias("earlier_sessions"),
    )


def _comes(visitor_key: Column, age: Column) -> Column:
    comes_back = draw("comes back", visitor_key) < RETURNING_SHARE
    likelihood = F.exp(-age / F.lit(RETURN_DECAY_DAYS)) * RETURN_RATE
    return (age == 0) | (comes_back & (draw("comes", visitor_key, age) < likelihood))


def _sessions_on(visitor_key: Column, age: Column) -> Column:
    return weighted_index(SESSIONS_A_DAY, draw("sessions", visitor_key, age)) + 1


def time_of_day_ms(traffic_before: Column) -> Column:
    """The time of day before which this share of the day's sessions starts."""
    total = sum(HOURLY_TRAFFIC)
    elapsed = [0.0, *(part / total for part in accumulate(HOURLY_TRAFFIC))]
    hours = F.when(F.lit(False), 0.0)
    for hour, (begin, end) in enumerate(pairwise(elapsed)):
        hours = hours.when(traffic_before < end, (traffic_before - begin) / (end - begin) + hour)
    return F.floor(F.coalesce(hours, F.lit(23.9)) * 3_600_000)


def _share_events_out(started: DataFrame, events_per_day: int) -> DataFrame:
    """Give each session its number of events, so that each day has exactly those asked for.

    Many sessions are short and few are long: the numbers are exponentially distributed. The
    session ranked r of n gets what the distribution's Lorenz curve gains between (r-1)/n and r/n.
    """
    rank = F.row_number().over(W.partitionBy("day").orderBy("session_key"))
    ranked = started.select(
        "*", rank.alias("rank"), F.count("*").over(W.partitionBy("day")).alias("of")
    )
    # Every session has its first page view; the rest is to be shared out.
    rest = F.greatest(F.lit(events_per_day) - F.col("of"), F.lit(0))
    up_to = F.floor(rest * _lorenz(F.col("rank") / F.col("of")))
    before = F.floor(rest * _lorenz((F.col("rank") - 1) / F.col("of")))
    return ranked.select(*started.columns, (up_to - before + 1).cast("int").alias("events"))


def _lorenz(share: Column) -> Column:
    left = 1 - share
    return F.when(share < 1, share + left * F.log(left)).otherwise(1.0)
