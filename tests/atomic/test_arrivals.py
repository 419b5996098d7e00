"""What was added to the events since a version: appends are, rewrites are not."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from event_tables import TableSite
from website import Site, at, event, event_frame
from windrow.atomic.arrivals import Arrived, History, history_of
from windrow.atomic.source import open_source
from windrow.config import EventsSource
from windrow.errors import SourceError

pytestmark = pytest.mark.ci

BEFORE = at("2024-01-09 00:00")


def history(site: TableSite) -> History:
    events = EventsSource.model_validate(
        {"path": str(site.place), "format": site.format, "new_by": "commit"}
    )
    source = open_source(site.spark, events, time_column="collector_tstamp")
    found = history_of(site.spark, events, source)
    assert found is not None
    return found


def since(site: TableSite, version: str) -> Arrived:
    now = history(site)
    until = now.version()
    assert until is not None
    return now.since(version, until=until, before=BEFORE)


def ids(arrived: Arrived) -> list[str]:
    if arrived.rows is None:
        return []
    return sorted(row[0] for row in arrived.rows.select("event_id").collect())


def version(site: TableSite) -> str:
    found = history(site).version()
    assert found is not None
    return found


@pytest.fixture
def site(spark: SparkSession, tmp_path: Path, format: str) -> TableSite:
    made = TableSite(spark, tmp_path, format=format)
    made.arrive(event("e1", "s1", "2024-01-02 10:00"))
    return made


def test_appended_events_have_arrived_and_rewritten_ones_have_not(site: TableSite):
    first = version(site)
    assert since(site, first) == Arrived()
    site.arrive(event("e2", "s1", "2024-01-02 11:00"))
    second = version(site)
    assert ids(since(site, first)) == ["e2"]
    assert since(site, first).notice is None

    # Files become others, and rows stay.
    site.compact()
    assert since(site, second) == Arrived()
    assert ids(since(site, first)) == ["e2"]

    # What is left of a file from which rows went is not new; what was appended is, all the same.
    site.spark.sql(f"delete from {site.name} where event_id = 'e1'").collect()
    site.arrive(event("e3", "s1", "2024-01-02 12:00"))
    arrived = since(site, second)
    assert ids(arrived) == ["e3"]
    assert "rewritten since the last run" in (arrived.notice or "")

    site.lose_history()
    arrived = since(site, first)
    assert ids(arrived) == []
    assert "no more" in (arrived.notice or "") or "no longer" in (arrived.notice or "")
    assert "windrow rerun" in (arrived.notice or "")
    assert since(site, version(site)) == Arrived()


def test_a_change_feed_tells_what_a_merge_inserted(spark: SparkSession, tmp_path: Path):
    site = TableSite(spark, tmp_path)
    site.arrive(event("e1", "s1", "2024-01-02 10:00"))
    feed = "'delta.enableChangeDataFeed' = 'true'"
    spark.sql(f"alter table {site.name} set tblproperties ({feed})")
    first = version(site)
    both = [event("e1", "s1", "2024-01-02 10:00"), event("e2", "s1", "2024-01-02 11:00")]
    spark.sql(
        f"merge into {site.name} t using {{loaded}} s on t.event_id = s.event_id "
        "when matched then update set * when not matched then insert *",
        loaded=event_frame(spark, both),
    )
    arrived = since(site, first)
    assert (ids(arrived), arrived.notice) == (["e2"], None)

    # All rows are written anew, and none of them is new.
    second = version(site)
    frame = event_frame(spark, both)
    frame.write.format("delta").mode("overwrite").save(str(site.place))
    arrived = since(site, second)
    assert ids(arrived) == []
    assert "(WRITE)" in (arrived.notice or "")


def test_files_that_hold_nothing_late_are_not_opened(spark: SparkSession, tmp_path: Path):
    site = TableSite(spark, tmp_path)
    site.arrive(event("e1", "s1", "2024-01-02 10:00"))
    first = version(site)
    site.arrive(event("e2", "s1", "2024-01-09 10:00"))
    assert since(site, first).rows is None


@pytest.mark.ci
def test_of_more_new_files_than_the_driver_takes_none_is_read(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("windrow.atomic.arrivals.delta._MOST_FILES", 2)
    site = TableSite(spark, tmp_path)
    site.arrive(event("e1", "s1", "2024-01-02 10:00"))
    first = version(site)
    for number in (2, 3):
        site.arrive(event(f"e{number}", "s1", "2024-01-02 11:00"))
    assert ids(since(site, first)) == ["e2", "e3"]
    # A file that holds nothing late is not one of them.
    site.arrive(event("e4", "s1", "2024-01-09 10:00"))
    assert ids(since(site, first)) == ["e2", "e3"]
    site.arrive(event("e5", "s1", "2024-01-02 12:00"))
    arrived = since(site, first)
    assert ids(arrived) == []
    assert "has got 3 files that may hold late events" in (arrived.notice or "")
    assert "windrow rerun" in (arrived.notice or "")


def test_another_table_at_the_same_place_has_another_history(spark: SparkSession, tmp_path: Path):
    site = TableSite(spark, tmp_path)
    site.arrive(event("e1", "s1", "2024-01-02 10:00"))
    arrived = since(site, "delta:00000000-0000-0000-0000-000000000000:0")
    assert arrived.rows is None
    assert "another Delta table" in (arrived.notice or "")


@pytest.fixture
def plain(spark: SparkSession) -> Iterator[str]:
    """A catalog's table that is neither of Delta nor of Iceberg."""
    spark.range(1).selectExpr("current_timestamp() as collector_tstamp").write.saveAsTable("plain")
    yield "plain"
    spark.sql("drop table plain")


