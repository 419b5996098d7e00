"""Channel groups, one line of the table after the other, and content groups."""

from __future__ import annotations

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from windrow.columns.marketing import channel_group, content_group
from windrow.tables.frames import frame_of

SHOPPING, SEARCH, SOCIAL, VIDEO = (
    f"SOURCE_CATEGORY_{name}" for name in ("SHOPPING", "SEARCH", "SOCIAL", "VIDEO")
)
COLUMNS = dict.fromkeys(("source", "medium", "campaign", "category", "expected"), "string")

VISITS = [
    ("(direct)", "(none)", None, None, "Direct"),
    (" (Direct) ", "(not set)", None, None, "Direct"),
    ("(direct)", None, None, None, "Unassigned"),
    ("google", "a-Cross-Network-b", None, SEARCH, "Cross-network"),
    ("amazon", "cpc", None, SHOPPING, "Paid Shopping"),
    ("x", "paid-anything", "summer-shopping", SEARCH, "Paid Shopping"),
    ("google", "CPC", None, SEARCH, "Paid Search"),
    ("facebook", "ppc", None, SOCIAL, "Paid Social"),
    ("youtube", "retargeting", None, VIDEO, "Paid Video"),
    ("google-ad", "ppc", "data-utilization", None, "Paid Other"),
    ("google-ad", "display", None, None, "Display"),
    ("x", "banner", None, None, "Display"),
    ("x", "expandable", None, None, "Display"),
    ("x", "intersitial", None, None, "Display"),
    ("amazon", None, None, SHOPPING, "Organic Shopping"),
    # `shop` begins a word or follows an e; `workshop` is no shop.
    ("x", None, "eshop", None, "Organic Shopping"),
    ("x", None, "workshop", None, "Unassigned"),
    ("facebook", "referral", None, SOCIAL, "Organic Social"),
    ("x", "social media", None, None, "Organic Social"),
    ("x", "sm", None, None, "Organic Social"),
    ("youtube", None, None, VIDEO, "Organic Video"),
    ("x", "some video ad", None, None, "Organic Video"),
    ("google", None, None, SEARCH, "Organic Search"),
    ("x", "organic", None, None, "Organic Search"),
    ("x", "referral", None, None, "Referral"),
    ("x", "app", None, None, "Referral"),
    ("x", "link", None, None, "Referral"),
    ("e-mail", None, None, None, "Email"),
    (None, " E_Mail ", None, None, "Email"),
    ("x", "affiliate", None, None, "Affiliates"),
    ("x", "audio", None, None, "Audio"),
    ("sms", None, None, None, "SMS"),
    (None, "sms", None, None, "SMS"),
    ("x", "web push", None, None, "Mobile Push Notifications"),
    ("x", "in notification centre", None, None, "Mobile Push Notifications"),
    ("firebase", None, None, None, "Mobile Push Notifications"),
    ("newsletter", "print", "spring", None, "Unassigned"),
    (None, None, None, None, "Unassigned"),
]
"""Source, medium, campaign and category of the source, and the group that follows from them."""

ONLY_OURS = [
    ("x", "cpm", None, None, "Display"),
    ("x", "Interstitial", None, None, "Display"),
    ("amazon", "cpm", None, SHOPPING, "Display"),
]
ONLY_THE_REFERENCE = [
    ("x", "cpm", None, None, "Paid Other"),
    ("x", "Interstitial", None, None, "Unassigned"),
    ("amazon", "cpm", None, SHOPPING, "Paid Shopping"),
]


def test_the_first_matching_line_gives_the_channel_group(spark: SparkSession):
    for compat, own in ((False, ONLY_OURS), (True, ONLY_THE_REFERENCE)):
        visits = frame_of(spark, [*VISITS, *own], COLUMNS)
        group = channel_group(*(F.col(name) for name in list(COLUMNS)[:4]), compat=compat)
        is_right = F.col("group").eqNullSafe(F.col("expected"))
        wrong = visits.withColumn("group", group).where(~is_right)
        assert [tuple(row) for row in wrong.collect()] == []


def test_the_content_group_is_the_first_word_found_in_the_address(spark: SparkSession):
    pages = {
        "https://shop.example/product/1?from=/list": "PDP",
        "https://shop.example/list/shoes": "PLP",
        "https://shop.example/checkout": "checkout",
        "https://shop.example/home": "homepage",
        "https://shop.example/Product/1": "other",
        None: "other",
    }
    frame = frame_of(spark, [[url] for url in pages], {"page_url": "string"})
    found = frame.select("page_url", content_group(F.col("page_url"))).collect()
    assert dict(map(tuple, found)) == pages
