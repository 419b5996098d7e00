"""Pages: which page of the shop a page view shows, and where its visitor came from."""

from __future__ import annotations

from urllib.parse import urlsplit

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from windrow.demo.channels import landing_columns
from windrow.demo.draws import between, draw, key, one_of, uuid, weighted_index

HOME, LIST, PRODUCT, CHECKOUT, OTHER = range(5)

# How many of a hundred page views show each kind of page: a session's first, and those after it.
FIRST_PAGES = (38, 28, 26, 1, 7)
LATER_PAGES = (6, 34, 40, 11, 9)

CATEGORIES = ("socks", "hats", "scarves", "gloves", "jumpers", "sale")
CHECKOUT_STEPS = ("/checkout", "/checkout/delivery", "/checkout/payment")
OTHER_PATHS = ("/account", "/help/returns", "/stories/how-we-knit", "/about")
PRODUCTS = 400


def with_page_columns(page_views: DataFrame, site: str) -> DataFrame:
    """Give each page view its page: url and parts, title, referrer and campaign."""
    keyed = page_views.withColumns(
        {
            "page_key": key(F.col("session_key"), F.col("page_number")),
            "page_before_key": key(F.col("session_key"), F.col("page_number") - 1),
        }
    ).withColumns(
        {
            "page_kind": kind_of_page(F.col("page_key"), F.col("page_number")),
            "page_before_kind": kind_of_page(F.col("page_before_key"), F.col("page_number") - 1),
        }
    )
    with_paths = keyed.withColumns(
        {
            "page_urlpath": _path(F.col("page_key"), F.col("page_kind")),
            "path_before": _path(F.col("page_before_key"), F.col("page_before_kind")),
            "page_urlfragment": F.when(
                (F.col("page_kind") == PRODUCT) & (draw("fragment", F.col("page_key")) < 0.06),
                "reviews",
            ),
        }
    )
    with_referrers = with_paths.withColumns(_arrival(site))
    return with_referrers.withColumns(_urls(site))


def kind_of_page(page_key: Column, number: Column) -> Column:
    """Which kind of page the n-th page view of a session shows."""
    drawn = draw("kind of page", page_key)
    return F.when(number == 0, weighted_index(FIRST_PAGES, drawn)).otherwise(
        weighted_index(LATER_PAGES, drawn)
    )


def category_of(page_key: Column) -> Column:
    """The category that a list page shows."""
    return one_of(CATEGORIES, "category", page_key)


def product_of(page_key: Column) -> Column:
    """The number of the product that a product page shows."""
    # Multiplying two draws makes a few products popular.
    product = F.floor(draw("product", page_key) * draw("popularity", page_key) * PRODUCTS)
    return product + 1000


def _path(page_key: Column, kind: Column) -> Column:
    return (
        F.when(kind == HOME, "/home")
        .when(kind == LIST, F.concat(F.lit("/list/"), category_of(page_key)))
        .when(kind == PRODUCT, F.concat(F.lit("/product/"), product_of(page_key)))
        .when(kind == CHECKOUT, one_of(CHECKOUT_STEPS, "step", page_key))
        .otherwise(one_of(OTHER_PATHS, "other", page_key))
    )


def _arrival(site: str) -> dict[str, Column]:
    """Campaign and referrer: from outside for the first page view, then from the page before."""
    url = urlsplit(site)
    inside: dict[str, Column | str] = {
        "page_referrer": F.concat(F.lit(site), F.col("path_before")),
        "refr_urlscheme": url.scheme,
        "refr_urlhost": url.netloc,
        "refr_urlpath": F.col("path_before"),
        "refr_medium": "internal",
    }
    clickid = F.lower(F.hex(key("clickid", F.col("session_key"))))
    is_first = F.col("page_number") == 0
    return {
        name: F.when(is_first, outside).otherwise(inside.get(name))
        for name, outside in landing_columns(F.col("channel"), clickid).items()
    }


def _urls(site: str) -> dict[str, Column]:
    url = urlsplit(site)
    path, query, fragment = (F.col(f"page_url{part}") for part in ("path", "query", "fragment"))
    return {
        "page_view_id": uuid("page view", F.col("page_key")),
        "page_url": F.concat(
            F.lit(site),
            path,
            F.coalesce(F.concat(F.lit("?"), query), F.lit("")),
            F.coalesce(F.concat(F.lit("#"), fragment), F.lit("")),
        ),
        "page_urlscheme": F.lit(url.scheme),
        "page_urlhost": F.lit(url.hostname),
        "page_urlport": F.lit(url.port or {"http": 80, "https": 443}[url.scheme]),
        "page_title": F.concat(F.initcap(F.substring_index(path, "/", -1)), F.lit(" | The Shop")),
        # In hundredths of the viewport: from all of it visible at once to six screens long.
        "doc_screens_percent": between(100, 600, "height", F.col("page_key")),
    }
