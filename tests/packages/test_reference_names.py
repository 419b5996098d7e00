"""The way back: with `compat`, state has the names and columns that the SQL packages look for."""

from __future__ import annotations

from typing import Any

import pytest

from windrow.packages import PACKAGES, SETTINGS
from windrow.state.manifest import MANIFEST

USERS = ("users", "users_this_run", "users_aggs", "users_lasts", "users_sessions_this_run")
CONSENT = ("log", "users", "versions", "totals", "scope_status", "cmp_stats")
TRACKED: list[tuple[str, dict[str, Any], set[str]]] = [
    (
        "web",
        {"enable_consent": True, "enable_cwv": True},
        {
            *("page_views", "page_views_this_run", "pv_engaged_time", "pv_scroll_depth"),
            *("sessions", "sessions_this_run", "user_mapping", *USERS),
            *("consent_events_this_run", *(f"consent_{name}" for name in CONSENT)),
            *("vital_events_this_run", "vitals_this_run", "vitals", "vital_measurements"),
        },
    ),
    (
        "mobile",
        {"enable_app_errors_module": True},
        {
            *("app_errors", "app_errors_this_run", "screen_views", "screen_views_this_run"),
            *("sessions", "sessions_aggs", "sessions_sv_details", "sessions_this_run"),
            *("user_mapping", *USERS),
        },
    ),
    (
        "ecommerce",
        {},
        {
            name + twin
            for name in (
                *(f"{kind}_interactions" for kind in ("cart", "checkout", "product")),
                *("transaction_interactions", "sessions"),
            )
            for twin in ("", "_this_run")
        },
    ),
    (
        "media_player",
        {"enable_youtube": True},
        {
            *("pivot_base", "interactions_this_run", "base_this_run", "base"),
            *("plays_by_pageview", "media_stats"),
        },
    ),
]


@pytest.mark.parametrize(("name", "options", "models"), TRACKED)
def test_the_manifest_has_the_rows_of_the_reference(
    name: str, options: dict[str, Any], models: set[str]
):
    settings = SETTINGS[name].model_validate({"compat": True, **options})
    members = PACKAGES[name].enabled_models(settings)
    tracked = {it for member in members for it in member.tracked_names}
    assert tracked == {f"snowplow_{name}_{model}" for model in models}


@pytest.mark.parametrize(
    ("name", "session", "user"),
    [
        ("web", "session_id", "domain_userid"),
        ("mobile", "session_id", "device_user_id"),
        ("ecommerce", "session_identifier", "user_identifier"),
    ],
)
def test_manifests_have_the_columns_of_the_reference(name: str, session: str, user: str):
    base = PACKAGES[name].foundation(SETTINGS[name].model_validate({"compat": True}))
    assert dict(MANIFEST) == {"model": "string", "last_success": "timestamp"}
    assert dict(base.lifecycle) == {
        session: "string",
        user: "string",
        "start_tstamp": "timestamp",
        "end_tstamp": "timestamp",
        "start_tstamp_date": "date",
    }
    assert dict(base.quarantine) == {session: "string"}
