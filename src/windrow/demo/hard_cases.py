"""Hard cases: what goes wrong in real events, each as a step from events to events.

Which events or sessions are hit follows from their ids, so that a case repeats with the seed.
"""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from windrow.atomic.entity_columns import WEB_PAGE
from windrow.demo.draws import between, draw, uuid

EVENT_SHARE = 0.01
SESSION_SHARE = 0.03

# What comes more than so long after its collector time was missed by the usual look-back.
LATE_LOAD_HOURS = 6

_DAY_S = 86_400


def late_sent(events: DataFrame) -> DataFrame:
    """Events that the device kept for more than three days before it sent them."""
    kept_s = between(3 * _DAY_S + 1, 9 * _DAY_S, "kept", F.col("event_id"))
    return _change(
        events,
        _hits("late sent"),
        {name: _shift(name, -kept_s) for name in ("dvce_created_tstamp", "derived_tstamp")},
    )


def null_device_times(events: DataFrame) -> DataFrame:
    """Events tracked on a server, which has no device times."""
    unknown = F.lit(None).cast("timestamp")
    return _change(
        events,
        _hits("null device times"),
        {
            "dvce_created_tstamp": unknown,
            "dvce_sent_tstamp": unknown,
            "derived_tstamp": F.col("collector_tstamp"),
        },
    )


def stray_pings(events: DataFrame) -> DataFrame:
    """Pings of a page view that come a day later, in a session of their own."""
    is_stray = (F.col("event_name") == "page_ping") & _hits("stray ping")
    times = [name for name, type_ in events.dtypes if type_ == "timestamp"]
    return _change(
        events,
        is_stray,
        {
            "domain_sessionid": uuid("later", F.col("domain_sessionid")),
            "domain_sessionidx": F.col("domain_sessionidx") + 1,
            **{name: _shift(name, F.lit(_DAY_S)) for name in times},
        },
    )


def null_sessions(events: DataFrame) -> DataFrame:
    """Events without a session id."""
    return _change(events, _hits("null session"), {"domain_sessionid": F.lit(None).cast("string")})


def null_visitors(events: DataFrame) -> DataFrame:
    """Sessions without a visitor id."""
    nothing = F.lit(None).cast("string")
    return _change(events, _hits_session("null visitor"), {"domain_userid": nothing})


def null_page_views(events: DataFrame) -> DataFrame:
    """Events without a page view id: the entity is null, or an empty array."""
    empty = F.array().cast(events.schema[WEB_PAGE.name].dataType)
    is_empty = draw("empty entity", F.col("event_id")) < 0.5
    return _change(events, _hits("null page view"), {WEB_PAGE.name: F.when(is_empty, empty)})


def changing_users(events: DataFrame) -> DataFrame:
    """Sessions in which two people log in by turns, page view by page view."""
    is_first = draw("person", _page_view_id()) < 0.5
    user_id = F.concat(
        F.lit("family-"),
        F.col("domain_sessionid").substr(1, 8),
        F.when(is_first, "-a").otherwise("-b"),
    )
    return _change(events, _hits_session("changing user"), {"user_id": user_id})


def rotating_visitors(events: DataFrame) -> DataFrame:
    """Sessions in which the visitor id is a new one on every page view."""
    rotated = uuid("rotated", _page_view_id())
    return _change(events, _hits_session("rotating visitor"), {"domain_userid": rotated})


def duplicates(events: DataFrame) -> DataFrame:
    """Events delivered twice: collected again later, or collected once and enriched again."""
    copies = F.when(_hits("duplicate"), F.sequence(F.lit(0), F.lit(1))).otherwise(F.array(F.lit(0)))
    copied = events.select("*", F.explode(copies).alias("copy"))

    is_copy = F.col("copy") == 1
    later_s = between(1, 90, "copied after", F.col("event_id"))
    collected_again = is_copy & (draw("collected again", F.col("event_id")) < 0.5)
    again = _change(
        copied, collected_again, {"collector_tstamp": _shift("collector_tstamp", later_s)}
    )
    return _change(
        again, is_copy, {name: _shift(name, later_s) for name in ("etl_tstamp", "load_tstamp")}
    ).drop("copy")


def late_loaded(events: DataFrame) -> DataFrame:
    """Events that reach the events table one to three days after they were collected."""
    late_s = between(1, 3, "loaded late", F.col("event_id")) * _DAY_S
    return _change(events, _hits("late loaded"), {"load_tstamp": _shift("load_tstamp", late_s)})


# Made with the sessions, since it adds to them; see `visitors.endless_sessions`.
ENDLESS_SESSIONS = "endless_sessions"

# In this order: what is delivered twice or late, is so with whatever else befell it.
HARD_CASES: dict[str, Callable[[DataFrame], DataFrame]] = {
    "late_sent": late_sent,
    "null_device_times": null_device_times,
    "stray_pings": stray_pings,
    "changing_users": changing_users,
    "rotating_visitors": rotating_visitors,
    "null_visitors": null_visitors,
    "null_page_views": null_page_views,
    "null_sessions": null_sessions,
    "duplicates": duplicates,
    "late_loaded": late_loaded,
}


def _page_view_id() -> Column:
    return F.get(F.col(WEB_PAGE.name), F.lit(0))["id"]


def _hits(case: str) -> Column:
    return draw(case, F.col("event_id")) < EVENT_SHARE


def _hits_session(case: str) -> Column:
    return draw(case, F.col("domain_sessionid")) < SESSION_SHARE


def _shift(name: str, seconds: Column) -> Column:
    return F.col(name) + F.make_dt_interval(secs=seconds)


def _change(events: DataFrame, is_hit: Column, changes: dict[str, Column]) -> DataFrame:
    return events.withColumns(
        {name: F.when(is_hit, value).otherwise(F.col(name)) for name, value in changes.items()}
    )
