"""Your own rules in place of windrow's. A function counts by its name; `default` is our answer.

Take the # away from an example to switch it on. Expressions refer to event columns by name.
"""

# from pyspark.sql import Column
# from pyspark.sql import functions as F


# Which events are kept: leave out a monitoring robot that looks like a person.
#
# def filter_bots(default: Column) -> Column:
#     return default & ~F.col("useragent").contains("AcmeProbe")


# The content group of a page view, by its path.
#
# def content_group(default: Column) -> Column:
#     return F.when(F.col("page_urlpath").startswith("/product/"), "product").otherwise(default)


# Whether a full refresh may rebuild a target: never in production, whatever the settings say.
#
# def allow_refresh(target: str, default: bool) -> bool:
#     return default and target != "prod"
