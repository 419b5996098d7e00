"""consent_scope_status: users by the scopes they agreed to."""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession

from windrow.packages.web.consent_scope_status import COLUMNS, consent_scope_status
from windrow.tables.frames import frame_of

USER = {"last_consent_scopes": "string", "is_latest_version": "boolean"}


def test_scopes_of_the_latest_version_are_counted(spark: SparkSession) -> None:
    users: list[list[Any]] = [
        ["necessary, statistics", True],
        ["necessary", True],
        ["necessary, marketing", False],
        [None, True],
    ]
    status = consent_scope_status(frame_of(spark, users, USER))
    assert dict(status.dtypes) == COLUMNS
    assert {tuple(row) for row in status.collect()} == {("necessary", 2), ("statistics", 1)}


def test_scopes_that_are_the_text_of_an_array_are_read(spark: SparkSession) -> None:
    users = [['["necessary", "statistics"]', True], ["statistics", True]]
    status = consent_scope_status(frame_of(spark, users, USER))
    assert {tuple(row) for row in status.collect()} == {("necessary", 1), ("statistics", 2)}


def test_a_user_who_names_a_scope_twice_counts_once(spark: SparkSession) -> None:
    status = consent_scope_status(frame_of(spark, [["necessary, necessary", True]], USER))
    assert [tuple(row) for row in status.collect()] == [("necessary", 1)]
