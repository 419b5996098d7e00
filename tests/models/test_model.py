"""What a model knows about itself, and how models are put in order."""

from dataclasses import replace

import pytest

from windrow import ConfigError, model, stored
from windrow.models.graph import in_order, with_helpers, with_own_sessions
from windrow.models.model import Reads, Storage, Stored
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


@model(kind="this_run")
def later_facts(events): ...


@pytest.mark.parametrize(
    ("declared", "reason"),
    [
        ({"kind": "rebuild"}, "expected one of incremental.*Did you mean 'rebuilt'"),
        (
            {"key": "id", "replaces": "day", "storage": Storage(keeps="latest"), "date": "day"},
            r"no stored row is left to be the latest\. Leave out replaces or keeps",
        ),
        ({"kind": "rebuilt", "replaces": "id"}, r"Leave out replaces, or make it incremental"),
        (
            {"kind": "rebuilt", "storage": Storage(keeps="earliest", amend=later_facts)},
            "Leave out keeps and amend",
        ),
        ({"kind": "this_run", "storage": Storage(is_state=True)}, "has no table"),
        ({"key": "id", "storage": Storage(keeps="earliest")}, "needs a date column for keeps"),
        ({"key": "id", "storage": Storage(amend=later_facts)}, "needs a date column for amend"),
        (
            {"key": "id", "date": "day", "storage": Storage(amend=first)},
            r"amended by 'first', which must be @model\(kind='this_run'\)",
        ),
        (
            {"key": "id", "columns": {"ids": "string"}},
            r"no column 'id', which is its key\. Add it to columns\. Did you mean 'ids'",
        ),
        ({"key": "id", "date": "day", "columns": {"id": "string"}}, "'day', which is its date"),
        (
            {"key": "id", "replaces": "user", "columns": {"id": "string"}},
            "'user', which is its replaces",
        ),
    ],
)
def test_what_cannot_work_is_refused_when_the_model_is_declared(declared, reason):
    with pytest.raises(ConfigError, match=f"Model 'wrong' .*{reason}"):
        model(name="wrong", **declared)(lambda events: events)


def test_names_of_columns_may_differ_in_case():
    assert model(key="ID", columns={"id": "string"})(lambda events: events).key == ("ID",)


def test_the_day_may_stand_for_the_date():
    columns = {"id": "string", "seen_date": "date"}
    assert model(key="id", date="seen", columns=columns)(lambda events: events).date == "seen"


def test_a_single_tag_is_one_tag():
    assert model(key="id", tags="daily")(lambda events: events).tags == ("daily",)


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


def sessions(events): ...


def of_users(sessions_of_users): ...


def after_sessions():
    users = model(name="users", key="id", reads=Reads(after=("sessions",)))(of_users)
    return replace(users, prefix="snowplow_web_")


def test_sessions_of_users_come_after_the_model_that_stores_them():
    ordered = in_order([after_sessions(), model(key="id")(sessions)])
    assert [member.name for member in ordered] == ["sessions", "users"]
    assert ordered[1].stored_parents == {"sessions"}


def test_who_takes_sessions_of_users_must_say_whose_rows_they_are():
    with pytest.raises(ConfigError, match=r"Model 'of_users' takes sessions_of_users.*after="):
        model(key="id")(of_users)


def test_a_model_after_an_unknown_one_is_an_error():
    with pytest.raises(ConfigError, match="'users' reads 'sessions', which nothing provides"):
        in_order([after_sessions()])


def test_users_come_after_the_projects_own_sessions():
    own = model(name="our_sessions", key="id")(sessions)
    ordered = in_order(
        with_own_sessions([after_sessions(), own], "sessions", "derived.our_sessions")
    )
    assert [member.name for member in ordered] == ["our_sessions", "users"]


def test_own_sessions_that_no_model_makes_have_no_place_in_the_order():
    assert (
        in_order(with_own_sessions([after_sessions()], "sessions", "lake.our_sessions"))[0].parents
        == set()
    )


def test_a_disabled_model_whose_rows_are_read_is_computed_and_not_stored():
    @model(key="id", date="day", replaces="day", storage=Storage(steps=("first_aggs",)))
    def disabled(events): ...

    @model(key="id")
    def reader(disabled): ...

    helper = with_helpers([reader], [disabled])[1]
    assert (helper.name, helper.kind, helper.replaces) == ("disabled", "this_run", None)
    assert helper.steps == ()
