"""Figures about the rows of a frame, taken by whatever computes it anyway."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyspark.sql import Column, DataFrame, Observation


class Observed:
    """Aggregates over rows on their way: `over` a frame first, `figures` once it was computed."""

    def __init__(self) -> None:
        self._observation = Observation()
        self._frame: DataFrame | None = None
        self._measures: list[Column] = []

    def over(self, frame: DataFrame, measures: Mapping[str, Column]) -> DataFrame:
        """The same rows; whoever computes what is made of them takes the measures too."""
        if not measures:
            return frame
        self._frame = frame
        self._measures = [measure.alias(name) for name, measure in measures.items()]
        return frame.observe(self._observation, *self._measures)

    def figures(self, *, has_rows: bool = True, settled: DataFrame | None = None) -> dict[str, Any]:
        """Measure -> its value; empty when nothing was to be measured.

        `has_rows`: whether what was made of the frame has any. Where no row is left, Spark may drop
        the part of its plan that would have measured them, and they are measured now. So they are
        through Spark Connect, which does not tell what a checkpoint measured on its way: on the
        `settled` rows, where these are the frame's.
        """
        if self._frame is None:
            return {}
        told = self._observation.get if has_rows else {}
        if told:
            return told
        rows = self._frame if settled is None else settled
        return rows.agg(*self._measures).collect()[0].asDict()
