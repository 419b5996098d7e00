"""Of the copies of an event one is taken in: always the same one, whatever order they come in."""

from __future__ import annotations

import pytest
from pyspark.sql import DataFrame, SparkSession

from literal_rows import literal_rows
from windrow.engine.intake.copies import first_copies

COLUMNS = (
    "session string, event_id string, at string, etl_tstamp string, page string, "
    "more map<string, int>"
)
COPIES = [
    ("s1", "e1", "10:00", "11:00", "b", {"n": 1}),
    ("s1", "e1", "10:00", "11:00", "a", {"n": 2}),
    ("s1", "e1", "10:00", "11:01", "0", {"n": 3}),
    ("s1", "e1", "10:01", "10:02", "0", {"n": 4}),
    ("s1", "e2", "10:00", "11:00", "x", {"n": 5}),
    ("s1", "e2", "10:00", "11:00", "x", {"n": 5}),
    ("s2", "e1", "09:00", "11:00", "c", {"n": 6}),
]


def found(events: DataFrame) -> list[tuple[str, str, str]]:
    rows = first_copies(events, ["session"], "at").collect()
    return sorted((row["session"], row["event_id"], row["page"]) for row in rows)


@pytest.mark.parametrize("copies", [COPIES, COPIES[::-1]], ids=["as given", "reversed"])
def test_the_first_copy_is_taken_by_time_then_enrichment_then_its_columns(
    spark: SparkSession, copies: list[tuple[object, ...]]
):
    events = literal_rows(spark, copies, COLUMNS)
    assert found(events) == [("s1", "e1", "a"), ("s1", "e2", "x"), ("s2", "e1", "c")]
