"""Which tables tell of all that others had when the run began, so that they can be carried on."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime

from windrow.engine.holding import Seen
from windrow.engine.workspace import Workspace
from windrow.models.extras import names as extra_columns
from windrow.models.model import Model, Stored
from windrow.tables import TableName


def lags(positions: Mapping[str, datetime], reader: Model, owner: Model) -> bool:
    """True when a model has not seen what another has, or the other way round."""
    return positions.get(reader.full_name) != positions.get(owner.full_name)


def in_step(
    ws: Workspace,
    seen: Seen,
    positions: Mapping[str, datetime],
    models: Sequence[Model],
    emptied: Collection[TableName],
) -> frozenset[tuple[str, str]]:
    """Pairs of models: the first one's rows tell of all that the other's table has.

    Both tables are what a run of ours left, the first was made from just the other, and the run
    makes rows of both. In the reference, some rows are never brought up to date.
    """
    if ws.settings.compat:
        return frozenset()

    def is_as_left(table: TableName, then: Mapping[str, str]) -> bool:
        is_same_run = then.get(str(table)) == seen.version_of(table, but_upkeep=True)
        is_ours = ws.tables.version(table) == seen.version_of(table)
        return table not in emptied and is_same_run and is_ours

    def is_in_step(reader: Model, owner: Model) -> bool:
        ours, theirs = ws.table(reader), ws.table(owner)
        if owner not in models:
            return False
        if not ws.tables.exists(ours):
            return not ws.tables.exists(theirs)
        then = seen.versions_at_success(reader.full_name) or {}
        return not lags(positions, reader, owner) and all(
            is_as_left(table, then) for table in (ours, theirs)
        )

    return frozenset(
        (reader.name, owner.name)
        for reader, owner in _pairs(ws, models)
        if is_in_step(reader, owner)
    )


def _pairs(ws: Workspace, models: Sequence[Model]) -> Iterator[tuple[Model, Model]]:
    """The models that go on from their own rows, and those they are made from."""
    sessions = ws.sessions_model
    has_own_table = bool(ws.package.own_sessions_table(ws.settings))
    for member in models:
        amend = {} if member.amend is None else member.amend.inputs
        for source in (*member.inputs.values(), *amend.values()):
            if isinstance(source, Stored) and source.in_step_with:
                yield member, ws.model(source.in_step_with)
        takes_visits = "visits" in member.inputs.values() and not has_own_table
        # Columns of the project's own may be any aggregate of all sessions.
        has_extras = extra_columns(ws.settings_of(member), member.name)
        if takes_visits and sessions is not None and not has_extras:
            yield member, sessions
