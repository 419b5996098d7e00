"""consent_users: counts and last answers, however the events were cut into runs."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from windrow.packages.web.consent_log import COLUMNS as LOG
from windrow.packages.web.consent_users import COLUMNS
from windrow.packages.web.consent_users import consent_users as model
from windrow.packages.web.consent_versions import COLUMNS as VERSIONS
from windrow.packages.web.settings import WebSettings
from windrow.tables.frames import frame_of

OURS, REFERENCE = WebSettings(), WebSettings(compat=True)
COUNTS = ("domain_userid", "cmp_events", "consent_events")


def consent_users(
    touched: DataFrame,
    settings: WebSettings,
    log: DataFrame,
    versions: DataFrame,
    known: DataFrame,
) -> DataFrame:
    """Of a log that the model gets whole in both ways."""
    return model(touched, settings, log, versions, known, log)


def banner(event_id: str, user: str | None, time: str, **values: Any) -> dict[str, Any]:
    times = {"derived_tstamp": f"2024-01-{time}", "load_tstamp": f"2024-01-{time}"}
    event = {"event_id": event_id, "event_name": "cmp_visible", "domain_userid": user}
    return event | times | values


def answer(event_id: str, user: str | None, time: str, type_: str, **values: Any) -> dict[str, Any]:
    given = {"event_name": "consent_preferences", "event_type": type_, "consent_version": "1"}
    return banner(event_id, user, time) | given | values


def a_log(spark: SparkSession, *rows: dict[str, Any]) -> DataFrame:
    return frame_of(spark, [[row.get(name) for name in LOG] for row in rows], LOG)


def latest_is(spark: SparkSession, latest: str) -> DataFrame:
    rows = [[v, None, None, None, None, v == latest, None] for v in ("1", "2")]
    return frame_of(spark, rows, VERSIONS)


def the_users(spark: SparkSession, *users: str) -> DataFrame:
    return frame_of(spark, [[user] for user in users], {"domain_userid": "string"})


def none_yet(spark: SparkSession) -> DataFrame:
    return frame_of(spark, [], COLUMNS)


def after(known: DataFrame, rows: DataFrame) -> DataFrame:
    """The stored table after a run's rows."""
    kept = known.join(rows, "domain_userid", how="left_anti")
    return kept.unionByName(rows).localCheckpoint()


def shown(users: DataFrame, *names: str) -> list[tuple[Any, ...]]:
    texts = users.select(*(F.col(name).cast("string") for name in names))
    return sorted((tuple(row) for row in texts.collect()), key=repr)


def test_columns_are_those_declared(spark: SparkSession) -> None:
    for settings in (OURS, REFERENCE):
        users = consent_users(
            the_users(spark), settings, a_log(spark), latest_is(spark, "1"), none_yet(spark)
        )
        assert dict(users.dtypes) == COLUMNS


def test_a_user_is_counted_and_has_the_last_answer(spark: SparkSession) -> None:
    terms = {"consent_scopes": "necessary", "consent_url": "url", "domains_applied": "a, b"}
    log = a_log(
        spark,
        banner("e1", "u", "01 10:00", user_id="anna", geo_country="GR"),
        answer("e2", "u", "01 10:01", "allow_all", user_id="anna", geo_country="GR"),
        answer("e3", "u", "01 10:05", "deny_all", user_id="anna", geo_country="GR", **terms),
    )
    for settings in (OURS, REFERENCE):
        users = consent_users(
            the_users(spark, "u"), settings, log, latest_is(spark, "1"), none_yet(spark)
        )
        assert shown(users, *COLUMNS) == [
            (
                *("u", "anna", "GR", "1", "2", "2024-01-01 10:00:00", "2024-01-01 10:05:00"),
                *("deny_all", "necessary", "1", "url", "a, b", "2024-01-01 10:05:00", "true"),
            )
        ]


def test_of_two_answers_at_the_same_time_the_greater_id_counts(spark: SparkSession) -> None:
    tied = [answer("e2", "u", "01", "deny_all"), answer("e1", "u", "01", "allow_all")]
    for rows, settings in itertools.product((tied, tied[::-1]), (OURS, REFERENCE)):
        users = consent_users(
            the_users(spark, "u"),
            settings,
            a_log(spark, *rows),
            latest_is(spark, "1"),
            none_yet(spark),
        )
        assert shown(users, "last_consent_event_type") == [("deny_all",)]


EVENTS = [
    banner("e1", "u", "01", user_id="anna", geo_country="GR"),
    answer("e2", "u", "02", "allow_all", user_id="anna", geo_country="GR"),
    banner("e3", "u", "03", geo_country="DE"),
    banner("e4", "v", "03"),
    answer("e5", "v", "04", "pending", consent_version="2"),
]


@pytest.mark.parametrize("cut", range(len(EVENTS) + 1))
def test_any_cut_into_runs_gives_the_same_users(spark: SparkSession, cut: int) -> None:
    known, log = none_yet(spark), a_log(spark)
    for run in (EVENTS[:cut], EVENTS[cut:]):
        log = log.unionByName(a_log(spark, *run)).localCheckpoint()
        touched = the_users(spark, *{event["domain_userid"] for event in run})
        known = after(known, consent_users(touched, OURS, log, latest_is(spark, "2"), known))
    names = (*COUNTS, "geo_country", "last_cmp_event_tstamp", "last_consent_event_type")
    assert shown(known, *names, "is_latest_version") == [
        ("u", "2", "1", "DE", "2024-01-03 00:00:00", "allow_all", "false"),
        ("v", "1", "1", None, "2024-01-03 00:00:00", "pending", "true"),
    ]


