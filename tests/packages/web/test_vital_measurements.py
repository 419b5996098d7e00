"""vital_measurements: groups, percentiles and the days they cover."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from windrow.config import ReferenceLists
from windrow.models.hooks import Hooks
from windrow.packages.web.settings import WebSettings
from windrow.packages.web.vital_measurements import columns, vital_measurements
from windrow.packages.web.vitals import COLUMNS as VITALS
from windrow.reference.frames import ReferenceFrames, reference_frames
from windrow.tables.frames import frame_of

NOW = datetime(2024, 3, 1, 12, tzinfo=UTC)
VIEW = {
    "page_url": "/home",
    "device_class": "desktop",
    "geo_country": "GR",
    "derived_tstamp": "2024-02-29 10:00:00",
    "derived_tstamp_date": "2024-02-29",
}


@pytest.fixture(scope="module")
def reference(spark: SparkSession) -> ReferenceFrames:
    return reference_frames(spark, ReferenceLists())


def measurements(
    spark: SparkSession,
    reference: ReferenceFrames,
    *views: dict[str, Any],
    hooks: Hooks | None = None,
    **options: Any,
) -> DataFrame:
    rows = [[(VIEW | view).get(name) for name in VITALS] for view in views]
    vitals = frame_of(spark, rows, VITALS)
    return vital_measurements(WebSettings(**options), hooks or Hooks(), reference, NOW, vitals)


def of_type(table: DataFrame, measurement_type: str, *names: str) -> set[tuple[Any, ...]]:
    rows = table.where(F.col("measurement_type") == measurement_type).select(*names)
    return {tuple(row) for row in rows.collect()}


def test_every_grouping_is_there(spark: SparkSession, reference: ReferenceFrames) -> None:
    phone = {"device_class": "phone", "geo_country": "DE", "derived_tstamp_date": "2024-02-28"}
    table = measurements(spark, reference, {}, {}, phone | {"page_url": "/list"})
    keys = table.select("measurement_type", "compound_key", "page_view_count").collect()
    days = "last 28 days"
    assert {tuple(row) for row in keys} == {
        ("overall", f"all-all-all-{days}", 3),
        ("by_url_and_device", f"/home-desktop-all-{days}", 2),
        ("by_url_and_device", f"/list-phone-all-{days}", 1),
        ("by_day_and_device", "all-desktop-all-2024-02-29 00:00:00", 2),
        ("by_day_and_device", "all-phone-all-2024-02-28 00:00:00", 1),
        ("by_country_and_device", f"all-desktop-GR-{days}", 2),
        ("by_country_and_device", f"all-phone-DE-{days}", 1),
        ("by_country", f"all-all-GR-{days}", 2),
        ("by_country", f"all-all-DE-{days}", 1),
        ("by_device", f"all-desktop-all-{days}", 2),
        ("by_device", f"all-phone-all-{days}", 1),
        ("by_day", "all-all-all-2024-02-29 00:00:00", 2),
        ("by_day", "all-all-all-2024-02-28 00:00:00", 1),
    }


def test_columns_carry_the_percentile(spark: SparkSession, reference: ReferenceFrames) -> None:
    table = measurements(spark, reference, cwv_percentile=90)
    assert dict(table.dtypes) == columns(WebSettings(cwv_percentile=90))
    assert table.columns[8:13] == ["lcp_90p", "fid_90p", "cls_90p", "ttfb_90p", "inp_90p"]


@pytest.mark.parametrize(("percentile", "expected"), [(75, "32.5"), (50, "25"), (5, "11.5")])
def test_percentile_lies_between_neighbours(
    spark: SparkSession, reference: ReferenceFrames, percentile: int, expected: str
) -> None:
    views = [{"fid": number} for number in (40, 10, 30, 20)]
    table = measurements(spark, reference, *views, cwv_percentile=percentile)
    assert of_type(table, "overall", f"fid_{percentile}p") == {(Decimal(expected),)}


def test_the_reference_takes_5_for_one_half(
    spark: SparkSession, reference: ReferenceFrames
) -> None:
    views = [{"fid": number} for number in (40, 10, 30, 20)]
    table = measurements(spark, reference, *views, cwv_percentile=5, compat=True)
    assert of_type(table, "overall", "fid_5p") == {(Decimal(25),)}


def test_percentile_is_rounded_up_to_three_decimals(
    spark: SparkSession, reference: ReferenceFrames
) -> None:
    views = [{"cls": 0.1}, {"cls": 0.1001}]
    assert of_type(measurements(spark, reference, *views), "overall", "cls_75p", "cls_result") == {
        (Decimal("0.101"), "needs improvement")
    }


def test_what_is_exact_is_not_rounded_up(spark: SparkSession, reference: ReferenceFrames) -> None:
    # The percentile is 4.075; binary arithmetic makes it 4.075000000000001.
    views = [{"inp": 0.1}, {"inp": 5.4}]
    ours = measurements(spark, reference, *views)
    theirs = measurements(spark, reference, *views, compat=True)
    assert of_type(ours, "overall", "inp_75p") == {(Decimal("4.075"),)}
    assert of_type(theirs, "overall", "inp_75p") == {(Decimal("4.076"),)}


def test_nulls_do_not_count(spark: SparkSession, reference: ReferenceFrames) -> None:
    table = measurements(spark, reference, {"inp": 100}, {"inp": None}, {"inp": None})
    names = ("page_view_count", "inp_75p", "inp_result", "lcp_75p", "lcp_result", "passed")
    assert of_type(table, "overall", *names) == {
        (3, Decimal(100), "good", None, "not measurable", 0)
    }


@pytest.mark.parametrize(
    ("view", "passed"),
    [
        ({"lcp": 2.4, "fid": 99, "cls": 0.09, "ttfb": 5000, "inp": 5000}, 1),
        ({"lcp": 2.5, "fid": 99, "cls": 0.09}, 0),
        ({"lcp": 2.4, "fid": 99, "cls": None}, 0),
    ],
)
def test_lcp_fid_and_cls_decide_what_passes(
    spark: SparkSession, reference: ReferenceFrames, view: dict[str, Any], passed: int
) -> None:
    assert of_type(measurements(spark, reference, view), "overall", "passed") == {(passed,)}


def test_countries_are_named(spark: SparkSession, reference: ReferenceFrames) -> None:
    views = [{"geo_country": "gr"}, {"geo_country": "unknown_geo_country"}]
    ours = measurements(spark, reference, *views)
    theirs = measurements(spark, reference, *views, compat=True)
    assert of_type(ours, "by_country", "geo_country", "country") == {
        ("gr", "Greece"),
        ("unknown_geo_country", "unknown"),
    }
    assert of_type(theirs, "by_country", "geo_country", "country") == {
        ("gr", "Greece"),
        ("unknown_geo_country", "all"),
    }
    assert of_type(ours, "by_device", "geo_country", "country") == {("all", "all")}


@pytest.mark.parametrize("compat", [False, True])
def test_today_and_the_days_before_it_are_covered(
    spark: SparkSession, reference: ReferenceFrames, compat: bool
) -> None:
    days = ("2024-03-01", "2024-02-29", "2024-02-28", "2024-02-27")
    views = [{"derived_tstamp_date": day} for day in days]
    table = measurements(spark, reference, *views, cwv_days_to_measure=2, compat=compat)
    assert of_type(table, "overall", "time_period", "page_view_count") == {("last 2 days", 3)}


def test_hooks_decide_verdicts_and_what_passes(
    spark: SparkSession, reference: ReferenceFrames
) -> None:
    def verdict(measure: str, default: Column) -> Column:
        return F.when(F.col(measure) > 1000, "hopeless").otherwise(default)

    def passes(default: Column) -> Column:
        return F.when(F.col("inp_result") == "hopeless", -1).otherwise(default)

    hooks = Hooks({"core_web_vital_results": verdict, "core_web_vital_pass": passes})
    table = measurements(spark, reference, {"inp": 2000, "ttfb": 10}, hooks=hooks)
    names = ("inp_result", "ttfb_result", "passed")
    assert of_type(table, "overall", *names) == {("hopeless", "good", -1)}
