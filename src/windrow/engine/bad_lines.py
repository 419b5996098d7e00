"""Lines that are no events are kept aside, each once, for whoever mends them."""

from __future__ import annotations

from pyspark.sql import functions as F

from windrow.atomic.enriched import BAD_LINE, bad_lines_of
from windrow.atomic.source import Source
from windrow.columns.rules import column
from windrow.engine.workspace import Workspace
from windrow.tables.frames import measured

BAD_LINES = {
    **BAD_LINE,
    "copies": column("bigint", "How often the file has the line."),
    "run_id": column("string", "Id of the run that found it."),
}
KEY = ("file", "line")


def keep_bad_lines(ws: Workspace, source: Source, run_id: str) -> dict[str, int]:
    """Add the bad lines that no earlier run has found; gives how many they are.

    A bad line has no time, so that no window tells which are new: all files are looked through.
    """
    if source.lines is None:
        return {}
    found = (
        bad_lines_of(source.lines)
        .groupBy(*KEY)
        .agg(
            F.min("reason").alias("reason"),
            F.count(F.lit(1)).alias("copies"),
            F.lit(run_id).alias("run_id"),
        )
    )
    if ws.tables.exists(ws.bad_lines):
        found = found.join(ws.tables.read(ws.bad_lines), [*KEY], how="left_anti")
    new, figures = measured(found.select(*BAD_LINES), {"lines": F.sum("copies")})
    if figures["lines"]:
        ws.tables.create(ws.bad_lines, BAD_LINES, key=KEY)
        ws.tables.append(ws.bad_lines, new)
    return {"bad_lines": figures["lines"] or 0}
