"""vitals: which events count, and how their measures are rounded and judged."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from windrow.atomic.columns import STANDARD_COLUMNS
from windrow.atomic.entity_columns import IAB, WEB_VITALS, YAUAA
from windrow.models.hooks import Hooks
from windrow.packages.web.settings import WebSettings
from windrow.packages.web.vitals import COLUMNS, vitals
from windrow.tables.frames import frame_of

EVENT = {
    **{name: STANDARD_COLUMNS.get(name, "string") for name in list(COLUMNS)[:16]},
    "dvce_created_tstamp": "timestamp",
    WEB_VITALS.name: WEB_VITALS.type,
    IAB.name: IAB.type,
    YAUAA.name: YAUAA.type,
}


def a_vital(event_id: str, page_view_id: str | None = "p", **values: Any) -> dict[str, Any]:
    """A web vitals event; measures and other event columns by name."""
    measures = {name: values.pop(name) for name in WEB_VITALS.fields if name in values}
    return {
        "event_id": event_id,
        "event_name": "web_vitals",
        "page_view_id": page_view_id,
        "domain_sessionid": "s",
        "derived_tstamp": "2024-01-01 10:00:00",
        "useragent": "Mozilla/5.0",
        WEB_VITALS.name: measures,
    } | values


def measured(
    spark: SparkSession,
    *events: dict[str, Any],
    nearby: list[list[str]] | None = None,
    hooks: Hooks | None = None,
    **options: Any,
) -> DataFrame:
    stored = {"page_view_id": "string", "derived_tstamp": "timestamp", "event_id": "string"}
    rows = [[event.get(name) for name in EVENT] for event in events]
    return vitals(
        frame_of(spark, rows, EVENT),
        frame_of(spark, nearby or [], stored),
        WebSettings(**options),
        hooks or Hooks(),
    )


def ids(table: DataFrame) -> set[str]:
    return {row["event_id"] for row in table.collect()}


def test_columns_are_those_declared(spark: SparkSession) -> None:
    assert dict(measured(spark).dtypes) == COLUMNS
    assert measured(spark).columns == list(COLUMNS)


def test_measures_are_rounded_up(spark: SparkSession) -> None:
    event = a_vital("e", lcp=2499.2, fcp=1.0001, fid=2.0, cls=0.0994, inp=3.1234, ttfb=0.00001)
    names = ("lcp", "fcp", "fid", "cls", "inp", "ttfb")
    row = measured(spark, event).select(*names).collect()[0]
    expected = ("2.5", "1.001", "2", "0.1", "3.124", "0")
    assert tuple(row) == tuple(Decimal(number) for number in expected)


def test_a_number_too_large_to_be_a_measure_is_not_measurable(spark: SparkSession) -> None:
    row = measured(spark, a_vital("e", lcp=1e30)).collect()[0]
    assert (row["lcp"], row["lcp_result"]) == (None, "not measurable")


@pytest.mark.parametrize(
    ("measure", "good", "acceptable", "poor"),
    [
        ("lcp", 2499, 2500, 4000),
        ("fid", 99.999, 100, 300),
        ("cls", 0.099, 0.1, 0.25),
        ("ttfb", 799, 800, 1800),
        ("inp", 199, 200, 500),
    ],
)
def test_verdicts(
    spark: SparkSession, measure: str, good: float, acceptable: float, poor: float
) -> None:
    values = {"p1": good, "p2": acceptable, "p3": poor, "p4": None}
    events = [a_vital(f"e{page}", page, **{measure: value}) for page, value in values.items()]
    rows = measured(spark, *events).select("page_view_id", f"{measure}_result").collect()
    assert dict(map(tuple, rows)) == {
        "p1": "good",
        "p2": "needs improvement",
        "p3": "poor",
        "p4": "not measurable",
    }


@pytest.mark.parametrize("compat", [False, True])
def test_what_is_unknown_is_called_so(spark: SparkSession, compat: bool) -> None:
    row = measured(spark, a_vital("e"), compat=compat).collect()[0]
    names = ("geo_country", "page_url", "device_class", "url_group", "dedupe_index")
    assert [row[name] for name in names] == [
        "unknown_geo_country",
        "unknown_page_url",
        "unknown_device_class",
        "other",
        1,
    ]


def test_device_and_page_group(spark: SparkSession) -> None:
    phone = {YAUAA.name: [{"device_class": "Phone", "agent_name": "Chrome"}]}
    event = a_vital("e", page_url="https://shop.example/product/1") | phone
    row = measured(spark, event, enable_yauaa=True).collect()[0]
    names = ("device_class", "agent_name", "url_group")
    assert [row[name] for name in names] == ["phone", "Chrome", "PDP"]


def test_the_first_event_of_a_page_view_counts(spark: SparkSession) -> None:
    events = [
        a_vital("e3", derived_tstamp="2024-01-01 09:00:00"),
        a_vital("e2", derived_tstamp="2024-01-01 09:00:00"),
        a_vital("e1"),
        a_vital("e0", page_view_id=None),
        a_vital("e9", "q") | {"event_name": "page_view"},
    ]
    assert ids(measured(spark, *events)) == {"e2"}
    assert ids(measured(spark, *events[::-1])) == {"e2"}


def test_the_reference_settles_ties_by_the_device_clock(spark: SparkSession) -> None:
    events = [
        a_vital("e1", dvce_created_tstamp="2024-01-01 10:00:01"),
        a_vital("e2", dvce_created_tstamp="2024-01-01 10:00:00"),
    ]
    # The device clock is not stored, so that it cannot tell events of two runs apart.
    assert ids(measured(spark, *events)) == {"e1"}
    assert ids(measured(spark, *events, compat=True)) == {"e2"}


def test_a_page_view_that_another_session_measured_first_is_left_to_it(
    spark: SparkSession,
) -> None:
    earlier, later = "2024-01-01 09:00:00", "2024-01-01 11:00:00"
    assert ids(measured(spark, a_vital("e"), nearby=[["p", earlier, "z"]])) == set()
    assert ids(measured(spark, a_vital("e"), nearby=[["p", later, "a"]])) == {"e"}
    assert ids(measured(spark, a_vital("e"), nearby=[["q", earlier, "z"]])) == {"e"}
    assert ids(measured(spark, a_vital("e"), nearby=[["p", earlier, "z"]], compat=True)) == {"e"}


def test_bots_are_left_out_if_asked(spark: SparkSession) -> None:
    events = [a_vital("bot", "p1", useragent="Googlebot/2.1"), a_vital("human", "p2")]
    assert ids(measured(spark, *events)) == {"human"}
    assert ids(measured(spark, *events, ua_bot_filter=False)) == {"bot", "human"}
    assert ids(measured(spark, *events, ua_bot_filter=False, compat=True)) == {"human"}


def test_robots_that_iab_knows_are_left_out(spark: SparkSession) -> None:
    def known_as(is_robot: bool) -> dict[str, Any]:
        return {IAB.name: [{"spider_or_robot": is_robot}]}

    events = [
        a_vital("robot", "p1") | known_as(True),
        a_vital("human", "p2") | known_as(False),
        a_vital("unknown", "p3"),
    ]
    assert ids(measured(spark, *events)) == {"robot", "human", "unknown"}
    assert ids(measured(spark, *events, enable_iab=True)) == {"human", "unknown"}
    assert ids(measured(spark, *events, enable_iab=True, compat=True)) == {"human"}


def test_hooks_decide_groups_and_verdicts(spark: SparkSession) -> None:
    def page_groups(default: Column) -> Column:
        return F.when(F.col("page_url") == "/blog", "blog").otherwise(default)

    def verdict(measure: str, default: Column) -> Column:
        return F.when(F.col(measure) < 50, "excellent").otherwise(default)

    hooks = Hooks({"core_web_vital_page_groups": page_groups, "core_web_vital_results": verdict})
    row = measured(spark, a_vital("e", page_url="/blog", inp=20, ttfb=60), hooks=hooks).collect()[0]
    names = ("url_group", "inp_result", "ttfb_result", "fid_result")
    assert [row[name] for name in names] == ["blog", "excellent", "good", "not measurable"]
