"""Activity: a session's events as page views, each followed by its pings, clicks and the rest.

Every time is worked out from a position, so that no event needs to look at the one before it.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from windrow.demo.draws import between, draw, weighted_index
from windrow.demo.pages import with_page_columns
from windrow.demo.shopping import ACTION, action_type, is_buying, pages_in_cart
from windrow.demo.visitors import ENDLESS_HEARTBEAT_MS

MIN_VISIT_MS = 5_000
HEARTBEAT_MS = 10_000
BETWEEN_PAGES_MS = 20_000
PAGE_JITTER_MS = 12_000

# Of a hundred events after the first, how many open a new page.
NEW_PAGE_SHARE = 0.28

PAUSE_SHARE = 0.1
BANNER_SHARE = 0.3
BANNER_ANSWERED_SHARE = 0.8
VITALS_SHARE = 0.1


def page_views(sessions: DataFrame, site: str) -> DataFrame:
    """One row per page view, with the number of its events as `slots`."""
    opened = sessions.withColumn("openings", _openings())
    numbered = opened.select("*", F.posexplode("openings").alias("page_number", "first_position"))

    next_opening = F.get(F.col("openings"), F.col("page_number") + 1)
    pause_ms = between(120, 1_200, "pause", F.col("session_key")) * 1_000
    pauses = (draw("pauses", F.col("session_key")) < PAUSE_SHARE) & (
        F.col("page_number") > between(0, 2, "pause after", F.col("session_key"))
    )
    timed = numbered.withColumns(
        {
            "slots": F.coalesce(next_opening, F.col("events")) - F.col("first_position"),
            "opened_ms": F.col("start_ms")
            + F.col("first_position") * HEARTBEAT_MS
            + F.col("page_number") * BETWEEN_PAGES_MS
            + F.floor(
                draw("page jitter", F.col("session_key"), F.col("page_number")) * PAGE_JITTER_MS
            )
            + F.when(pauses, pause_ms).otherwise(0),
        }
    ).withColumn("cart_pages", pages_in_cart())
    return with_page_columns(timed.drop("openings"), site)


def events_of(page_views: DataFrame) -> DataFrame:
    """One row per event: its `slot` in the page view, its name and when the device made it."""
    slots = page_views.select(
        "*", F.explode(F.sequence(F.lit(0), F.col("slots") - 1)).alias("slot")
    )
    named = slots.withColumns(
        {
            "position": F.col("first_position") + F.col("slot"),
            "drawn": draw("event", F.col("page_key"), F.col("slot")),
        }
    ).withColumn("action_type", action_type())
    named = named.withColumn("event_name", _event_name())

    is_ping = F.col("event_name") == "page_ping"
    # A ping is on the beat; whatever else happens, happens between two beats.
    off_beat_ms = F.when(is_ping, F.floor(F.col("drawn") * 400)).otherwise(
        F.floor(F.col("drawn") * 2_000) + 2_000
    )
    beat_ms = F.when(F.col("is_endless"), ENDLESS_HEARTBEAT_MS).otherwise(HEARTBEAT_MS)
    since_opening_ms = (F.col("slot") - 1) * beat_ms + MIN_VISIT_MS + off_beat_ms
    return named.withColumn(
        "created_ms",
        F.col("opened_ms") + F.when(F.col("slot") == 0, 0).otherwise(since_opening_ms),
    )


def _openings() -> Column:
    """The positions in the session at which a page is opened; an endless session has one."""
    positions = F.sequence(F.lit(0), F.col("events") - 1)
    opened = F.filter(
        positions,
        lambda position: (
            (position == 0) | (draw("opens", F.col("session_key"), position) < NEW_PAGE_SHARE)
        ),
    )
    return F.when(F.col("is_endless"), F.array(F.lit(0))).otherwise(opened)


def _event_name() -> Column:
    slot, slots = F.col("slot"), F.col("slots")
    is_first_page = (F.col("visit_number") == 1) & (F.col("page_number") == 0)
    sees_banner = is_first_page & (draw("banner", F.col("session_key")) < BANNER_SHARE)
    answers = draw("answer", F.col("session_key")) < BANNER_ANSWERED_SHARE
    has_vitals = (slots > 2) & (draw("vitals", F.col("page_key")) < VITALS_SHARE)
    buys = is_buying(F.col("page_kind"), F.col("page_key"))
    ordinary = weighted_index((88, 8, 4), F.col("drawn"))
    return (
        F.when(slot == 0, "page_view")
        .when(sees_banner & (slot == 1), "cmp_visible")
        .when(sees_banner & answers & (slot == 2), "consent_preferences")
        .when(buys & (slot == 1), "purchase")
        .when(F.col("action_type").isNotNull(), ACTION)
        .when(has_vitals & (slot == slots - 1), "web_vitals")
        .when(ordinary == 0, "page_ping")
        .when(ordinary == 1, "link_click")
        .otherwise("event")
    )
