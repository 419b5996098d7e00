"""Device category, screen resolution and the bot filter."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from windrow.columns.conditions import any_of

_BOT_WORDS = (
    *("crawl", "slurp", "spider", "archiv", "spinn", "sniff", "seo", "audit", "survey", "pingdom"),
    *("worm", "capture", "browsershots", "screenshots", "analyz", "index", "thumb", "check"),
    *("facebook", "PhantomJS", "BingPreview", "360Spider", "360User-agent", "semalt"),
)

COMPAT_BOTS = ("bot", "PingdomBot", "YandexBot", "Twitterbot", "Bingbot", "Googlebot", *_BOT_WORDS)
"""Bots as the SQL packages know them: upper and lower case count, so AhrefsBot passes."""

BOTS = tuple(word.lower() for word in _BOT_WORDS)
"""Bots in any spelling, beside those that call themselves a bot."""

_A_BOT = r"(?<!cu)bot"
"""Cubot is a maker of phones, not a bot."""


def is_bot(useragent: Column, *, compat: bool) -> Column:
    """True where a bot is recognised; null where the user agent is unknown.

    A pattern of all these words takes ten times as long as to look for one after the other, and
    most of the time that a model spends on an event.
    """
    if compat:
        return any_of([useragent.contains(word) for word in COMPAT_BOTS])

    def names_a_bot(lower: Column) -> Column:
        calls_itself_bot = lower.contains("bot") & lower.rlike(_A_BOT)
        return any_of([calls_itself_bot, *(lower.contains(word) for word in BOTS)])

    # Spark would put it into lower case for every word anew; of an array's element it does so once.
    return F.exists(F.array(F.lower(useragent)), names_a_bot)


def is_human(is_bot: Column, *, unknown_is_human: bool) -> Column:
    """True where no bot is recognised; of an unknown user agent, as asked."""
    return F.coalesce(~is_bot, F.lit(True)) if unknown_is_human else ~is_bot


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
