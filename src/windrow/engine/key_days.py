"""Where keys lie: a compact table says on which of its old days a table may hold rows of a key.

A table's recent days are looked through themselves. Of its older ones `snowplow_<package>_key_days`
has a row for each key and day, the key as a short hash, so that looking for a few keys among those
of years reads a few bytes for each, and then the days that were found. A row too many costs a look
at a day in vain; a row too few would store a key twice. So rows are only ever added, and of tables
whose rows go on to later days all are made anew every eighth time. It counts for nothing where
anyone but a run of ours may have changed what it tells of. Then whole tables are looked through
once more, and it is made anew.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from windrow.columns.rules import column
from windrow.engine.holding import Seen
from windrow.engine.workspace import Workspace
from windrow.models.model import Model, Stored
from windrow.state.runs import Outcome
from windrow.tables import Columns, TableName
from windrow.tables.days import DayRange, day_ranges, on_days
from windrow.tables.frames import few, measured
from windrow.tables.sql import literal, quoted

RECENT_DAYS = 7
"""So many days at the least are looked through themselves: sessions go on, users come back."""
EVERY_DAYS = 7
"""So many days become old at a time, for one commit."""
_COMPACTED_AFTER = 8
"""So many times; then their files become one."""

_HASH_BITS = 40
"""Of a thousand million keys, a thousand others take one of them for theirs: a look in vain."""

KEY_DAYS: Columns = {
    "of": column("string", "The table, and the columns that its rows are looked up by."),
    "day": column("date", "Day on which the table may hold rows of the key."),
    "key_hash": column("bigint", f"Hash of the key, {_HASH_BITS} bits of it."),
}


@dataclass(frozen=True)
class Keyed:
    """A table, the columns that are the key, and the column that has a row's day."""

    table: TableName
    columns: tuple[str, ...]
    day: str
    moves: bool = False
    """Rows go on to later days: what is known of the days that they left is dropped at times."""

    @property
    def name(self) -> str:
        """What rows about it are found by, here and in the ledger."""
        return f"{self.table.name}({', '.join(self.columns)})"


@dataclass(frozen=True)
class Brought:
    """What a run brought into such a table, and the days on which that lies."""

    rows: DataFrame
    number: int
    """How many rows there are."""
    days: tuple[date | None, ...]


def keyed_sessions(ws: Workspace) -> Keyed:
    """The lifecycle manifest, by session."""
    return Keyed(ws.lifecycle, (ws.foundation.recorded_session,), "start_tstamp_date")


def keyed_by(ws: Workspace, member: Model, by: tuple[str, ...]) -> Keyed | None:
    """A model's table, by some of its columns; None where its rows have no day."""
    return _keyed(ws, member, by, member.columns_for(ws.settings_of(member)) or {})


def keyed_by_user(ws: Workspace, member: Model) -> Keyed | None:
    """A model's table, by user; None where its rows have no day."""
    return keyed_by(ws, member, (ws.foundation.user,))


def keyed_by_key(ws: Workspace, member: Model) -> Keyed | None:
    """A model's table, by its key; None unless a row that it replaces may be as old as the table.

    Its columns may be those that the stored rows have.
    """
    if member.keeps != "latest" or ws.settings.compat:
        return None
    columns = member.columns_for(ws.settings_of(member))
    table = ws.table(member)
    if columns is None:
        columns = ws.tables.columns(table) if ws.tables.exists(table) else {}
    keyed = _keyed(ws, member, member.key, columns)
    return None if keyed is None else replace(keyed, moves=True)


def _keyed(ws: Workspace, member: Model, by: tuple[str, ...], columns: Columns) -> Keyed | None:
    day = ws.destination(member).day_column(columns)
    if day is None or columns.get(day) != "date" or not {*by} <= {*columns}:
        return None
    return Keyed(ws.table(member), by, day)


def keyed_tables(ws: Workspace) -> list[Keyed]:
    """All that is indexed for a package."""
    sessions = [keyed_sessions(ws)] if ws.foundation.has_sessions else []
    return [*sessions, *(keyed for _, keyed in keyed_models(ws))]


