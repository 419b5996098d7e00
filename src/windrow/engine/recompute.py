"""Aggregates of a project's own: the keys that a run touches, and the stored rows behind them.

After every run such a table is what its function makes of the whole stored input. For that it is
enough to make the touched keys anew: those of the rows that the run brought into the input, and of
the rows that these replaced. Where a table was changed while the model did not look, that cannot be
told, and all keys are made anew.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import reduce
from itertools import dropwhile, takewhile

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from windrow.columns.expressions import columns_in
from windrow.engine.destination import Destination, on_days_of
from windrow.engine.holding import Seen, versions_at_success
from windrow.engine.upsert import Replaced
from windrow.engine.workspace import Workspace
from windrow.errors import RunFailedError, did_you_mean
from windrow.models.model import Model, Stored
from windrow.state.undo import is_maintenance
from windrow.tables import Columns, TableName
from windrow.tables.days import DayRange, day_ranges
from windrow.tables.frames import materialize
from windrow.tables.sql import quoted


@dataclass(frozen=True)
class Change:
    """What a run did to a model's stored rows."""

    rows: DataFrame
    """Those that it brought."""
    replaced: Replaced | None = None
    """Those that went, beside rows of the same key."""
    search: tuple[DayRange, ...] | None = None
    """Where these can have lain."""
    amended: tuple[DataFrame, ...] = ()
    """Keys and days of rows in which it changed a few columns."""
    is_whole: bool = False
    """True: it wrote the table anew."""


