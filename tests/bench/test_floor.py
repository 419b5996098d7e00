"""The floor writes rows of our grain, in either format."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from bench.floor import CATALOG, Floor, grain_of
from website import at, event, event_frame

pytestmark = pytest.mark.ci

EVENTS = [
    event("e1", "s1", "2024-01-01 10:00:00", page="p1"),
    event("e2", "s1", "2024-01-01 10:00:10", "page_ping", page="p1", pp_yoffset_max=80),
    event("e3", "s1", "2024-01-01 10:01:00", page="p2"),
    event("e4", "s2", "2024-01-01 12:00:00", page="p3"),
    event("e5", "s3", "2024-01-01 12:00:00", page="p4", useragent="A crawler"),
    event("e6", None, "2024-01-01 13:00:00", page="p5"),
    event("e7", "s4", "2024-01-02 00:00:00", page="p6"),
]


def test_the_floor_has_a_row_per_view_session_and_user_of_its_window(
    spark: SparkSession, format: str, tmp_path: Path
):
    events, folder = str(tmp_path / "events"), tmp_path / "floor_rows"
    event_frame(spark, EVENTS).write.parquet(events)
    floor = Floor(spark, events, grain_of("web"), format)

    floor.run(at("2024-01-01"), at("2024-01-02"), folder)

    def rows(name: str, *columns: str) -> list[tuple[object, ...]]:
        table = stored(spark, format, folder, name)
        return sorted(tuple(row) for row in table.select(*columns).collect())

    assert rows("views", "session_id", "view_id", "event_id", "engaged_time_in_s") == [
        ("s1", "p1", "e1", 5),
        ("s1", "p2", "e3", 0),
        ("s2", "p3", "e4", 0),
    ]
    assert rows("sessions", "session_id", "views", "total_events") == [("s1", 2, 3), ("s2", 1, 1)]
    assert rows("users", "device_id", "sessions", "views") == [("cookie", 2, 3)]


def stored(spark: SparkSession, format: str, folder: Path, name: str) -> DataFrame:
    if format == "delta":
        return spark.read.format("delta").load(str(folder / name))
    return spark.table(f"{CATALOG}.{folder.name}.{name}")
