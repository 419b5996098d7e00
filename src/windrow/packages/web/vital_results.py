"""Core web vitals judged: good, needs improvement, poor; and whether a page passes."""

from __future__ import annotations

from decimal import Decimal

from pyspark.sql import Column
from pyspark.sql import functions as F

from windrow.columns.rules import column
from windrow.models.hooks import Hooks
from windrow.tables import Columns

_LIMITS: dict[str, tuple[Decimal, Decimal]] = {
    "lcp": (Decimal("2.5"), Decimal("4")),
    "fid": (Decimal("100"), Decimal("300")),
    "cls": (Decimal("0.1"), Decimal("0.25")),
    "ttfb": (Decimal("800"), Decimal("1800")),
    "inp": (Decimal("200"), Decimal("500")),
}
"""Measure -> what it must stay below to be good, and to be no worse than in need of improvement.

lcp is in seconds, cls has no unit, the others are in milliseconds.
"""

MEASURES = tuple(_LIMITS)
"""The measures that are judged, in table order."""

RESULTS: Columns = {
    f"{measure}_result": column(
        "string",
        f"Verdict on `{measure}`: `good` below {good}, `needs improvement` below {acceptable}, "
        "otherwise `poor`, and `not measurable` if it is null; the hook `core_web_vital_results` "
        "may say otherwise.",
    )
    for measure, (good, acceptable) in _LIMITS.items()
}
"""The verdicts, a column per measure."""


def results(hooks: Hooks) -> dict[str, Column]:
    """Result column -> the verdict on the column that is named as the measure."""
    return {
        f"{measure}_result": hooks.column(
            "core_web_vital_results", _verdict(measure), measure=measure
        )
        for measure in MEASURES
    }


def _verdict(measure: str) -> Column:
    value = F.col(measure)
    good, acceptable = _LIMITS[measure]
    return (
        F.when(value.isNull(), "not measurable")
        .when(value < F.lit(good), "good")
        .when(value < F.lit(acceptable), "needs improvement")
        .otherwise("poor")
    )


def pass_flag(hooks: Hooks) -> Column:
    """1 where lcp, fid and cls are all good, otherwise 0; needs the `results` columns."""
    all_good = F.lit(True)
    for measure in ("lcp", "fid", "cls"):
        all_good &= F.col(f"{measure}_result") == "good"
    return hooks.column("core_web_vital_pass", F.when(all_good, 1).otherwise(0))
