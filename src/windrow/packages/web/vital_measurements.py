"""vital_measurements: a percentile of the core web vitals, by page, device, country and day."""

from __future__ import annotations

from datetime import datetime, timedelta

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from windrow.columns.rules import column
from windrow.models.hooks import Hooks
from windrow.models.model import model, stored
from windrow.models.parts.declared_columns import select_declared
from windrow.packages.web.settings import WebSettings
from windrow.packages.web.vital_results import MEASURES, RESULTS, pass_flag, results
from windrow.reference.frames import ReferenceFrames
from windrow.tables import Columns

_DIMENSIONS = ("page_url", "device_class", "geo_country", "time_period")

_GROUPINGS: dict[str, tuple[str, ...]] = {
    "overall": (),
    "by_url_and_device": ("page_url", "device_class"),
    "by_day_and_device": ("time_period", "device_class"),
    "by_country_and_device": ("geo_country", "device_class"),
    "by_country": ("geo_country",),
    "by_device": ("device_class",),
    "by_day": ("time_period",),
}
"""Measurement type -> what it is grouped by."""


def columns(settings: WebSettings) -> Columns:
    """The table's columns; the percentile is part of their names."""
    every = "`all` if not grouped by it"
    return {
        "compound_key": column(
            "string",
            "`page_url`, `device_class`, `geo_country` and `time_period` with hyphens between.",
        ),
        "measurement_type": column(
            "string", f"What is grouped by: {', '.join(f'`{name}`' for name in _GROUPINGS)}."
        ),
        "page_url": column("string", f"URL of the page; {every}."),
        "device_class": column("string", f"Class of the device, as in `vitals`; {every}."),
        "geo_country": column("string", f"Code of the country, as in `vitals`; {every}."),
        "country": column(
            "string", f"Name of the country, `unknown` if it is not in the list; {every}."
        ),
        "time_period": column(
            "string",
            "Day, as `2024-03-05 00:00:00`; `last n days`, n being `cwv_days_to_measure`, if not "
            "grouped by it.",
        ),
        "page_view_count": column("bigint", "Number of page views in the group."),
        **{_percentile_column(name, settings): _percentile_type(name) for name in MEASURES},
        **RESULTS,
        "passed": column(
            "int",
            "1 if the verdicts on lcp, fid and cls are all `good`, otherwise 0; "
            "the hook `core_web_vital_pass` may say otherwise.",
        ),
    }


@model(kind="rebuilt", key="compound_key", columns=columns)
def vital_measurements(
    settings: WebSettings,
    hooks: Hooks,
    reference: ReferenceFrames,
    now: datetime,
    vitals: DataFrame = stored("vitals"),
) -> DataFrame:
    """One row per group of page views: the percentile of each measure, and the verdict on it.

    Covers today and the `cwv_days_to_measure` days before it, and reads no older rows.
    """
    first_day = now.date() - timedelta(days=settings.cwv_days_to_measure)
    recent = vitals.where(F.col("derived_tstamp_date") >= F.lit(first_day)).withColumn(
        "time_period", F.date_format("derived_tstamp_date", "yyyy-MM-dd 00:00:00")
    )
    measured = recent.groupingSets(list(_GROUPINGS.values()), *_DIMENSIONS).agg(
        F.grouping_id().alias("grouping"),
        F.count(F.lit(1)).alias("page_view_count"),
        *(_percentile(measure, settings).alias(measure) for measure in MEASURES),
    )
    judged = measured.withColumns(results(hooks)).withColumn("passed", pass_flag(hooks))
    named = _with_country(judged.withColumn("measurement_type", _measurement_type()), reference)

    group = {name: _group_value(name, settings) for name in _DIMENSIONS}
    values: dict[str, Column] = {
        "compound_key": F.concat_ws("-", *group.values()),
        **group,
        "country": _country(settings),
        **{_percentile_column(name, settings): F.ceil(name, F.lit(3)) for name in MEASURES},
    }
    return select_declared(named, columns(settings), values)


def _percentile_column(measure: str, settings: WebSettings) -> str:
    return f"{measure}_{settings.cwv_percentile}p"


def _percentile_type(measure: str) -> str:
    return column(
        "decimal(14,3)",
        f"Percentile of `{measure}` in the group, the one that `cwv_percentile` says, interpolated "
        "and rounded up to three decimals.",
    )


def _percentile(measure: str, settings: WebSettings) -> Column:
    """The percentile, interpolated between neighbours; nulls do not count.

    Measures have three decimals and the share has two, so nine decimals hold the percentile exactly
    and drop what binary arithmetic adds: 182.35 must not be rounded up to 182.351. The reference
    rounds that up, and it writes the percentile behind "0.", so that 5 means 0.5.
    """
    if settings.compat:
        return F.percentile(measure, float(f"0.{settings.cwv_percentile}"))
    return F.percentile(measure, settings.cwv_percentile / 100).cast("decimal(20,9)")


def _measurement_type() -> Column:
    """The type by Spark's grouping id, which has a bit for each dimension not grouped by."""
    found = F.lit(None).cast("string")
    for name, grouped_by in _GROUPINGS.items():
        bits = "".join("0" if dimension in grouped_by else "1" for dimension in _DIMENSIONS)
        found = F.when(F.col("grouping") == int(bits, base=2), name).otherwise(found)
    return found


def _is_grouped_by(dimension: str) -> Column:
    types = [name for name, grouped_by in _GROUPINGS.items() if dimension in grouped_by]
    return F.col("measurement_type").isin(types)


def _group_value(dimension: str, settings: WebSettings) -> Column:
    days = f"last {settings.cwv_days_to_measure} days"
    every = days if dimension == "time_period" else "all"
    return F.when(_is_grouped_by(dimension), F.col(dimension)).otherwise(every)


def _with_country(groups: DataFrame, reference: ReferenceFrames) -> DataFrame:
    countries = F.broadcast(reference.countries)
    is_country = F.lower("geo_country") == F.col("country_key")
    return groups.join(countries, is_country, how="left")


def _country(settings: WebSettings) -> Column:
    """The country's name; the reference says `all` of one that is not in the list."""
    unknown = "all" if settings.compat else "unknown"
    name = F.coalesce("country_name", F.lit(unknown))
    return F.when(_is_grouped_by("geo_country"), name).otherwise("all")
