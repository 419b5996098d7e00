"""dbt's selection words over our models."""

import pytest

from windrow.errors import UsageError
from windrow.models.base_names import without_base, without_limits, without_manifests
from windrow.models.graph import in_order
from windrow.models.model import model
from windrow.models.selection import select
from windrow.packages.ecommerce import ECOMMERCE
from windrow.packages.ecommerce.settings import EcommerceSettings
from windrow.packages.media_player import MEDIA_PLAYER
from windrow.packages.media_player.settings import MediaPlayerSettings
from windrow.packages.mobile import MOBILE
from windrow.packages.mobile.settings import MobileSettings
from windrow.packages.web import WEB
from windrow.packages.web.page_views import page_views
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
        ("snowplow_web", ["page_views", "user_mapping", "sessions", "users"]),
        ("package:snowplow_web,+sessions", ["user_mapping", "sessions"]),
        ("path:windrow/packages/web/users.py", ["users"]),
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
        ("snowplow_web_base_new_event_limits", "`windrow plan` tells"),
        ("base_events_this_run", "a part of every run"),
        ("web.incremental_manifest", "--refresh-manifests --select incremental_manifest"),
    ],
)
def test_unknown_words_are_errors_with_a_hint(expression, hint):
    with pytest.raises(UsageError, match=hint):
        names(expression)


def test_every_name_that_the_manifest_holds_selects_its_model():
    settings = MediaPlayerSettings(enable_youtube=True, enable_session_and_user_stats=True)
    models = [
        *WEB.enabled_models(WebSettings(enable_consent=True, enable_cwv=True)),
        *MOBILE.enabled_models(MobileSettings(enable_app_errors_module=True)),
        *ECOMMERCE.enabled_models(EcommerceSettings()),
        *MEDIA_PLAYER.enabled_models(settings),
    ]
    for member in models:
        of_package = [it for it in models if it.package == member.package]
        for name in member.tracked_names:
            assert select(of_package, name) == [member]
            assert select(of_package, f"snowplow_{member.package}.{name}") == [member]


@pytest.mark.parametrize(
    ("package", "tag"),
    [(WEB, "snowplow_web_incremental"), (MEDIA_PLAYER, "snowplow_web_incremental")],
)
def test_models_of_the_manifest_have_the_tag_of_the_sql_packages(package, tag):
    found = select(package.tagged([page_views, seen_pages, top_pages]), f"tag:{tag}")
    assert [member.name for member in found] == ["page_views", "seen_pages"]


@pytest.mark.parametrize(
    ("listed", "left"),
    [
        ("snowplow_web_base_events_this_run snowplow_web_page_views", "snowplow_web_page_views"),
        ("snowplow_web_dim_geo_country_mapping snowplow_web_incremental_manifest", ""),
        ("my_base_events_this_run", "my_base_events_this_run"),
    ],
)
def test_tables_of_the_base_are_no_models_to_run(listed, left):
    assert without_base(listed) == left


@pytest.mark.parametrize(
    ("expression", "rest", "packages"),
    [
        ("snowplow_web_base_new_event_limits", None, ("web+media_player",)),
        ("snowplow_mobile_base_new_event_limits", None, ("mobile",)),
        ("+base_new_event_limits", None, ("web+media_player", "mobile")),
        ("web.base_new_event_limits users", "users", ("web+media_player",)),
        ("users", "users", ()),
        (None, None, ()),
    ],
)
def test_limits_are_asked_for_by_the_name_of_their_table(expression, rest, packages):
    assert without_limits(expression, ["web+media_player", "mobile"]) == (rest, packages)


@pytest.mark.parametrize(
    ("expression", "rest", "named"),
    [
        ("snowplow_mobile_incremental_manifest", None, {"mobile": ("incremental_manifest",)}),
        (
            "web.base_quarantined_sessions snowplow_web_incremental_manifest users",
            "users",
            {"web+media_player": ("incremental_manifest", "base_quarantined_sessions")},
        ),
        (
            "base_sessions_lifecycle_manifest",
            None,
            dict.fromkeys(("web+media_player", "mobile"), ("base_sessions_lifecycle_manifest",)),
        ),
        ("snowplow_ecommerce_incremental_manifest", "snowplow_ecommerce_incremental_manifest", {}),
        (None, None, {}),
    ],
)
def test_manifests_are_named_with_or_without_prefix(expression, rest, named):
    assert without_manifests(expression, ["web+media_player", "mobile"]) == (rest, named)