def keyed_models(ws: Workspace) -> list[tuple[Model, Keyed]]:
    """The models whose stored rows are looked up, each with what it is looked up by."""
    readers = [*ws.models, *(m.amend for m in ws.models if m.amend is not None)]
    sources = [it for reader in readers for it in reader.inputs.values()]
    asked = sorted({(it.model, it.by) for it in sources if isinstance(it, Stored) and it.by})
    found = [
        *((member, keyed_by_user(ws, member)) for member in models_by_user(ws)),
        *((ws.model(name), keyed_by(ws, ws.model(name), (column,))) for name, column in asked),
        *((member, keyed_by_key(ws, member)) for member in ws.models),
    ]
    return [(member, keyed) for member, keyed in found if keyed is not None]


def models_by_user(ws: Workspace) -> list[Model]:
    """The models whose stored rows are looked up by user, days apart.

    Sessions, the users made of them, and whatever else a model reads the users' rows of.
    """
    user = (ws.foundation.user,)
    sources = [it for member in ws.models for it in member.inputs.values()]
    read = {it.model for it in sources if isinstance(it, Stored) and it.of_users}
    return [
        member
        for member in ws.models
        if member is ws.sessions_model
        or "visits" in member.inputs.values()
        or (member.name in read and member.key != user)
    ]