def test_the_same_events_again_change_nothing(spark: SparkSession) -> None:
    log, touched, versions = (
        a_log(spark, *EVENTS),
        the_users(spark, "u", "v"),
        latest_is(spark, "2"),
    )
    once = after(none_yet(spark), consent_users(touched, OURS, log, versions, none_yet(spark)))
    twice = after(once, consent_users(touched, OURS, log, versions, once))
    assert shown(twice, *COLUMNS) == shown(once, *COLUMNS)


def test_events_loaded_late_count(spark: SparkSession) -> None:
    first = a_log(spark, banner("e1", "u", "05"))
    log = first.unionByName(a_log(spark, banner("e2", "u", "06", load_tstamp="2024-01-05")))
    touched, versions = the_users(spark, "u"), latest_is(spark, "1")
    counts = {}
    for settings in (OURS, REFERENCE):
        known = consent_users(touched, settings, first, versions, none_yet(spark)).localCheckpoint()
        counts[settings.compat] = shown(
            consent_users(touched, settings, log, versions, known), *COUNTS
        )
    assert counts == {False: [("u", "2", "0")], True: [("u", "1", "0")]}


def test_a_run_without_answers_keeps_the_last_one(spark: SparkSession) -> None:
    first = a_log(spark, answer("e1", "u", "01", "allow_all"))
    log = first.unionByName(a_log(spark, banner("e2", "u", "02")))
    touched, versions = the_users(spark, "u"), latest_is(spark, "1")
    last = {}
    for settings in (OURS, REFERENCE):
        known = consent_users(touched, settings, first, versions, none_yet(spark)).localCheckpoint()
        users = consent_users(touched, settings, log, versions, known)
        last[settings.compat] = shown(
            users, *COUNTS, "last_consent_event_type", "is_latest_version"
        )
    # The reference adds up the counts but forgets the answer.
    assert last == {
        False: [("u", "1", "1", "allow_all", "true")],
        True: [("u", "1", "1", None, "false")],
    }


def test_events_under_another_user_id_or_country_count(spark: SparkSession) -> None:
    log = a_log(
        spark,
        banner("e1", "u", "01", user_id="anna", geo_country="GR"),
        banner("e2", "u", "02", user_id="anna", geo_country="DE"),
    )
    counts = {}
    for settings in (OURS, REFERENCE):
        users = consent_users(
            the_users(spark, "u"), settings, log, latest_is(spark, "1"), none_yet(spark)
        )
        counts[settings.compat] = shown(users, *COUNTS, "geo_country")
    assert counts == {False: [("u", "2", "0", "DE")], True: [("u", "1", "0", "DE")]}


def test_events_without_a_user_make_no_row(spark: SparkSession) -> None:
    log = a_log(spark, banner("e1", None, "01"))
    users = {
        settings.compat: shown(
            consent_users(the_users(spark), settings, log, latest_is(spark, "1"), none_yet(spark)),
            *COUNTS,
        )
        for settings in (OURS, REFERENCE)
    }
    assert users == {False: [], True: [(None, "1", "0")]}


def test_a_new_version_makes_the_flag_of_other_users_stale(spark: SparkSession) -> None:
    log = a_log(
        spark,
        answer("e1", "u", "01", "allow_all"),
        answer("e2", "v", "01", "pending", consent_version="2"),
        banner("e3", "w", "01"),
    )
    everyone, nobody = the_users(spark, "u", "v", "w"), the_users(spark)
    known = consent_users(everyone, OURS, log, latest_is(spark, "1"), none_yet(spark))
    known = known.localCheckpoint()
    flags = ("domain_userid", "is_latest_version")
    assert shown(known, *flags) == [("u", "true"), ("v", "false"), ("w", "false")]

    changed = consent_users(nobody, OURS, log, latest_is(spark, "2"), known)
    assert shown(changed, *flags) == [("u", "false"), ("v", "true")]
    unchanged = consent_users(nobody, REFERENCE, log, latest_is(spark, "2"), known)
    assert shown(unchanged, *flags) == []


def test_a_user_whose_events_went_to_another_is_not_brought(spark: SparkSession) -> None:
    versions = latest_is(spark, "1")
    before = a_log(spark, banner("e1", "old", "01"))
    known = consent_users(the_users(spark, "old"), OURS, before, versions, none_yet(spark))
    moved = a_log(spark, banner("e1", "new", "01"))
    users = consent_users(
        the_users(spark, "old", "new"), OURS, moved, versions, known.localCheckpoint()
    )
    assert shown(users, *COUNTS) == [("new", "1", "0")]


def test_the_reference_brings_touched_users_without_new_events_as_they_are(
    spark: SparkSession,
) -> None:
    log, versions = a_log(spark, banner("e1", "u", "01")), latest_is(spark, "1")
    touched = the_users(spark, "u", "someone")
    known = consent_users(touched, REFERENCE, log, versions, none_yet(spark)).localCheckpoint()
    again = consent_users(touched, REFERENCE, log, versions, known)
    assert shown(again, *COLUMNS) == shown(known, *COLUMNS)
