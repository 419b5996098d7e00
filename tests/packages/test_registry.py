"""The registry: what it takes to be a package, and that all packages agree."""

from __future__ import annotations

from windrow.packages import HOOKS, PACKAGES, SETTINGS
from windrow.packages.ecommerce.settings import EcommerceSettings
from windrow.packages.media_player.settings import MediaPlayerSettings
from windrow.packages.mobile.settings import MobileSettings
from windrow.packages.normalize.settings import NormalizeSettings
from windrow.packages.web.settings import WebSettings


def test_each_package_has_its_settings():
    assert {
        "web": WebSettings,
        "mobile": MobileSettings,
        "ecommerce": EcommerceSettings,
        "media_player": MediaPlayerSettings,
        "normalize": NormalizeSettings,
    } == SETTINGS


def test_a_hook_means_the_same_in_every_package():
    assert len({hook.name for hook in HOOKS}) == len(set(HOOKS))


def test_a_package_stands_on_one_that_there_is():
    bases = {package.stands_on for package in PACKAGES.values()} - {None}
    assert bases == {"web"}
    assert bases <= set(PACKAGES)


def test_only_packages_with_users_take_a_table_of_sessions():
    web, mobile = (
        settings(sessions_table="a.b") for settings in (SETTINGS["web"], SETTINGS["mobile"])
    )
    assert PACKAGES["web"].own_sessions_table(web) == "a.b"
    assert PACKAGES["mobile"].own_sessions_table(mobile) == "a.b"
    assert PACKAGES["ecommerce"].own_sessions_table(EcommerceSettings()) is None


def test_every_model_with_a_key_is_checked_for_nulls_in_it():
    every = {
        "web": WebSettings(enable_consent=True, enable_cwv=True),
        "mobile": MobileSettings(enable_app_errors_module=True),
        "ecommerce": EcommerceSettings(),
        "media_player": MediaPlayerSettings(
            enable_youtube=True, enable_session_and_user_stats=True
        ),
    }
    softened = set()
    for name, settings in every.items():
        for member in PACKAGES[name].enabled_models(settings):
            checks = {check.name: check.severity for check in member.all_checks}
            assert member.key
            if {checks[f"not_null({column})"] for column in member.key} != {"error"}:
                softened.add(member.name)
    # Visitors without a cookie are one user there.
    assert softened == {"user_stats"}
