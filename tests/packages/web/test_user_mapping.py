"""user_mapping: the latest known id of a cookie wins, also over runs."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import SparkSession

from windrow.packages.web.settings import WebSettings
from windrow.packages.web.user_mapping import COLUMNS, user_mapping
from windrow.tables.frames import frame_of

EVENT = {
    **dict.fromkeys(("event_id", "domain_userid", "user_id"), "string"),
    "collector_tstamp": "timestamp",
}
EVENTS = [
    ("e1", "several ids", "anna", "2024-01-02 10:00"),
    ("e2", "several ids", "berta", "2024-01-02 11:00"),
    ("e3", "tied", "anna", "2024-01-02 10:00"),
    ("e4", "tied", "berta", "2024-01-02 10:00"),
    ("e5", "late", "anna", "2024-01-02 10:00"),
    ("e6", "same time", "berta", "2024-01-02 10:00"),
    ("e7", "anonymous", None, "2024-01-02 10:00"),
    ("e8", None, "anna", "2024-01-02 10:00"),
]
KNOWN = [("late", "clara", "2024-01-03 10:00"), ("same time", "anna", "2024-01-02 10:00")]
EXPECTED = {"several ids": "berta", "tied": "berta", "same time": "berta"}


@pytest.mark.parametrize(
    ("compat", "expected"), [(False, EXPECTED), (True, EXPECTED | {"late": "anna"})]
)
def test_the_latest_id_wins(spark: SparkSession, compat: bool, expected: dict[str, Any]):
    rows = user_mapping(
        frame_of(spark, EVENTS, EVENT),
        WebSettings(compat=compat),
        frame_of(spark, KNOWN, COLUMNS),
    )
    assert {row["domain_userid"]: row["user_id"] for row in rows.collect()} == expected
