"""The events that a package reads, after making sure that they can be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from windrow.atomic.arrivals import version_of
from windrow.atomic.entity_columns import ENTITY_COLUMNS
from windrow.atomic.source import Source, check_columns, check_lines, check_readable, open_source
from windrow.engine.workspace import Workspace
from windrow.models.model import Model

_KNOWN = tuple(entity.name for entity in ENTITY_COLUMNS)


def readable_source(ws: Workspace, models: Sequence[Model]) -> Source:
    """The events, after reading one of them: what a run must know before it writes anything."""
    source = checked_source(ws, models)
    check_readable(source)
    return source


def checked_source(ws: Workspace, models: Sequence[Model]) -> Source:
    """The events, after making sure that every column the models need is there."""
    needed = _needed(ws, models)
    version = None if ws.events is None else version_of(ws.spark, ws.events)
    source = open_source(
        ws.spark,
        ws.events,
        time_column=ws.settings.session_timestamp,
        reshape=ws.foundation.reshapes,
        asked=(*needed, *_KNOWN) if _reads_all(ws, models) else needed,
    )
    if ws.events is not None and ws.events.path is not None:
        check_lines(source, ws.events.path)
    source = replace(source.with_nulls(ws.foundation.may_lack), version=version)
    check_columns(source, needed)
    return source


def _reads_all(ws: Workspace, models: Sequence[Model]) -> bool:
    return any(member.event_columns_for(ws.settings_of(member)) is None for member in models)


def _needed(ws: Workspace, models: Sequence[Model]) -> dict[str, str]:
    """Column of the events -> who needs it."""
    foundation = ws.foundation
    needed = dict.fromkeys(
        (*foundation.columns(ws.settings), *foundation.reads), "every run needs it"
    )
    made = foundation.made
    for member in models:
        for column in member.event_columns_for(ws.settings_of(member)) or ():
            if column not in made:
                needed.setdefault(column, f"model '{member.name}' needs it")
    for column in set(needed) & set(ws.options_of_columns):
        needed[column] = f"{ws.options_of_columns[column]} asks for it"
    return needed
