"""The same events are read alike whatever they are stored in."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from literal_rows import literal_rows
from windrow.atomic.entity_columns import WEB_PAGE
from windrow.atomic.source import open_source
from windrow.config import EventsSource
from windrow.tables.iceberg import hadoop_catalog

FIRST, LAST = datetime(2024, 1, 1, tzinfo=UTC), datetime(2024, 1, 2, tzinfo=UTC)
COLUMNS = {
    **{"event_id": "string", "collector_tstamp": "timestamp", "derived_tstamp": "timestamp"},
    **{"page_urlpath": "string", "doc_height": "int", "br_cookies": "boolean"},
    WEB_PAGE.name: "string",
}
PAGE = '[{"id": "p1"}]'
EVENTS = [
    ("e0", "2023-12-31 23:59:59.999999", "2024-01-01 10:00:00.000000", None, 1, True, PAGE),
    ("e1", "2024-01-01 00:00:00.000000", None, '/a,"b"\\é', 1200, True, PAGE),
    ("e2", "2024-01-01 10:00:00.123456", "2024-01-01 09:59:59.000001", None, None, False, None),
]
READ = [
    ("e1", "2024-01-01 00:00:00.000000", None, '/a,"b"\\é', 1200, True, "p1"),
    ("e2", "2024-01-01 10:00:00.123456", "2024-01-01 09:59:59.000001", None, None, False, None),
]


def as_json(_: SparkSession, lake: Path) -> EventsSource:
    """A line for each event, without what is not known."""
    lines = ({k: v for k, v in it.items() if v is not None} for it in named_events())
    (lake / "events.json").write_text("\n".join(json.dumps(it) for it in lines))
    return EventsSource(path=str(lake), format="json")


def as_csv(_: SparkSession, lake: Path) -> EventsSource:
    with (lake / "events.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, [*COLUMNS])
        writer.writeheader()
        writer.writerows(named_events())
    return EventsSource(path=str(lake), format="csv")


def as_parquet(spark: SparkSession, lake: Path) -> EventsSource:
    typed_events(spark).write.parquet(f"{lake}/events")
    return EventsSource(path=f"{lake}/events")


def as_delta(spark: SparkSession, lake: Path) -> EventsSource:
    typed_events(spark).write.format("delta").save(f"{lake}/events")
    return EventsSource(path=f"{lake}/events", format="delta")


def as_iceberg(spark: SparkSession, lake: Path) -> EventsSource:
    as_table_of_a_catalog(spark, lake)
    return EventsSource(path=f"{lake}/atomic/events", format="iceberg")


def as_table_of_a_catalog(spark: SparkSession, lake: Path) -> EventsSource:
    table = f"{hadoop_catalog(spark, str(lake))}.atomic.events"
    typed_events(spark).writeTo(table).using("iceberg").create()
    return EventsSource(table=table)


def as_table(spark: SparkSession, _: Path) -> EventsSource:
    typed_events(spark).write.saveAsTable("stored_events")
    return EventsSource(table="stored_events")


def named_events() -> list[dict[str, Any]]:
    return [dict(zip(COLUMNS, event, strict=True)) for event in EVENTS]


def typed_events(spark: SparkSession) -> DataFrame:
    given = {n: "string" if kind == "timestamp" else kind for n, kind in COLUMNS.items()}
    rows = literal_rows(spark, EVENTS, ", ".join(f"{n} {kind}" for n, kind in given.items()))
    return rows.coalesce(1).select(*(F.col(n).cast(kind) for n, kind in COLUMNS.items()))


@pytest.fixture(
    params=[
        *(as_parquet, as_json, as_csv, as_delta, as_table, as_table_of_a_catalog),
        pytest.param(as_iceberg, marks=pytest.mark.ci),
    ],
    ids=lambda store: store.__name__,
)
def events(
    request: pytest.FixtureRequest, spark: SparkSession, tmp_path: Path
) -> Iterator[EventsSource]:
    store: Callable[[SparkSession, Path], EventsSource] = request.param
    yield store(spark, tmp_path)
    spark.sql("drop table if exists stored_events")


def test_events_are_read_alike_whatever_they_are_stored_in(
    spark: SparkSession, events: EventsSource
) -> None:
    source = open_source(spark, events, time_column="collector_tstamp")
    found = source.between(FIRST, LAST, [*COLUMNS])
    assert dict(found.dtypes) == {**COLUMNS, WEB_PAGE.name: WEB_PAGE.type}

    times = [name for name, kind in COLUMNS.items() if kind == "timestamp"]
    as_text = {name: F.date_format(name, "yyyy-MM-dd HH:mm:ss.SSSSSS") for name in times}
    page_id = F.get(F.col(WEB_PAGE.name), F.lit(0)).getField("id")
    rows = found.withColumns({**as_text, WEB_PAGE.name: page_id}).collect()
    assert sorted(tuple(row) for row in rows) == READ


def test_options_are_handed_to_the_reader(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "events.csv").write_text("event_id;collector_tstamp\ne1;2024-01-01 10:00:00\n")
    place = EventsSource(path=str(tmp_path), format="csv", options={"sep": ";"})
    source = open_source(spark, place, time_column="collector_tstamp")
    assert source.between(FIRST, LAST, ["event_id"]).collect() == [("e1",)]
