"""The channel group of a web event, by its marketing fields or, on request, its referrer."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from windrow.columns.marketing import channel_group, plain
from windrow.packages.web.settings import WebSettings
from windrow.reference.frames import ReferenceFrames

_MEDIUM_OF_REFERRER = {"search": "organic", "social": "social", "email": "email"}


def _source(settings: WebSettings) -> Column:
    if not settings.use_refr_if_mkt_null:
        return F.col("mkt_source")
    return F.coalesce("mkt_source", F.when(F.col("mkt_medium").isNull(), F.col("refr_source")))


def _medium(settings: WebSettings) -> Column:
    if not settings.use_refr_if_mkt_null:
        return F.col("mkt_medium")
    by_referrer = F.when(F.col("refr_medium").isin("unknown", "referral"), "referral")
    for medium, group in _MEDIUM_OF_REFERRER.items():
        by_referrer = by_referrer.when(F.col("refr_medium") == medium, group)
    return F.coalesce("mkt_medium", F.when(F.col("mkt_source").isNull(), by_referrer))


def with_source_category(
    frame: DataFrame, reference: ReferenceFrames, settings: WebSettings
) -> DataFrame:
    """The frame with `source_category`, as the reference list gives it for the marketing source."""
    categories = reference.source_categories
    return frame.join(
        F.broadcast(categories), plain(_source(settings)) == categories["source_key"], how="left"
    )


def default_channel_group(settings: WebSettings) -> Column:
    """The channel group; needs `with_source_category` first."""
    return channel_group(
        _source(settings),
        _medium(settings),
        F.col("mkt_campaign"),
        F.col("source_category"),
        compat=settings.compat,
    )
