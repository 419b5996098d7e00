"""consent_cmp_stats: the first answer to each banner."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from windrow.packages.web.consent_cmp_stats import COLUMNS, consent_cmp_stats
from windrow.packages.web.consent_log import COLUMNS as LOG
from windrow.packages.web.settings import WebSettings
from windrow.tables.frames import frame_of

OURS, REFERENCE = WebSettings(), WebSettings(compat=True)


def banner(event_id: str, time: str, user: str | None = "u", session: str = "s") -> dict[str, Any]:
    return {
        "event_id": event_id,
        "event_name": "cmp_visible",
        "domain_userid": user,
        "domain_sessionid": session,
        "derived_tstamp": f"2024-01-01 {time}",
    }


def answer(
    event_id: str, time: str, type_: str, user: str | None = "u", session: str = "s"
) -> dict[str, Any]:
    given = {"event_name": "consent_preferences", "event_type": type_}
    return banner(event_id, time, user, session) | given


def stats(spark: SparkSession, *rows: dict[str, Any], settings: WebSettings = OURS) -> DataFrame:
    log = frame_of(spark, [[row.get(name) for name in LOG] for row in rows], LOG)
    return consent_cmp_stats(settings, log, log, log, log, log, None)


def answers(table: DataFrame) -> list[tuple[Any, ...]]:
    """Banner, type of the answer and seconds until it."""
    names = ("event_id", "first_consent_event_type", "cmp_interaction_time")
    return sorted(tuple(row) for row in table.select(*names).collect())


@pytest.mark.parametrize("settings", [OURS, REFERENCE], ids=["ours", "reference"])
def test_each_banner_gets_the_next_answer_however_late(
    spark: SparkSession, settings: WebSettings
) -> None:
    table = stats(
        spark,
        banner("b1", "10:00:00") | {"cmp_load_time": 1.5, "page_view_id": "p"},
        answer("a1", "10:00:02.7", "allow_all"),
        answer("a2", "10:00:09", "deny_all"),
        banner("b2", "11:00:00"),
        banner("b3", "12:00:00"),
        answer("a3", "12:30:00", "allow_selected"),
        banner("b4", "13:00:00"),
        answer("a4", "", "allow_all") | {"derived_tstamp": "2024-03-01 13:00:00"},
        settings=settings,
    )
    assert dict(table.dtypes) == COLUMNS
    assert answers(table) == [
        ("b1", "allow_all", 2),
        ("b2", None, None),
        ("b3", "allow_selected", 1800),
        ("b4", "allow_all", 60 * 24 * 3600),
    ]
    first = table.where("event_id = 'b1'")
    assert first.select("page_view_id", "cmp_load_time").collect() == [("p", 1.5)]
    times = first.select(F.col("cmp_tstamp").cast("string"))
    assert times.collect() == [("2024-01-01 10:00:00",)]


def test_a_pending_answer_is_none(spark: SparkSession) -> None:
    table = stats(
        spark,
        banner("b1", "10:00:00"),
        answer("a1", "10:00:01", "pending"),
        answer("a2", "10:00:05", "expired"),
    )
    assert answers(table) == [("b1", "expired", 5)]


def test_an_answer_before_the_first_banner_belongs_to_none(spark: SparkSession) -> None:
    table = stats(spark, answer("a1", "09:00:00", "withdrawn"), banner("b1", "10:00:00"))
    assert answers(table) == [("b1", None, None)]


def test_an_answer_at_the_time_of_the_banner_comes_after_it(spark: SparkSession) -> None:
    table = stats(spark, answer("a1", "10:00:00", "allow_all"), banner("b1", "10:00:00"))
    assert answers(table) == [("b1", "allow_all", 0)]


def test_of_two_answers_at_the_same_time_the_lesser_id_counts(spark: SparkSession) -> None:
    tied = [answer("a2", "10:00:01", "deny_all"), answer("a1", "10:00:01", "allow_all")]
    for rows, settings in product((tied, tied[::-1]), (OURS, REFERENCE)):
        table = stats(spark, banner("b1", "10:00:00"), *rows, settings=settings)
        assert answers(table) == [("b1", "allow_all", 1)]


def test_visitors_without_a_cookie_do_not_answer_each_others_banners(spark: SparkSession) -> None:
    rows = [
        banner("b1", "10:00:00", None, "s1"),
        answer("a2", "10:00:01", "deny_all", None, "s2"),
        answer("a1", "10:00:02", "allow_all", None, "s1"),
    ]
    assert answers(stats(spark, *rows)) == [("b1", "allow_all", 2)]
    assert answers(stats(spark, *rows, settings=REFERENCE)) == [("b1", "deny_all", 1)]
