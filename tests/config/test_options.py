"""Options: their defaults, what they accept and what they refuse."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from project_files import Problems, Web, with_web
from windrow.config import EventsSource, PackageSettings
from windrow.config.options import NOT_IN_FINGERPRINT
from windrow.packages.mobile.settings import MobileSettings
from windrow.packages.web.settings import ConversionEvent, WebSettings

BASE_DEFAULTS = {
    "start_date": date(2020, 1, 1),
    "backfill_limit_days": 30,
    "lookback_window_hours": 6,
    "session_lookback_days": 730,
    "days_late_allowed": 3,
    "max_session_days": 3,
    "upsert_lookback_days": 30,
    "app_id": (),
    "dev_target_name": "dev",
    "allow_refresh": False,
    "session_timestamp": "collector_tstamp",
    "session_identifiers": (),
    "user_identifiers": (),
    "session_sql": None,
    "user_sql": None,
    "passthrough": {},
    "aggregations": {},
    "models_to_run": "",
    "models_to_remove": (),
    "replay": "beside",
    "compat": False,
    "keep_this_run": False,
    "enabled": True,
    "disabled_models": (),
    "cluster_by": {},
    "lease_minutes": 10,
    "stale_after_hours": 36,
    "atomic_schema": None,
    "events_table": None,
    "databricks_catalog": None,
    "events": None,
}
WEB_DEFAULTS = {
    "min_visit_length": 5,
    "heartbeat": 10,
    "ua_bot_filter": True,
    "ua_bot_pattern": None,
    "use_refr_if_mkt_null": False,
    "enable_iab": False,
    "enable_ua": False,
    "enable_yauaa": False,
    "limit_page_views_to_session": True,
    "session_stitching": True,
    "list_event_counts": False,
    "conversion_events": (),
    "total_all_conversions": False,
    "sessions_table": None,
    "enable_consent": False,
    "enable_cwv": False,
    "cwv_days_to_measure": 28,
    "cwv_percentile": 75,
    "reference": {"countries": None, "languages": None, "sources": None},
}
MOBILE_DEFAULTS = {
    "platform": ("mob",),
    "enable_mobile_context": False,
    "enable_geolocation_context": False,
    "enable_application_context": False,
    "enable_screen_context": False,
    "enable_app_errors_module": False,
    "session_stitching": True,
    "merge_anonymous_devices": False,
    "quarantine": False,
    "sessions_table": None,
}


@pytest.mark.parametrize("compat", [False, True])
def test_base_defaults_are_those_of_the_spec(compat: bool) -> None:
    assert PackageSettings(compat=compat).model_dump() == BASE_DEFAULTS | {"compat": compat}


def test_web_defaults_are_those_of_the_spec() -> None:
    assert WebSettings().model_dump() == BASE_DEFAULTS | WEB_DEFAULTS


def test_mobile_defaults_are_those_of_the_spec() -> None:
    assert MobileSettings().model_dump() == BASE_DEFAULTS | MOBILE_DEFAULTS


@pytest.mark.parametrize(
    ("line", "option", "value"),
    [
        ("start_date: 2024-01-31", "start_date", date(2024, 1, 31)),
        ("start_date: '2024-01-31'", "start_date", date(2024, 1, 31)),
        ("app_id: shop", "app_id", ("shop",)),
        ("app_id: [shop, blog]", "app_id", ("shop", "blog")),
        ("models_to_remove: page_views", "models_to_remove", ("page_views",)),
        (
            "cluster_by: {page_views: [start_tstamp]}",
            "cluster_by",
            {"page_views": ["start_tstamp"]},
        ),
        ("ua_bot_pattern: '(?i)bot'", "ua_bot_pattern", "(?i)bot"),
        ("backfill_limit_days:", "backfill_limit_days", 30),
        ("events: lake.atomic.events", "events", EventsSource(table="lake.atomic.events")),
    ],
)
def test_option_accepts(web: Web, line: str, option: str, value: Any) -> None:
    assert getattr(web(line), option) == value


@pytest.mark.parametrize(
    ("line", "path", "found", "expected"),
    [
        ('backfill_limit_days: "30"', "backfill_limit_days", '"30"', "a whole number"),
        ("backfill_limit_days: 1.5", "backfill_limit_days", "1.5", "a whole number"),
        ("backfill_limit_days: true", "backfill_limit_days", "true", "a whole number"),
        ("backfill_limit_days: 0", "backfill_limit_days", "0", "a number of at least 1"),
        ("lookback_window_hours: -1", "lookback_window_hours", "-1", "a number of at least 0"),
        ("max_session_days: 0", "max_session_days", "0", "a number of at least 1"),
        ("heartbeat: 0", "heartbeat", "0", "a number of at least 1"),
        ("cwv_percentile: 100", "cwv_percentile", "100", "a number of at most 99"),
        ("cwv_percentile: 0", "cwv_percentile", "0", "a number of at least 1"),
        ("compat: 1", "compat", "1", "true or false"),
        ("start_date: 2024-02-30", "start_date", '"2024-02-30"', "a date such as 2024-01-31"),
        ("start_date: 20240101", "start_date", "20240101", "a date such as 2024-01-31"),
        ("start_date: soon", "start_date", '"soon"', "a date such as 2024-01-31"),
        ("app_id: [7]", "app_id.0", "7", "text (put quotes around it)"),
        ("models_to_run: [a]", "models_to_run", '["a"]', "text"),
        ("total_all_conversions: true", "total_all_conversions", "true", "false, or at least one"),
        ("ua_bot_pattern: '('", "ua_bot_pattern", '"("', "a regular expression"),
        ("session_timestamp: a b", "session_timestamp", '"a b"', "a name of letters"),
        ("atomic_schema: a.b", "atomic_schema", '"a.b"', "a single name without dots"),
        ("events: a;b", "events.table", '"a;b"', "a table name such as"),
        ("events: {path: a, table: b}", "events", '{"path": "a", "table": "b"}', "exactly one"),
        ("events: {}", "events", "{}", "exactly one of `path` and `table`"),
        ("sessions_table: a;b", "sessions_table", '"a;b"', "a table name such as"),
        ("cluster_by: {a: [b c]}", "cluster_by.a.0", '"b c"', "a column, or on Iceberg"),
        ("reference: countries.csv", "reference", '"countries.csv"', "a mapping"),
    ],
)
def test_option_refuses(
    problems: Problems, line: str, path: str, found: str, expected: str
) -> None:
    (problem,) = problems(with_web(line))
    assert (problem.file, problem.path) == ("windrow.yml", f"packages.web.{path}")
    assert problem.found == found
    assert problem.expected.startswith(expected)


@pytest.mark.parametrize(
    ("lines", "table"),
    [
        ("atomic_schema: raw", "raw.events"),
        ("events_table: good", "atomic.good"),
        ("databricks_catalog: lake", "lake.atomic.events"),
        ("atomic_schema: raw\nevents_table: good\ndatabricks_catalog: lake", "lake.raw.good"),
        ("atomic_schema: raw\nevents: other.events", "other.events"),
    ],
)
def test_reference_options_say_where_the_events_are(web: Web, lines: str, table: str) -> None:
    assert web(lines).events == EventsSource(table=table)


def test_one_conversion_is_a_list_of_one(web: Web) -> None:
    lines = "conversion_events: {name: buy, condition: event_name = 'buy'}"
    assert web(lines).conversion_events == (
        ConversionEvent(
            name="buy",
            condition="event_name = 'buy'",
            value=None,
            default_value=0,
            list_events=False,
        ),
    )


@pytest.mark.parametrize(
    ("conversions", "path", "expected"),
    [
        ("[{name: a, condition: x}, {name: A, condition: y}]", "", "conversions with different"),
        ("{name: a-b, condition: x}", ".0.name", "letters, digits and underscores only"),
        ("{name: _all, condition: x}", ".0.name", "another name"),
        ("{name: a, condition: x, default_value: '0'}", ".0.default_value", "a number"),
        ("{name: a, condition: x, default_value: .nan}", ".0.default_value", "a number"),
        ("{name: a, condition: ''}", ".0.condition", "text that is not empty"),
        ("{name: a}", ".0.condition", "a value, because this key is required"),
    ],
)
def test_conversion_refuses(problems: Problems, conversions: str, path: str, expected: str) -> None:
    (problem,) = problems(with_web(f"conversion_events: {conversions}"))
    assert problem.path == f"packages.web.conversion_events{path}"
    assert problem.expected.startswith(expected)


def test_totals_are_allowed_with_conversions(web: Web) -> None:
    lines = "conversion_events: {name: a, condition: x}\ntotal_all_conversions: true"
    assert web(lines).total_all_conversions


def test_settings_are_frozen() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        WebSettings().heartbeat = 5


@pytest.mark.parametrize("option", sorted(NOT_IN_FINGERPRINT))
def test_fingerprint_leaves_out_only_options_that_exist(option: str) -> None:
    assert option in PackageSettings.model_fields


@pytest.mark.parametrize(
    "change",
    [
        {"lease_minutes": 1},
        {"stale_after_hours": 1},
        {"backfill_limit_days": 1},
        {"models_to_run": "a"},
        {"models_to_remove": "a"},
        {"keep_this_run": True},
        {"allow_refresh": True},
        {"dev_target_name": "x"},
        {"events": "a.b"},
        {"events_table": "b"},
        {"cluster_by": {"a": ["b"]}},
    ],
)
def test_fingerprint_ignores_how_and_where_to_run(change: Any) -> None:
    assert WebSettings.model_validate(change).fingerprint() == WebSettings().fingerprint()


@pytest.mark.parametrize(
    "change",
    [
        {"start_date": date(2021, 1, 1)},
        {"heartbeat": 5},
        {"compat": True},
        {"reference": {"countries": "mine.csv"}},
        {"conversion_events": {"name": "a", "condition": "x"}},
    ],
)
def test_fingerprint_notices_what_changes_results(change: Any) -> None:
    assert WebSettings.model_validate(change).fingerprint() != WebSettings().fingerprint()


def test_fingerprint_does_not_depend_on_the_project_folder(tmp_path: Path) -> None:
    settings = WebSettings.model_validate({"reference": {"countries": "mine.csv"}})
    assert settings.under(tmp_path).fingerprint() == settings.fingerprint()


@given(st.permutations(list((BASE_DEFAULTS | WEB_DEFAULTS).items())))
def test_fingerprint_does_not_depend_on_the_order_of_options(items: Any) -> None:
    assert WebSettings.model_validate(dict(items)).fingerprint() == WebSettings().fingerprint()


@given(
    st.integers(min_value=0, max_value=100_000),
    st.integers(max_value=-1) | st.integers(min_value=100_001),
)
def test_day_options_take_whole_numbers_from_zero_to_what_dates_can_bear(
    good: int, bad: int
) -> None:
    assert PackageSettings(upsert_lookback_days=good).upsert_lookback_days == good
    with pytest.raises(
        ValidationError, match=r"upsert_lookback_days\n.*should be (greater|less) than"
    ):
        PackageSettings(upsert_lookback_days=bad)
