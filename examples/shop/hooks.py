"""The shop's own rules. A function counts by its name; `default` is windrow's answer."""

from pyspark.sql import Column
from pyspark.sql import functions as F


def filter_bots(default: Column) -> Column:
    """Our own monitoring looks like a person, but is none."""
    return default & ~F.coalesce(F.col("useragent").contains("ShopProbe"), F.lit(False))


def content_group(default: Column) -> Column:
    """Products are a group of their own."""
    return F.when(F.col("page_url").contains("/product"), "product").otherwise(default)


def allow_refresh(target: str, default: bool) -> bool:
    """Never rebuild production, whatever the settings say."""
    return default and target != "prod"
