"""Figures about the rows of a frame, taken by whatever computes it anyway."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from pyspark.sql import Column, DataFrame, Observation


class Observed:
    """Aggregates over rows on their way: `over` a frame first, `figures` once it was computed."""

    def __init__(self) -> None:
        self._observation = Observation()
        self._anew: partial[DataFrame] | None = None

    def over(self, frame: DataFrame, measures: Mapping[str, Column]) -> DataFrame:
        """The same rows; whoever computes what is made of them takes the measures too."""
        if not measures:
            return frame
        named = [measure.alias(name) for name, measure in measures.items()]
        self._anew = partial(frame.agg, *named)
        return frame.observe(self._observation, *named)

    def figures(self, *, has_rows: bool = True) -> dict[str, Any]:
        """Measure -> its value; empty when nothing was to be measured.

        `has_rows`: whether what was made of the frame has any. Where no row is left, Spark may drop
        the part of its plan that would have measured them, and they are measured now.
        """
        if self._anew is None:
            return {}
        return self._observation.get if has_rows else self._anew().collect()[0].asDict()