def test_tables_that_remember_nothing_are_refused(spark: SparkSession, plain: str):
    events = EventsSource(table=plain, new_by="commit")
    source = open_source(spark, events, time_column="collector_tstamp")
    with pytest.raises(SourceError, match="are parquet: only tables of Delta and Iceberg"):
        history_of(spark, events, source)
    with pytest.raises(ValueError, match="takes a Delta or Iceberg table, and `format` is parquet"):
        EventsSource(path="events", new_by="commit")


def by_load(spark: SparkSession, folder: Path) -> History:
    events = EventsSource(path=str(folder), new_by="load")
    source = open_source(spark, events, time_column="collector_tstamp")
    found = history_of(spark, events, source)
    assert found is not None
    return found


def test_events_of_a_folder_have_arrived_by_their_load_time(spark: SparkSession, tmp_path: Path):
    site = Site(spark, tmp_path)
    site.arrive_by_day(event("e1", "s1", "2024-01-02 10:00"))
    first = by_load(spark, tmp_path / "events").version()
    assert first == "loaded:2024-01-02T10:00:00+00:00"
    late = event("e2", "s1", "2024-01-02 10:00", load_tstamp=at("2024-01-05 09:00"))
    site.arrive_by_day(late)
    loads = by_load(spark, tmp_path / "events")
    until = loads.version(first)
    assert until == "loaded:2024-01-05T09:00:00+00:00"
    # What was stamped shortly before the last look may have come after it.
    assert ids(loads.since(first, until=until, before=BEFORE)) == ["e1", "e2"]
    site.arrive_by_day(event("e3", "s1", "2024-01-02 11:00", load_tstamp=at("2024-01-06 09:00")))
    newest = by_load(spark, tmp_path / "events")
    third = newest.version(until)
    assert third is not None
    assert ids(newest.since(until, until=third, before=BEFORE)) == ["e2", "e3"]
    assert newest.since(third, until=third, before=BEFORE) == Arrived()
    assert "another" in (newest.since("files:x", until=third, before=BEFORE).notice or "")


def test_events_without_a_load_time_have_arrived_with_their_files(
    spark: SparkSession, tmp_path: Path
):
    place = tmp_path / "events"
    for name, age in (("e1", 7200), ("e2", 60)):
        rows = event_frame(spark, [event(name, "s1", "2024-01-02 10:00")]).drop("load_tstamp")
        rows.coalesce(1).write.mode("append").parquet(str(place))
        written = [it for it in place.glob("*.parquet") if time.time() - it.stat().st_mtime < 60]
        for file in written:
            os.utime(file, (time.time() - age,) * 2)
    files = by_load(spark, place)
    now = files.version()
    assert now is not None
    assert ids(files.since(now, until=now, before=BEFORE)) == ["e2"]
