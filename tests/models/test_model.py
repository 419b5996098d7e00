"""What a model knows about itself, and how models are put in order."""

from dataclasses import replace

import pytest

from windrow import ConfigError, model, stored
from windrow.models.graph import in_order
from windrow.models.model import Stored
from windrow.packages.web import WEB
from windrow.packages.web.settings import WebSettings

TRACKED = {
    f"snowplow_web_{name}"
    for name in [
        "page_views",
        "page_views_this_run",
        "pv_engaged_time",
        "pv_scroll_depth",
        "sessions",
        "sessions_this_run",
        "user_mapping",
        "users",
        "users_this_run",
        "users_aggs",
        "users_lasts",
        "users_sessions_this_run",
    ]
}


@model(key="id")
def first(events):
    """The first."""
    return f"called with {events}"


def test_a_declared_function_can_still_be_called():
    assert first("x") == "called with x"


def test_parameters_name_the_inputs():
    @model(key="id")
    def later(first, settings, users=stored("users")):
        return first

    assert later.inputs == {"first": "first", "settings": "settings", "users": Stored("users")}
    assert later.parents == {"first", "users"}


def test_the_docstring_says_what_a_row_is():
    @model(key="id")
    def daily(events):
        """One row per day and
        page: how often it was seen.
        """

    assert daily.grain == "one row per day and page"
    assert first.grain == ""


def test_an_incremental_model_needs_a_key():
    with pytest.raises(ConfigError, match="needs a key"):
        model()(lambda events: events)


def test_the_manifest_tracks_the_twelve_names_of_the_reference():
    models = WEB.enabled_models(WebSettings())
    assert {name for member in models for name in member.tracked_names} == TRACKED


def test_an_unknown_input_is_an_error_with_a_hint():
    @model(key="id")
    def lost(evnts):
        return evnts

    with pytest.raises(
        ConfigError, match=r"reads 'evnts', which nothing provides\. Did you mean 'events'"
    ):
        in_order([lost])


def test_models_that_read_one_another_are_an_error():
    @model(key="id")
    def a(b):
        return b

    @model(key="id")
    def b(a):
        return a

    with pytest.raises(ConfigError, match="in a circle"):
        in_order([a, b])


def test_two_models_of_one_name_are_an_error():
    with pytest.raises(ConfigError, match="Two models are called 'first'"):
        in_order([first, first])


def test_a_disabled_model_is_gone():
    models = WEB.enabled_models(WebSettings(disabled_models=("snowplow_web_users",)))
    assert [member.name for member in models] == ["page_views", "user_mapping", "sessions"]


def test_a_model_may_read_what_it_stored_itself():
    @model(key="id")
    def growing(events, known=stored("growing")):
        return known

    assert [member.name for member in in_order([growing])] == ["growing"]


def test_rows_of_this_run_are_found_by_either_name():
    @model(kind="this_run")
    def plays_this_run(events): ...

    @model(key="id")
    def by_plain_name(plays): ...

    @model(key="id")
    def by_full_name(snowplow_media_plays_this_run): ...

    declared = replace(plays_this_run, prefix="snowplow_media_")
    ordered = in_order([by_plain_name, by_full_name, declared])
    assert [member.parents for member in ordered[1:]] == [{"plays_this_run"}] * 2
