"""How a project's own models are kept right, decided from their declarations alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from pyspark.sql import DataFrame

from windrow.models.foundation import Foundation
from windrow.models.graph import in_order, with_helpers
from windrow.models.model import Model, Storage, Stored, model, stored
from windrow.models.own_models import with_kept_rows

WEB = Foundation()
SESSION = "domain_sessionid"


@model(key="page_view_id", replaces=SESSION)
def page_views(events: DataFrame) -> DataFrame:
    return events


@model(key="domain_userid", replaces="domain_userid")
def users(users_touched: DataFrame) -> DataFrame:
    return users_touched


def of_events(events):
    return events


def of_page_views(page_views):
    return page_views


def of_sessions(sessions_this_run):
    return sessions_this_run


def of_users(users):
    return users


def of_touched_users(users_touched):
    return users_touched


def of_two(events, users):
    return events


def of_stored(views=stored("page_views")):
    return views


def looking_up(page_views, known=stored("users")):
    return page_views


def by_hand(page_views, views=stored("page_views")):
    return page_views


def of_itself(page_views, known=stored("own")):
    return page_views


def of_near_rows(views=stored("page_views", near=True)):
    return views


def own(function: Callable[..., Any], key: str | tuple[str, ...], **declared: Any) -> Model:
    """The model as a run sees it."""
    member = replace(model(key=key, name="own", **declared)(function), path="models/own.py")
    return with_kept_rows(in_order([page_views, users, member]), WEB)[-1]


@pytest.mark.parametrize(
    ("function", "key"),
    [
        (of_events, "event_id"),
        (of_events, ("page_url", SESSION)),
        (of_page_views, "page_view_id"),
        (of_page_views, (SESSION, "page_url")),
        (of_sessions, "session_id"),
        (looking_up, "page_view_id"),
    ],
)
def test_rows_of_sessions_follow_their_sessions(function: Callable[..., Any], key: Any):
    member = own(function, key)
    assert (member.replaces, member.follows_sessions) == (SESSION, True)
    assert (member.recomputed_from, member.refusal) == (None, "")


@pytest.mark.parametrize(
    ("function", "key", "source"),
    [
        (of_page_views, "page_url", "page_views"),
        (of_users, "country", "users"),
        (looking_up, "page_url", "page_views"),
        (by_hand, "page_url", "page_views"),
    ],
)
def test_an_aggregate_of_one_stored_model_reads_its_stored_rows(
    function: Callable[..., Any], key: Any, source: str
):
    member = own(function, key)
    assert (member.replaces, member.recomputed_from, member.refusal) == (None, source, "")
    assert Stored(source, touched=True) in member.inputs.values()
    # So it is recorded as no further than that table.
    assert source in member.stored_parents


@pytest.mark.parametrize(
    ("function", "key", "what"),
    [
        (of_events, "page_url", "made from the run's events"),
        (of_events, "page_view_id", "made from the run's events"),
        (of_sessions, "domain_userid", "made from the run's sessions_this_run"),
        (of_touched_users, "domain_userid", "made from the run's users_touched"),
        (of_two, SESSION, "made from the run's rows of events and users together"),
        (of_itself, "page_url", "the run's rows of page_views and its own former rows"),
        (of_near_rows, "page_url", "made from the run's page_views"),
    ],
)
def test_what_can_be_neither_is_refused(function: Callable[..., Any], key: Any, what: str):
    refusal = own(function, key).refusal
    assert what in refusal
    assert "key it by session (domain_sessionid)" in refusal


@pytest.mark.parametrize(
    "declared",
    [
        {"replaces": SESSION},
        {"replaces": "domain_userid"},
        {"date": "day", "storage": Storage(keeps="latest")},
        {"kind": "rebuilt"},
        {"kind": "this_run"},
    ],
)
def test_what_is_declared_stays(declared: dict[str, Any]):
    member = own(of_events, "page_url", **declared)
    assert (member.refusal, member.follows_sessions, member.recomputed_from) == ("", False, None)
    assert member.replaces == declared.get("replaces")


def test_a_model_of_whole_tables_stays():
    member = own(of_stored, "page_url")
    assert (member.refusal, member.replaces, member.recomputed_from) == ("", None, None)


def test_our_own_models_stay():
    assert with_kept_rows([page_views, users], WEB) == [page_views, users]


def helper(kind: str, key: str | tuple[str, ...] = ()) -> Model:
    made = model(kind=kind, key=key, name="helper")(of_events)
    return replace(made, path="models/own.py")


def of_helper(helper):
    return helper


def after(helper: Model, key: str) -> Model:
    member = replace(model(key=key, name="own")(of_helper), path="models/own.py")
    return with_kept_rows(in_order([page_views, helper, member]), WEB)[-1]


def test_what_a_run_only_computes_is_of_sessions_by_its_key():
    assert after(helper("this_run", "event_id"), "event_id").follows_sessions
    assert "helper, which is not stored" in after(helper("this_run"), "event_id").refusal
    assert "helper, which is not stored" in after(helper("this_run", "event_id"), "page").refusal
    assert not after(helper("rebuilt"), "page_url").refusal


def test_a_model_of_ours_that_is_switched_off_is_still_of_sessions():
    member = replace(model(key="page_view_id", name="own")(of_page_views), path="models/own.py")
    models = in_order(with_helpers([member], [page_views], SESSION))
    assert with_kept_rows(models, WEB)[-1].follows_sessions


def test_without_sessions_rows_of_events_are_told_apart_by_their_id():
    member = replace(model(key="event_id", name="own")(of_events), path="models/own.py")
    without = Foundation(has_sessions=False)
    (kept,) = with_kept_rows([member], without)
    assert (kept.replaces, kept.refusal) == (None, "")
    (refused,) = with_kept_rows([replace(member, key=("page_url",))], without)
    assert "made from the run's events" in refused.refusal
    assert "by session" not in refused.refusal


def test_rows_can_be_replaced_by_session_user_or_day_and_by_nothing_else():
    for column in (SESSION, "domain_userid", "seen_at", "seen_at_date"):
        member = model(key="page_view_id", date="seen_at", replaces=column)(of_page_views)
        assert not with_kept_rows([replace(member, path="models/x.py")], WEB)[0].refusal
    member = model(key="page_view_id", replaces="page_url")(of_page_views)
    (refused,) = with_kept_rows([replace(member, path="models/x.py")], WEB)
    assert "replaces rows by 'page_url', of which no run brings every row" in refused.refusal
