"""Device category, screen resolution and the bot filter."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

_BOT_WORDS = (
    "crawl|slurp|spider|archiv|spinn|sniff|seo|audit|survey|pingdom|worm|capture"
    "|(browser|screen)shots|analyz|index|thumb|check|facebook|PhantomJS|a_archiver"
    "|facebookexternalhit|BingPreview|360(Spider|User-agent)|semalt"
)

COMPAT_BOTS = f"bot|PingdomBot|YandexBot|Twitterbot|Bingbot|Googlebot|Baiduspider|{_BOT_WORDS}"
"""Bots as the SQL packages know them: upper and lower case count, so AhrefsBot passes."""

BOTS = f"(?i)(?<!cu)bot|{_BOT_WORDS}"
"""Bots in any spelling; Cubot is a maker of phones, not a bot."""


def is_human(useragent: Column, pattern: str, *, unknown_is_human: bool) -> Column:
    """True where no bot is recognised; of an unknown user agent, as asked."""
    human = ~useragent.rlike(pattern)
    return F.coalesce(human, F.lit(True)) if unknown_is_human else human


def device_category(device_class: Column) -> Column:
    """Desktop, Mobile, Tablet or Other."""
    return (
        F.when(device_class == "Desktop", "Desktop")
        .when(device_class == "Phone", "Mobile")
        .when(device_class == "Tablet", "Tablet")
        .otherwise("Other")
    )


def screen_resolution(width: Column, height: Column) -> Column:
    """`414x896`; null if either side is unknown."""
    return F.concat(width.cast("string"), F.lit("x"), height.cast("string"))
