"""Events that cannot be right: refused, or left out and counted."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

from website import ONLY_PAGE_VIEWS, Event, Site, at, event, event_frame
from windrow import SourceError
from windrow.atomic.entity_columns import WEB_PAGE

pytestmark = pytest.mark.ci

NOW = "2024-01-03 00:00"


@pytest.fixture
def site(spark: SparkSession, tmp_path: Path) -> Site:
    return Site(spark, tmp_path, **ONLY_PAGE_VIEWS)


def arrive_as_text(site: Site, *events: Event, **texts: str) -> None:
    """The events, every value as text; `texts` replace values of the last one."""
    frame = event_frame(site.spark, events)
    is_last = F.col("event_id") == events[-1]["event_id"]

    def text_of(name: str, kind: str) -> Column:
        as_json = kind.startswith(("array", "struct"))
        text = F.to_json(name) if as_json else F.col(name).cast("string")
        return F.when(is_last, F.lit(texts[name])).otherwise(text) if name in texts else text

    written = frame.select(*(text_of(name, kind).alias(name) for name, kind in frame.dtypes))
    written.write.parquet(str(site.folder / "events"))


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        ("domain_sessionidx", "int"),
        ("derived_tstamp", "timestamp"),
        ("collector_tstamp", "timestamp"),
    ],
)
def test_text_that_is_not_of_its_columns_type_stops_the_run(site: Site, column: str, kind: str):
    events = [event(f"e{n}", f"s{n}", "2024-01-02 10:00", page=f"p{n}") for n in (1, 2)]
    arrive_as_text(site, *events, **{column: "abc"})
    wrong = f"'{column}' is text and has 1 value that is not of type {kind}, such as 'abc'"
    with pytest.raises(SourceError, match=wrong) as error:
        site.run(NOW)
    assert error.value.exit_code == 2
    ws = site.workspace
    assert not ws.tables.exists(ws.table(ws.model("page_views")))
    assert site.rows("lifecycle", "session_id") == []


def test_json_that_cannot_be_read_is_counted_by_entity(site: Site):
    events = [event(f"e{n}", "s1", "2024-01-02 10:00", page=f"p{n}") for n in (1, 2)]
    arrive_as_text(site, *events, domain_sessionidx=" ", **{WEB_PAGE.name: "[{"})
    counts = site.run(NOW).counts or {}
    assert counts["malformed_entities"] == counts[f"malformed_{WEB_PAGE.name}"] == 1
    assert site.rows("page_views", "page_view_id") == [("p1",)]


def test_events_at_absurd_times_are_left_out_and_counted_even_where_there_are_no_others(site: Site):
    times = (None, "1970-01-01 00:00", "2025-01-02 10:00", "9999-12-31 23:59")
    site.arrive(
        *(
            event(
                f"e{number}",
                f"s{number % 2}",
                "2024-01-02 10:00",
                page=f"p{number}",
                derived_tstamp=time and at(time),
            )
            for number, time in enumerate(times)
        )
    )
    first = site.run(NOW)
    assert (first.counts or {})["window_absurd_time"] == 4
    assert first.reached is None

    site.arrive(
        event("e5", "s1", "2024-01-02 20:00", page="p5"),
        event("e6", "s1", "2024-01-02 21:00", page="p6", derived_tstamp=at("2024-01-04 00:00")),
    )
    second = site.run("2024-01-04 00:00")
    assert (second.counts or {})["window_absurd_time"] == 4
    assert site.rows("page_views", "page_view_id", "start_tstamp") == [
        ("p5", "2024-01-02 20:00:00"),
        ("p6", "2024-01-04 00:00:00"),
    ]
    assert site.rows("lifecycle", "session_id", "start_tstamp") == [("s1", "2024-01-02 20:00:00")]