@dataclass(frozen=True)
class KeyDays:
    """What a run knows of where keys lie, and what it adds to that."""

    ws: Workspace
    known: Mapping[str, date]
    """What is indexed -> the day up to which it is."""
    answers: dict[tuple[str, int], tuple[DataFrame, tuple[DayRange, ...]]] = field(
        default_factory=dict
    )
    """What was looked up so far."""

    @classmethod
    def seen(cls, ws: Workspace, seen: Seen, emptied: Collection[TableName] = ()) -> KeyDays:
        """What the ledger tells, as far as the tables are as a run of ours left them."""

        def is_as_left(table: TableName) -> bool:
            return seen.version_of(table) == ws.tables.version(table)

        noted = _noted(seen)
        if not noted or not is_as_left(ws.key_days):
            return cls(ws, {})
        known = {
            keyed.name: noted[keyed.name]
            for keyed in keyed_tables(ws)
            if keyed.name in noted and keyed.table not in emptied and is_as_left(keyed.table)
        }
        return cls(ws, known)

    @property
    def table(self) -> TableName:
        """Where the keys' days lie."""
        return self.ws.key_days

    def covers(self, keyed: Keyed | None) -> bool:
        """Whether it is known where a table's keys lie."""
        return keyed is not None and keyed.name in self.known

    def bound(
        self,
        keyed: Keyed,
        keys: DataFrame,
        by: Sequence[str],
        also: Iterable[DayRange] = (),
        *,
        at_most: int,
    ) -> str:
        """A condition on the days of all stored rows with one of the keys, and `also` on others.

        `by`: what the keys' frame calls the key's columns; `at_most`: so many keys there are.
        """
        ranges = (*self.days_of(keyed, keys, by, at_most=at_most), *also)
        return on_days(keyed.day, ranges, or_null=True)

    def days_of(
        self, keyed: Keyed, keys: DataFrame, by: Sequence[str], *, at_most: int
    ) -> tuple[DayRange, ...]:
        """The days of all stored rows with one of the keys, and on others."""
        recent = DayRange(self.known[keyed.name], date.max)
        return (*self._old_days(keyed, keys, by, at_most), recent)

    def _old_days(
        self, keyed: Keyed, keys: DataFrame, by: Sequence[str], at_most: int
    ) -> tuple[DayRange, ...]:
        """The old days on which rows with one of the keys may lie; looked up once for a frame."""
        asked = (keyed.name, id(keys))
        if asked not in self.answers:
            hashes = keys.select(_hash(by).alias("key_hash")).distinct()
            found = self._rows(keyed).join(few(hashes, at_most), "key_hash", how="left_semi")
            days = found.agg(F.collect_set("day")).collect()[0][0]
            # With the frame, so that no other one gets its identity.
            self.answers[asked] = (keys, day_ranges(days))
        return self.answers[asked][1]

    def brought_up_to(
        self, newest: date, brought: Mapping[Keyed, Brought | None]
    ) -> dict[str, date]:
        """Add what a run brought, and days that have become old; what is indexed, and up to where.

        `newest`: the day up to which the run's window reaches; of what it brought, None says that
        nobody knows.
        """
        noted, old = dict(self.known), newest - timedelta(days=RECENT_DAYS)
        is_tidied = (old.toordinal() // EVERY_DAYS) % _COMPACTED_AFTER == 0
        anew: dict[str, DataFrame] = {}
        added: list[DataFrame] = []
        for keyed, rows in brought.items():
            until = self.known.get(keyed.name)
            if rows is None:
                noted.pop(keyed.name, None)
                continue
            if until is not None and any(day is not None and day < until for day in rows.days):
                added += self._missing(keyed, rows, until)
            if not self._is_due(keyed, until, old):
                continue
            stored = self.ws.tables.read(keyed.table).where(F.col(keyed.day) < F.lit(old))
            if until is None or (keyed.moves and is_tidied):
                anew[keyed.name] = _entries(stored, keyed)
            else:
                added.append(_entries(stored.where(F.col(keyed.day) >= F.lit(until)), keyed))
            noted[keyed.name] = old
        self._write(anew, added)
        if noted != self.known and is_tidied:
            self.ws.tables.compact(self.table)
        return noted

    def _missing(self, keyed: Keyed, brought: Brought, until: date) -> list[DataFrame]:
        """Keys that the run brought to old days, unless they are known to lie there, or none."""
        on_old_days = brought.rows.where(F.col(keyed.day) < F.lit(until))
        new = _entries(on_old_days, keyed)
        same = ["key_hash", "day"]
        sought = few(new.select(*same), brought.number)
        there = self._rows(keyed).join(sought, same, how="left_semi")
        missing, found = measured(
            new.join(there.select(*same), same, how="left_anti"), {"rows": F.count(F.lit(1))}
        )
        return [missing] if found["rows"] else []

    def _is_due(self, keyed: Keyed, until: date | None, old: date) -> bool:
        """Whether enough days have become old by now to be written down."""
        since = self.ws.settings.start_date if until is None else until
        return (old - since).days >= EVERY_DAYS and self.ws.tables.exists(keyed.table)

    def _write(self, anew: Mapping[str, DataFrame], added: Sequence[DataFrame]) -> None:
        """All that is made anew in one commit, and all that is added in another."""
        tables = self.ws.tables
        if anew:
            tables.create(self.table, KEY_DAYS, partition_by=("of",))
            names = ", ".join(literal(name) for name in anew)
            rows = reduce(DataFrame.unionByName, anew.values())
            tables.rewrite(self.table, f"of in ({names})", lambda _: rows)
        if added:
            tables.append(self.table, reduce(DataFrame.unionByName, added))

    def _rows(self, keyed: Keyed) -> DataFrame:
        return self.ws.tables.read(self.table).where(F.col("of") == keyed.name)


def _entries(rows: DataFrame, keyed: Keyed) -> DataFrame:
    """The rows' keys and days as they are stored, each once; in an order that takes up least."""
    entries = rows.select(
        F.lit(keyed.name).alias("of"),
        F.col(keyed.day).alias("day"),
        _hash(keyed.columns).alias("key_hash"),
    )
    return entries.distinct().sortWithinPartitions("day", "key_hash")


def _hash(columns: Iterable[str]) -> Column:
    hashed = F.xxhash64(*(F.col(quoted(name)).cast("string") for name in columns))
    return hashed.bitwiseAND(F.lit((1 << _HASH_BITS) - 1))


def _noted(seen: Seen) -> dict[str, date]:
    """What the last run noted, unless rows were taken back or changed since."""
    for run in seen.newest_runs:
        if run.outcome in (Outcome.ROLLED_BACK, Outcome.REFRESHED) or run.left_behind:
            return {}
        if run.outcome.is_kept:
            return dict(run.key_days)
    return {}
