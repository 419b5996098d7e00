"""Channels: what brings a session to the site, as campaign parameters and referrers tell it."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from pyspark.sql import Column
from pyspark.sql import functions as F

from windrow.demo.draws import draw, nth, weighted_index


@dataclass(frozen=True)
class Channel:
    """A way to the site, and how many of a hundred sessions come by it."""

    weight: int
    source: str | None = None
    medium: str | None = None
    campaign: str | None = None
    term: str | None = None
    content: str | None = None
    platform: str | None = None
    network: str | None = None
    referrer: str | None = None
    referrer_medium: str | None = None
    referrer_source: str | None = None
    referrer_term: str | None = None

    @property
    def query(self) -> str | None:
        """The landing page's utm parameters."""
        parameters = {
            "utm_source": self.source,
            "utm_medium": self.medium,
            "utm_campaign": self.campaign,
            "utm_term": self.term,
            "utm_content": self.content,
            "utm_source_platform": self.platform,
        }
        return "&".join(f"{name}={value}" for name, value in parameters.items() if value) or None


_GOOGLE = {
    "referrer": "https://www.google.com/",
    "referrer_medium": "search",
    "referrer_source": "Google",
}
_FACEBOOK = {
    "referrer": "https://www.facebook.com/",
    "referrer_medium": "social",
    "referrer_source": "Facebook",
}
_INSTAGRAM = {
    "referrer": "https://l.instagram.com/",
    "referrer_medium": "social",
    "referrer_source": "Instagram",
}

CHANNELS = (
    Channel(34),
    Channel(21, **_GOOGLE),
    Channel(
        3,
        referrer="https://www.bing.com/search?q=warm+socks",
        referrer_medium="search",
        referrer_source="Bing",
        referrer_term="warm socks",
    ),
    Channel(6, "google", "cpc", "brand", platform="google_ads", network="Google", **_GOOGLE),
    Channel(5, "google", "cpc", "spring-sale", "warm socks", "b", network="Google", **_GOOGLE),
    Channel(2, "google", "cpc", "shopping-feed", platform="sa360", network="Google", **_GOOGLE),
    Channel(4, "facebook", "paid_social", "spring-sale", content="carousel", **_FACEBOOK),
    Channel(5, **_INSTAGRAM),
    Channel(6, "newsletter", "email", "weekly", content="hero"),
    Channel(4, "criteo", "display", "retarget", content="300x250"),
    Channel(3, "partner", "affiliate", "review-site"),
    Channel(1, "app", "mobile-push", "restock"),
    Channel(
        6,
        referrer="https://woolblog.example/tests/socks?page=2#comments",
        referrer_medium="unknown",
    ),
)  # fmt: skip


def channel_of(session_key: Column) -> Column:
    """The index of the session's channel."""
    return weighted_index([channel.weight for channel in CHANNELS], draw("channel", session_key))


def landing_columns(channel: Column, clickid: Column) -> dict[str, Column]:
    """Marketing and referrer columns, and `page_urlquery`, of a session's first page view."""
    network = nth([c.network for c in CHANNELS], channel)
    referrers = [urlsplit(c.referrer or "") for c in CHANNELS]
    return {
        "mkt_source": nth([c.source for c in CHANNELS], channel),
        "mkt_medium": nth([c.medium for c in CHANNELS], channel),
        "mkt_campaign": nth([c.campaign for c in CHANNELS], channel),
        "mkt_term": nth([c.term for c in CHANNELS], channel),
        "mkt_content": nth([c.content for c in CHANNELS], channel),
        "mkt_network": network,
        "mkt_clickid": F.when(network.isNotNull(), clickid),
        "page_urlquery": F.concat(
            nth([c.query for c in CHANNELS], channel),
            F.when(network.isNotNull(), F.concat(F.lit("&gclid="), clickid)).otherwise(""),
        ),
        "page_referrer": nth([c.referrer for c in CHANNELS], channel),
        "refr_urlscheme": nth([r.scheme or None for r in referrers], channel),
        "refr_urlhost": nth([r.netloc or None for r in referrers], channel),
        "refr_urlpath": nth([r.path or None for r in referrers], channel),
        "refr_urlquery": nth([r.query or None for r in referrers], channel),
        "refr_urlfragment": nth([r.fragment or None for r in referrers], channel),
        "refr_medium": nth([c.referrer_medium for c in CHANNELS], channel),
        "refr_source": nth([c.referrer_source for c in CHANNELS], channel),
        "refr_term": nth([c.referrer_term for c in CHANNELS], channel),
    }
