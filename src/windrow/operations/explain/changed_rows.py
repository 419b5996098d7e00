"""What runs changed in the rows of an id: the versions of a table that they left, compared."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from windrow.engine.checking import MADE_AT
from windrow.engine.workspace import Workspace
from windrow.operations.explain.stored_rows import Look
from windrow.operations.explain.values import RowChange
from windrow.state.records import collect_together
from windrow.state.runs import RunRecord
from windrow.tables import GoneVersionError
from windrow.tables.refusals import REFUSALS
from windrow.tables.sql import quoted

COMPARED_RUNS = 3
"""So many runs are told of: each is a version of each table that is looked into."""
_MOST_ROWS = 1_000

_Rows = Mapping[str, Mapping[str, Any]]
"""Key -> what the row has, but for nulls and for when it was made."""


def changes_in(
    ws: Workspace, looks: Sequence[Look], runs: Sequence[RunRecord]
) -> list[tuple[RowChange, ...] | None]:
    """What the newest of the runs, newest first, did to the rows of each look.

    None: the versions that they left are not all there any more.
    """
    left = [_versions_left(str(ws.table(look.model)), runs) for look in looks]
    frames: dict[str, DataFrame] = {}
    for number, look in enumerate(looks):
        for version in filter(None, left[number]):
            rows = _rows_at(ws, look, version)
            if rows is not None:
                frames[_label(number, version)] = rows
    try:
        found = collect_together(frames)
    except REFUSALS:
        # A version can be known whose files were cleaned up.
        return [None] * len(looks)
    stored = {
        label: {it["id"]: json.loads(it["row"]) for it in rows} for label, rows in found.items()
    }
    return [_compared(number, runs, left[number], stored) for number, _ in enumerate(looks)]


def _versions_left(table: str, runs: Sequence[RunRecord]) -> list[str | None]:
    """What a table was at after each of the newest runs, and after the one before them.

    A run that had nothing to do with it left it as it was; None: none ever had.
    """
    at: list[str | None] = []
    last = None
    for run in reversed(runs):
        last = run.table_versions.get(table, last)
        at.append(last)
    return at[::-1][: COMPARED_RUNS + 1]


def _compared(
    number: int,
    runs: Sequence[RunRecord],
    left: Sequence[str | None],
    stored: Mapping[str, _Rows],
) -> tuple[RowChange, ...] | None:
    if any(it is not None and _label(number, it) not in stored for it in left):
        return None
    states: list[_Rows] = [{} if it is None else stored[_label(number, it)] for it in left]
    # Before the first run of all that had to do with it, there was nothing.
    before = [*states[1:], {}]
    shown = runs[:COMPARED_RUNS]
    return tuple(_change(*it) for it in zip(shown, before, states, strict=False))


def _change(run: RunRecord, before: _Rows, after: _Rows) -> RowChange:
    changed = [key for key in before.keys() & after.keys() if before[key] != after[key]]
    columns = {name for key in changed for name in _differing(before[key], after[key])}
    return RowChange(
        run_id=run.run_id,
        added=len(after.keys() - before.keys()),
        removed=len(before.keys() - after.keys()),
        changed=len(changed),
        columns=tuple(sorted(columns)),
    )


def _differing(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    for name in before.keys() | after.keys():
        if before.get(name) != after.get(name):
            yield name


def _rows_at(ws: Workspace, look: Look, version: str) -> DataFrame | None:
    """The rows of a version; None: it is gone, or had other columns."""
    try:
        rows = ws.tables.read(ws.table(look.model), version=version)
    except GoneVersionError:
        return None
    if not {look.column, *look.model.key, *([look.day] if look.day else [])} <= {*rows.columns}:
        return None
    told = [F.col(quoted(name)) for name in rows.columns if name != MADE_AT]
    key = F.to_json(F.struct(*(F.col(quoted(name)) for name in look.model.key)))
    matching = look.matching(rows).limit(_MOST_ROWS)
    return matching.select(key.alias("id"), F.to_json(F.struct(*told)).alias("row"))


def _label(number: int, version: str) -> str:
    return f"look{number} {version}"
