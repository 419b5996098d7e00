"""pivot_base: the percents at which progress is reported, and what each is worth."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from windrow.columns.rules import column
from windrow.models.model import STATE, model
from windrow.packages.media_player.settings import MediaPlayerSettings
from windrow.tables import Columns

COLUMNS: Columns = {
    "percent_progress": column("int", "Percent of the media at which progress is reported."),
    "weight_rate": column("int", "Percents since the boundary before; all add up to 100."),
}


@model(kind="rebuilt", key="percent_progress", columns=COLUMNS, storage=STATE)
def pivot_base(sessions_this_run: DataFrame, settings: MediaPlayerSettings) -> DataFrame:
    """One row per percent boundary: how much play time reaching it is worth."""
    # A count is one row whatever it counts: something to put the boundaries on.
    one_row = sessions_this_run.agg(F.count(F.lit(1)))
    boundaries = F.create_map(*(F.lit(part) for pair in settings.weights.items() for part in pair))
    return one_row.select(F.explode(boundaries).alias(*COLUMNS))