@dataclass
class Recompute:
    """What the aggregates of one run need to know of the tables they are made from."""

    ws: Workspace
    positions: Mapping[str, datetime]
    seen: Seen
    before: dict[TableName, str | None] = field(default_factory=dict)
    """What tables were at when the run began."""
    changes: dict[str, Change] = field(default_factory=dict)
    """Model -> what the run did to its rows."""
    found: dict[str, DataFrame | None] = field(default_factory=dict)
    """Model -> its touched keys; None: all."""

    def remember(self, models: Sequence[Model]) -> None:
        """Note what the tables are at that aggregates are made from, and their own."""
        for member in models:
            if member.recomputed_from is not None:
                for table in self._tables_of(member):
                    self.before.setdefault(table, self.ws.tables.version(table))

    def note(self, member: Model, change: Change) -> None:
        """Note what the run did to a model's rows."""
        self.changes[member.name] = change

    def note_amended(self, member: Model, rows: DataFrame) -> None:
        """Note rows that the run changed although they are not of its sessions."""
        change = self.changes[member.name]
        self.changes[member.name] = replace(change, amended=(*change.amended, rows))

    def touched(self, member: Model) -> DataFrame | None:
        """The keys that the run's changes bear on; None: all of them."""
        if member.name not in self.found:
            keys = self._touched(member)
            self.found[member.name] = None if keys is None else materialize(keys)
        return self.found[member.name]

    def of_touched_keys(self, member: Model, stored: DataFrame) -> DataFrame:
        """Of the stored rows of its input, those that the model's touched keys rest on."""
        touched = self.touched(member)
        if touched is None:
            return stored
        stored = self._on_touched_days(member, stored, touched)
        names = {name: f"windrow_key_{number}" for number, name in enumerate(member.key)}
        made = self._made(member, stored.columns)
        is_touched = [made[name].eqNullSafe(F.col(other)) for name, other in names.items()]
        return stored.join(
            touched.withColumnsRenamed(names), reduce(Column.__and__, is_touched), how="left_semi"
        )

    def replaced(self, member: Model) -> tuple[Replaced | None, tuple[DayRange, ...] | None]:
        """The stored rows of the aggregate that go, and the days on which they lie, if known."""
        touched = self.touched(member)
        if touched is None:
            return None, None
        day = self.ws.destination(member).day_column(dict(touched.dtypes))
        search = _days_of(touched, day) if day in member.key and day is not None else None
        return Replaced(member.key, touched), search

    def check(self, member: Model, rows: DataFrame) -> None:
        """Stop at a row whose key is none of the input's: nobody could tell what it rests on."""
        owner = self._owner(member)
        if self._looks_at_all_of(member, owner):
            return
        touched = self.touched(member)
        known = touched if touched is not None else self._keys(member, self._stored(owner))
        strange = rows.select(*member.key).join(known, list(member.key), how="left_anti")
        for row in strange.limit(1).collect():
            shown = ", ".join(f"{name} = {row[name]!r}" for name in member.key)
            raise RunFailedError(
                f"Model '{member.name}' made a row for {shown}, which no row of {owner.name} has. "
                "Say what its key is made of: @model(per={'" + member.key[0] + "': 'SQL over the "
                f"columns of {owner.name}'}})."
            )

    # --- which keys ----------------------------------------------------------------------------

    def _touched(self, member: Model) -> DataFrame | None:
        owner = self._owner(member)
        if not self._is_as_it_left_it(member, owner):
            return None
        change = self.changes.get(owner.name)
        stored = self._stored(owner)
        if change is None:
            return self._keys(member, stored.limit(0))
        if change.is_whole:
            return None
        before = self.ws.tables.read(
            self.ws.table(owner), version=self.before[self.ws.table(owner)]
        )
        # Columns may have been added since.
        before = stored.limit(0).unionByName(before, allowMissingColumns=True)
        bearing = [change.rows, *self._gone(owner, before, change)]
        for rows in change.amended:
            bearing += [self._same_keys(owner, it, rows) for it in (before, stored)]
        return reduce(DataFrame.union, (self._keys(member, it) for it in bearing)).distinct()

    def _gone(self, owner: Model, before: DataFrame, change: Change) -> list[DataFrame]:
        """The rows that the run's rows stand for, as they were."""
        near = on_days_of(before, self.ws.destination(owner), change.search)
        gone = [near.join(change.rows.select(*owner.key), list(owner.key), how="left_semi")]
        if change.replaced is not None:
            by = list(change.replaced.columns)
            gone.append(near.join(change.replaced.values.select(*by), by, how="left_semi"))
        return gone

    def _same_keys(self, owner: Model, stored: DataFrame, rows: DataFrame) -> DataFrame:
        destination = self.ws.destination(owner)
        day = destination.day_column(dict(rows.dtypes))
        search = None if day is None else _days_of(rows, day)
        near = on_days_of(stored, destination, search)
        return near.join(rows.select(*owner.key), list(owner.key), how="left_semi")

    def _is_as_it_left_it(self, member: Model, owner: Model) -> bool:
        """True when, until this run, nothing changed since the model was last made."""
        if self.positions.get(member.full_name) is None or self._looks_at_all_of(member, owner):
            return False
        then = versions_at_success(self.ws, self.seen, member)
        return all(
            self._is_unchanged(table, then.get(str(table)), now)
            for table, now in self._versions(member, owner).items()
        )

    def _versions(self, member: Model, owner: Model) -> dict[TableName, str | None]:
        """The tables behind the model: those it writes and is made from as the run found them.

        Others, which it only looks things up in, as they are now.
        """
        found = {self.ws.table(it) for it in (member, owner)}
        return {
            table: self.before.get(table) if table in found else self.ws.tables.version(table)
            for table in self._tables_of(member)
        }

    def _is_unchanged(self, table: TableName, then: str | None, now: str | None) -> bool:
        if then is None or now is None or then == now:
            return then is not None and then == now
        # This run may have written to it already.
        history = self.ws.tables.history(table)
        commits = list(dropwhile(lambda commit: commit.version != now, history))
        newer = list(takewhile(lambda commit: commit.version != then, commits))
        is_known = len(newer) < len(commits)
        return is_known and all(map(is_maintenance, newer))

    def _tables_of(self, member: Model) -> list[TableName]:
        read = [it.model for it in member.inputs.values() if isinstance(it, Stored)]
        return [self.ws.table(member), *(self.ws.table(self.ws.model(name)) for name in read)]

    def _looks_at_all_of(self, member: Model, owner: Model) -> bool:
        """True for a model that also takes the whole table: what it makes of it is its own affair.

        Such a model is made of all rows each time.
        """
        return any(
            isinstance(it, Stored) and it.model == owner.name and not it.touched
            for it in member.inputs.values()
        )

    # --- what a key is made of -----------------------------------------------------------------

    def _keys(self, member: Model, rows: DataFrame) -> DataFrame:
        made = self._made(member, rows.columns)
        return rows.select(*(value.alias(name) for name, value in made.items())).distinct()

    def _made(self, member: Model, columns: Sequence[str]) -> dict[str, Column]:
        """Key column -> what it is made of."""
        known = {name.lower() for name in columns}
        texts = {name: member.per.sql.get(name, quoted(name)) for name in member.key}
        for name, text in texts.items():
            for column in columns_in(text):
                if column.lower() not in known:
                    raise RunFailedError(
                        f"Model '{member.name}': its key column '{name}' is made of '{column}', "
                        f"which is no column of {member.recomputed_from}."
                        f"{did_you_mean(column, columns)} Say what it is made of: "
                        f"@model(per={{'{name}': 'SQL over its columns'}}), or make the model "
                        "kind 'rebuilt' from stored tables."
                    )
        return {name: F.expr(text) for name, text in texts.items()}

    def _on_touched_days(self, member: Model, stored: DataFrame, touched: DataFrame) -> DataFrame:
        """The stored rows on the days of the touched keys, where a key column is the day."""
        destination = self.ws.destination(self._owner(member))
        name = day_in_key(member, destination, dict(stored.dtypes))
        return stored if name is None else on_days_of(stored, destination, _days_of(touched, name))

    def _owner(self, member: Model) -> Model:
        assert member.recomputed_from is not None
        return self.ws.model(member.recomputed_from)

    def _stored(self, owner: Model) -> DataFrame:
        return self.ws.tables.read(self.ws.table(owner))


def day_in_key(member: Model, source: Destination, columns: Columns) -> str | None:
    """The column of an aggregate's key that is the day of what it is made from, if one is."""
    day = source.day_column(columns)
    if day is None:
        return None
    return next(
        (
            name
            for name in member.key
            if _is_day(member.per.sql.get(name, quoted(name)), {day, source.date or day})
        ),
        None,
    )


def _is_day(text: str, columns: set[str]) -> bool:
    """True when the expression is the day of one of the columns."""
    found = re.fullmatch(
        r"(?:to_date|date)\(([^()]+)\)|cast\(([^()]+) as date\)|([^()]+)",
        text.strip(),
        re.IGNORECASE,
    )
    name = next(filter(None, found.groups()), "") if found else ""
    return name.strip().strip("`").lower() in {column.lower() for column in columns}


def _days_of(rows: DataFrame, column: str) -> tuple[DayRange, ...]:
    days = rows.select(F.to_date(column)).distinct().collect()
    return day_ranges(row[0] for row in days if row[0] is not None)
