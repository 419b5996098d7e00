"""dbt's selection words over our models."""

import pytest

from windrow.errors import UsageError
from windrow.models.graph import in_order
from windrow.models.model import model
from windrow.models.selection import select
from windrow.packages.web import WEB
from windrow.packages.web.settings import WebSettings


@model(key="page_view_id", tags=["nightly"])
def seen_pages(page_views):
    return page_views


@model(kind="rebuilt", tags=["nightly"])
def top_pages(seen_pages):
    return seen_pages


MODELS = in_order([*WEB.enabled_models(WebSettings()), seen_pages, top_pages])


def names(chosen, excluded=None):
    return [member.name for member in select(MODELS, chosen, excluded)]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (None, ["page_views", "user_mapping", "seen_pages", "sessions", "top_pages", "users"]),
        ("page_views", ["page_views"]),
        ("snowplow_web_page_views", ["page_views"]),
        ("snowplow_web.page_views", ["page_views"]),
        ("web.page_views", ["page_views"]),
        ("page_views_this_run", ["page_views"]),
        ("+sessions", ["user_mapping", "sessions"]),
        ("1+users", ["sessions", "users"]),
        ("page_views+", ["page_views", "seen_pages", "top_pages"]),
        ("page_views+1", ["page_views", "seen_pages"]),
        ("+seen_pages+", ["page_views", "seen_pages", "top_pages"]),
        ("tag:nightly", ["seen_pages", "top_pages"]),
        ("tag:nightly,page_views+1", ["seen_pages"]),
        ("page_views users", ["page_views", "users"]),
        ("package:web", ["page_views", "user_mapping", "sessions", "users"]),
        ("snowplow_web_us*", ["user_mapping", "users"]),
    ],
)
def test_expression_means(expression, expected):
    assert sorted(names(expression)) == sorted(expected)


def test_excluded_models_are_left_out():
    assert names("package:web", "users sessions") == ["page_views", "user_mapping"]


@pytest.mark.parametrize(
    ("expression", "hint"),
    [
        ("page_veiws", "Did you mean 'page_views'"),
        ("tag:nihgtly", "Did you mean 'nightly'"),
        ("tga:x", "Did you mean 'tag'"),
        ("++", "is not a selection"),
    ],
)
def test_unknown_words_are_errors_with_a_hint(expression, hint):
    with pytest.raises(UsageError, match=hint):
        names(expression)
