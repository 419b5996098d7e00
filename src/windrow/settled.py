"""Frames that are computed once and for all."""

from __future__ import annotations

from pyspark.sql import DataFrame


def settled(frame: DataFrame) -> DataFrame:
    """The frame's rows, computed now; what is built on them plans quickly and reads no table again.

    Unlike a cached frame it does not drag the plan that made it along, which for small runs costs
    more than the work. Should an executor take rows with it, the run fails and is undone.
    """
    return frame.localCheckpoint(eager=True)
