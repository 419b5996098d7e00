"""Channel group and content group of a visit."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

_PAID = r"^(.*cp.*|ppc|retargeting|paid.*)$"
_SHOP = r"^(.*(([^a-df-z]|^)shop|shopping).*)$"
_VIDEO = r"^(.*video.*)$"
_PUSH = r".*(mobile|notification).*"
_EMAIL = ("email", "e-mail", "e_mail", "e mail")
_SOCIAL = ("social", "social-network", "sm", "social network", "social media")
_DISPLAY_OF_THE_REFERENCE = ("display", "banner", "expandable", "intersitial", "cpm")
_DISPLAY = (*_DISPLAY_OF_THE_REFERENCE, "interstitial")


def plain(text: Column) -> Column:
    """Lower case, without spaces around it: how marketing fields are compared."""
    return F.lower(F.trim(text))


def channel_group(
    source: Column, medium: Column, campaign: Column, category: Column, *, compat: bool
) -> Column:
    """The default channel group of a visit; `category` is that of its source in the reference list.

    The reference tests paid media first, so that the medium `cpm`, which holds `cp`, is never
    Display there, and it misspells `interstitial`.
    """
    source, medium, campaign = plain(source), plain(medium), plain(campaign)

    def is_category(name: str) -> Column:
        return category == f"SOURCE_CATEGORY_{name}"

    def says(condition: Column) -> Column:
        return F.coalesce(condition, F.lit(False))

    shops = says(is_category("SHOPPING")) | says(campaign.rlike(_SHOP))
    paid = (
        F.when(shops, "Paid Shopping")
        .when(is_category("SEARCH"), "Paid Search")
        .when(is_category("SOCIAL"), "Paid Social")
        .when(is_category("VIDEO"), "Paid Video")
        .otherwise("Paid Other")
    )
    is_paid = medium.rlike(_PAID)
    is_display = medium.isin(*(_DISPLAY_OF_THE_REFERENCE if compat else _DISPLAY))
    first, second = ((is_paid, paid), (is_display, F.lit("Display")))
    if not compat:
        first, second = second, first

    return (
        F.when((source == "(direct)") & medium.isin("(not set)", "(none)"), "Direct")
        .when(medium.contains("cross-network"), "Cross-network")
        .when(*first)
        .when(*second)
        .when(shops, "Organic Shopping")
        .when(says(is_category("SOCIAL")) | says(medium.isin(*_SOCIAL)), "Organic Social")
        .when(says(is_category("VIDEO")) | says(medium.rlike(_VIDEO)), "Organic Video")
        .when(says(is_category("SEARCH")) | says(medium == "organic"), "Organic Search")
        .when(medium.isin("referral", "app", "link"), "Referral")
        .when(says(source.isin(*_EMAIL)) | says(medium.isin(*_EMAIL)), "Email")
        .when(medium == "affiliate", "Affiliates")
        .when(medium == "audio", "Audio")
        .when(says(source == "sms") | says(medium == "sms"), "SMS")
        .when(
            says(medium.endswith("push")) | says(medium.rlike(_PUSH)) | says(source == "firebase"),
            "Mobile Push Notifications",
        )
        .otherwise("Unassigned")
    )


def content_group(page_url: Column) -> Column:
    """Product page, list, checkout, home page or other, from the address."""
    return (
        F.when(page_url.contains("/product"), "PDP")
        .when(page_url.contains("/list"), "PLP")
        .when(page_url.contains("/checkout"), "checkout")
        .when(page_url.contains("/home"), "homepage")
        .otherwise("other")
    )
