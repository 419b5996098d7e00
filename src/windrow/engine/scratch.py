"""What a run leaves in the scratch schema with `keep_this_run`, for debugging and outside SQL."""

from __future__ import annotations

from pyspark.sql import DataFrame

from windrow.columns.timestamps import sql_text
from windrow.engine.intake import Intake
from windrow.engine.workspace import Workspace
from windrow.models.base_names import NEW_EVENT_LIMITS
from windrow.state.limits import Limits
from windrow.tables import Columns, TableName
from windrow.tables.frames import frame_of

_LIMITS = {"lower_limit": "timestamp", "upper_limit": "timestamp"}


def write_base(ws: Workspace, limits: Limits, intake: Intake) -> None:
    """Write the run's limits, its sessions and its events."""
    prefix = ws.package.prefix
    window = [(sql_text(limits.lower), sql_text(limits.upper))]
    limits_table = TableName(ws.schemas.scratch, prefix + NEW_EVENT_LIMITS)
    write_scratch(ws, limits_table, frame_of(ws.spark, window, _LIMITS))
    if ws.foundation.has_sessions:
        sessions = ws.foundation.as_recorded(intake.sessions)
        write_scratch(ws, ws.this_run_table(f"{prefix}base_sessions"), sessions)
    write_scratch(ws, ws.this_run_table(f"{prefix}base_events"), intake.events)


def write_scratch(ws: Workspace, table: TableName, rows: DataFrame) -> None:
    """Write rows to a table of the last run's; one of other columns makes way."""
    columns = dict(rows.dtypes)
    if ws.tables.exists(table) and ws.tables.columns(table) != columns:
        ws.tables.drop(table)
        if ws.tables.exists(table):
            _fit_emptied(ws, table, columns)
    ws.tables.create(table, columns)
    ws.tables.overwrite(table, rows)


def _fit_emptied(ws: Workspace, table: TableName, columns: Columns) -> None:
    """Give a table these columns beside its own: one by path on an object store stays, empty."""
    stored = ws.tables.columns(table)
    changed = {name: columns[name] for name in columns if columns[name] != stored.get(name)}
    retyped = {name: type_ for name, type_ in changed.items() if name in stored}
    if retyped:
        ws.tables.retype(table, retyped)
    added = {name: type_ for name, type_ in changed.items() if name not in stored}
    if added:
        ws.tables.add_columns(table, added)
