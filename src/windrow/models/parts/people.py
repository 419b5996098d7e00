"""Which events come from people."""

from __future__ import annotations

from typing import Protocol

from pyspark.sql import Column
from pyspark.sql import functions as F

from windrow.columns import devices
from windrow.models.hooks import Hooks


class BotFilter(Protocol):
    """What a package's settings say of bots."""

    @property
    def ua_bot_filter(self) -> bool: ...
    @property
    def ua_bot_pattern(self) -> str | None: ...
    @property
    def compat(self) -> bool: ...


def is_human(settings: BotFilter, hooks: Hooks) -> Column:
    """True where the event's user agent is not a bot's; always true with `ua_bot_filter` off."""
    if not settings.ua_bot_filter:
        return F.lit(True)
    agent = F.col("useragent")
    is_bot = devices.is_bot(agent, compat=settings.compat)
    if settings.ua_bot_pattern:
        is_bot = agent.rlike(settings.ua_bot_pattern)
    default = devices.is_human(is_bot, unknown_is_human=not settings.compat)
    return hooks.column("filter_bots", default)
