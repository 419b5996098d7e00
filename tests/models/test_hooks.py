"""hooks.py is found, checked and used."""

from pathlib import Path

import pytest

from windrow.errors import ConfigError
from windrow.models.hooks import Hooks, load_hooks
from windrow.packages import HOOKS


def written(folder: Path, text: str) -> Path:
    path = folder / "hooks.py"
    path.write_text(text)
    return path


def test_no_file_means_our_own_answers(tmp_path):
    hooks = load_hooks(tmp_path / "hooks.py", HOOKS)
    assert hooks.cluster_by("t", ["day"]) == ["day"]
    assert hooks.allow_refresh("prod", False) is False


def test_a_hook_wraps_our_answer(tmp_path):
    hooks = load_hooks(
        written(tmp_path, "def cluster_by(table, default):\n    return [*default, table]\n"),
        HOOKS,
    )
    assert hooks.cluster_by("sessions", ["day"]) == ["day", "sessions"]


def test_the_sql_packages_hook_for_one_table_is_taken_for_that_table(tmp_path):
    text = "def mobile_cluster_by_fields_sessions(default):\n    return ['device_user_id']\n"
    hooks = load_hooks(written(tmp_path, text), HOOKS)
    assert hooks.cluster_by("snowplow_mobile_sessions", ["day"]) == ["device_user_id"]
    assert hooks.cluster_by("snowplow_web_sessions", ["day"]) == ["day"]


def test_the_sql_packages_hooks_count_for_their_tables(tmp_path):
    text = """
def web_cluster_by_fields_page_views(default):
    return [*default, "app_id"]

def cluster_by_fields_app_errors(default):
    return []
"""
    hooks = load_hooks(written(tmp_path, text), HOOKS)
    assert hooks.cluster_by("snowplow_web_page_views", ["day"]) == ["day", "app_id"]
    assert hooks.cluster_by("snowplow_web_sessions", ["day"]) == ["day"]
    assert hooks.cluster_by("snowplow_mobile_app_errors", ["day"]) == []


def test_private_functions_and_imports_are_no_hooks(tmp_path):
    text = "from textwrap import dedent\n\ndef _own():\n    return dedent('')\n"
    assert load_hooks(written(tmp_path, text), HOOKS) == Hooks({})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def filter_bot(default): ...", "'filter_bot' is not a hook. Did you mean 'filter_bots'"),
        ("def filter_bots(column): ...", r"takes \(column\), expected \(default\)"),
        ("def web_cluster_by_fields_users(table): ...", r"expected \(default\)"),
        ("def cluster_by(default): ...", r"expected \(table, default\)"),
        ("def web_cluster_by_fields_users(): ...", r"takes \(\), expected \(default\)"),
        ("import nothing_like_it", "cannot be imported: ModuleNotFoundError"),
        ("def broken(:", "cannot be imported: SyntaxError"),
    ],
)
def test_a_wrong_hook_is_an_error_that_says_how(tmp_path, text, message):
    with pytest.raises(ConfigError, match=message):
        load_hooks(written(tmp_path, text), HOOKS)
