"""What Delta and Iceberg do alike: all but names, history, restore, drop and upkeep of files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from threading import RLock
from typing import ClassVar
from uuid import uuid4

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.utils import is_remote

from windrow.errors import TableError
from windrow.tables import sql
from windrow.tables.fitting import refuse_unknown, with_columns
from windrow.tables.place import Place
from windrow.tables.refusals import REFUSALS, is_missing, refusals
from windrow.tables.seam import (
    DELETED,
    Columns,
    Commit,
    Compaction,
    Expiry,
    Layout,
    TableName,
    TableNote,
)

KEY = "windrow.key"
"""The table property that names the columns of the key, as hexadecimal digits.

Spark hides properties that look like secrets or addresses, such as a column called page_url.
"""
COLUMNS = "windrow.columns"
"""The same for the columns that we made."""
NEW_KEY = "windrow.new-key"
"""The key for as long as a run counts that may be undone, whose id stands behind an @.

Not every format takes properties back with the rows: it counts while a commit of the run does.
"""

_PARTITIONS: dict[str, frozenset[str]] = {}
"""Identifier -> partition columns. Asking takes a query, and nobody but us changes them.

Should someone do so all the same, what is written here is refused, or slower, but not wrong.
"""

_SECONDS_TO_WAIT = 20
"""How long a commit waits for another one of this process."""


class SqlTables(ABC):
    """Tables that Spark SQL reaches under a name; a format says how it names and tags them."""

    format: ClassVar[str]
    run_id_setting: ClassVar[str]

    def __init__(
        self, spark: SparkSession, *, warehouse: str | None = None, catalog: str | None = None
    ) -> None:
        self.spark = spark
        self.place = Place.of(warehouse=warehouse, catalog=catalog)
        self._fence: Callable[[], None] | None = None
        self._committed: dict[TableName, str | None] = {}
        """Tables that were committed to -> what that brought them to, where it is known."""
        self._commits = 0
        self._one_at_a_time = RLock()

    def folder(self, schema: str) -> Path | None:
        if is_remote() or not str(self.spark.conf.get("spark.master", "")).startswith("local"):
            return None
        return self.place.folder(schema)

    @abstractmethod
    def identifier(self, table: TableName) -> str: ...

    @abstractmethod
    def version(self, table: TableName) -> str | None: ...

    @abstractmethod
    def history(self, table: TableName, *, newest: int | None = None) -> list[Commit]: ...

    @abstractmethod
    def restore(self, table: TableName, version: str | None) -> None: ...

    @abstractmethod
    def drop(self, table: TableName) -> None: ...

    @abstractmethod
    def layout(self, table: TableName) -> Layout: ...

    @abstractmethod
    def change_layout(self, table: TableName, layout: Layout) -> None: ...

    @abstractmethod
    def retype(self, table: TableName, columns: Columns) -> None: ...

    @abstractmethod
    def recast(self, table: TableName, columns: Columns) -> None: ...

    @abstractmethod
    def compact(self, table: TableName) -> Compaction: ...

    @abstractmethod
    def expire(self, table: TableName, older_than: datetime, *, delete: bool) -> Expiry: ...

    def exists(self, table: TableName) -> bool:
        with refusals(table, "look for"):
            try:
                return self.spark.catalog.tableExists(self.identifier(table))
            except REFUSALS as error:
                # Delta raises where others answer False.
                if is_missing(error):
                    return False
                raise

    @abstractmethod
    def names(self, schema: str) -> list[str]: ...

    def names_in_catalog(self, catalog: str, schema: str) -> list[str]:
        """The tables of a catalog's schema, without views of the session."""
        place = f"{sql.quoted(catalog)}.{sql.quoted(sql.check_name(schema))}"
        with refusals(TableName(schema, "*"), "list the tables of"):
            try:
                rows = self.spark.sql(f"show tables in {place}").collect()
            except REFUSALS as error:
                if is_missing(error):
                    return []
                raise
        return sorted(row["tableName"] for row in rows if not row["isTemporary"])

    def columns(self, table: TableName) -> dict[str, str]:
        fields = self.read(table).schema.fields
        return {field.name: field.dataType.simpleString() for field in fields}

    def read(self, table: TableName, *, version: str | None = None) -> DataFrame:
        return self.frame(table, version, "read")

    def frame(self, table: TableName, version: str | None, doing: str) -> DataFrame:
        """The table's rows, for an operation that a refusal shall name."""
        reader = self.spark.read
        if version is not None:
            reader = reader.option("versionAsOf", number(table, version))
        with refusals(table, doing):
            rows = reader.table(self.identifier(table))
            # A Spark Connect client only looks for the table when asked for its schema.
            _ = rows.schema
        return rows

    def create(
        self,
        table: TableName,
        columns: Columns,
        *,
        key: Sequence[str] = (),
        partition_by: Sequence[str] = (),
        cluster_by: Sequence[str] = (),
    ) -> None:
        if self.exists(table):
            return
        layout = Layout(tuple(partition_by), tuple(cluster_by))
        self.forget_partitions(table)
        properties = {KEY: _encode(key), COLUMNS: _encode(list(columns))} if key else {}
        try:
            with self.writing(table, "create"):
                self.create_schema(table.schema)
                for text in self.statements_to_create(table, columns, layout, properties):
                    self.spark.sql(text)
        except TableError:
            # Whoever created it in the meantime did what was asked for.
            if not self.exists(table):
                raise

    @abstractmethod
    def statements_to_create(
        self, table: TableName, columns: Columns, layout: Layout, properties: Mapping[str, str]
    ) -> list[str]:
        """The SQL that makes the empty table, with the format's own properties beside these."""

    @abstractmethod
    def create_schema(self, schema: str) -> None:
        """Create the schema unless it exists."""

    def note(self, table: TableName) -> TableNote:
        properties = self.properties(table)
        columns = frozenset(_decode(properties.get(COLUMNS, "")))
        key, _, run_id = properties.get(NEW_KEY, "").partition("@")
        if run_id and any(commit.run_id == run_id for commit in self.history(table)):
            return TableNote(_decode(key), is_final=False, columns=columns)
        return TableNote(_decode(properties.get(KEY, "")), columns=columns)

    def note_columns(self, table: TableName, columns: Iterable[str]) -> None:
        self.set_properties(table, {COLUMNS: _encode(list(columns))})

    def note_key(self, table: TableName, key: Sequence[str]) -> None:
        run_id = self.spark.conf.get(self.run_id_setting, "")
        before = _encode(self.note(table).key)
        self.set_properties(table, {KEY: before, NEW_KEY: f"{_encode(key)}@{run_id}"})

    def set_key(self, table: TableName, key: Sequence[str]) -> None:
        self.set_properties(table, {KEY: _encode(key), NEW_KEY: ""})

    def set_properties(self, table: TableName, properties: Mapping[str, str]) -> None:
        """Note something in the table."""
        pairs = ", ".join(f"{sql.literal(k)} = {sql.literal(v)}" for k, v in properties.items())
        with self.writing(table, "alter"):
            self.spark.sql(f"alter table {self.identifier(table)} set tblproperties ({pairs})")

    def properties(self, table: TableName) -> dict[str, str]:
        """The table's properties, ours and the format's."""
        with refusals(table, "look at"):
            rows = self.spark.sql(f"show tblproperties {self.identifier(table)}").collect()
        return {row["key"]: row["value"] for row in rows}

    def add_columns(self, table: TableName, columns: Columns) -> None:
        with self.writing(table, "add columns to"):
            self.spark.sql(sql.add_columns(self.identifier(table), columns))

    def append(self, table: TableName, rows: DataFrame, *, days: int | None = None) -> None:
        fitting = self.fit_rows(table, rows, days=days)
        with self.writing(table, "append to"):
            fitting.writeTo(self.identifier(table)).append()

    def overwrite(self, table: TableName, rows: DataFrame) -> None:
        fitting = self.fit_rows(table, rows)
        with self.writing(table, "overwrite"):
            fitting.writeTo(self.identifier(table)).overwrite(F.lit(True))

    def rewrite(
        self,
        table: TableName,
        where: str,
        rows: Callable[[DataFrame], DataFrame],
        *,
        days: int | None = None,
    ) -> None:
        version = self.version(table)
        stored = self.read(table, version=version)
        fitting = self.fit_rows(table, rows(stored.where(where)), days=days)
        writer = fitting.writeTo(self.identifier(table)).options(**self.options_to_rewrite(version))
        with self.writing(table, "overwrite"):
            writer.overwrite(F.expr(where))
        self.refuse_if_changed_since(table, version)

    def options_to_rewrite(self, version: str | None) -> dict[str, str]:
        """What a writer is told, so that rows which have changed since a version are not lost."""
        return {}

    def refuse_if_changed_since(  # noqa: B027  # A format may refuse by itself.
        self, table: TableName, version: str | None
    ) -> None:
        """Take our commit back if another came between it and the version that was read."""

    def update(self, table: TableName, values: Mapping[str, str], where: str) -> int | None:
        pairs = ", ".join(f"{sql.quoted(name)} = {value}" for name, value in values.items())
        with self.writing(table, "update"):
            told = self.spark.sql(f"update {self.identifier(table)} set {pairs} where {where}")
            return next((int(row["num_affected_rows"]) for row in told.collect()), None)

    def committed(self, table: TableName) -> str | None:
        return self._committed.get(table)

    def written(self) -> dict[TableName, str]:
        unknown = [table for table, at in self._committed.items() if at is None]
        for table, at in self.versions(unknown).items():
            self._committed[table] = at
        return {table: at for table, at in self._committed.items() if at is not None}

    @abstractmethod
    def versions(self, tables: Sequence[TableName]) -> dict[TableName, str]:
        """What these tables, which exist, are at now; without those that were never written to."""

    def merge(
        self,
        table: TableName,
        changes: DataFrame,
        *,
        key: Sequence[str],
        bound: str | None = None,
        insert: bool = True,
        update: bool = True,
        nulls_match: bool = False,
    ) -> None:
        names = [c for c in changes.columns if c != DELETED]
        if not key or not set(key) <= set(names):
            raise TableError(
                f"Could not merge into {table}: expected a key of columns {names}, got {list(key)}."
            )
        try:
            with self.writing(table, "merge into"), _view(changes) as source:
                text = sql.merge(
                    self.identifier(table),
                    source,
                    names,
                    key=key,
                    bound=bound,
                    has_tombstones=DELETED in changes.columns,
                    insert=insert,
                    update=update,
                    nulls_match=nulls_match,
                )
                self.spark.sql(text)
        except TableError:
            # Looked at only now, as loading the table's columns first would slow every merge down.
            refuse_unknown(table, names, self.columns(table))
            raise

    @contextmanager
    def commits_of(self, run_id: str, fence: Callable[[], None] | None = None) -> Iterator[None]:
        outer, self._fence = self._fence, fence or self._fence
        if outer is None:
            self._committed = {}
        try:
            with self.setting(self.run_id_setting, run_id):
                yield
        finally:
            self._fence = outer

    @contextmanager
    def writing(self, table: TableName, doing: str) -> Iterator[None]:
        """A commit is made inside: not beyond the fence, and refusals name the table."""
        if self._fence is not None:
            self._fence()
        with self._noted(table), refusals(table, doing):
            yield
        # A process may have stood still inside: what it then wrote must be taken back.
        if self._fence is not None:
            self._fence()

    @contextmanager
    def _noted(self, table: TableName) -> Iterator[None]:
        """Note what a commit brings the table to, if the format tells and no other came between.

        Renewing a lease must not wait for a long write: what cannot have the lock goes without, and
        then nobody knows whose commit the format told of last.
        """
        is_alone = self._one_at_a_time.acquire(timeout=_SECONDS_TO_WAIT)
        self._commits += 1
        before = self._commits
        self.forget_last_commit()
        try:
            yield
            is_known = is_alone and self._commits == before
            self._committed[table] = self.last_commit() if is_known else None
        finally:
            if is_alone:
                self._one_at_a_time.release()

    def forget_last_commit(self) -> None:  # noqa: B027  # Not every format tells.
        """A commit is about to be made, or perhaps none, if nothing changes."""

    def last_commit(self) -> str | None:
        """What the commit just made brought its table to, where the format tells."""
        return None

    @contextmanager
    def setting(self, name: str, value: str) -> Iterator[None]:
        """A setting of the session, for as long as the block runs."""
        before = self.spark.conf.get(name, None)
        self.spark.conf.set(name, value)
        try:
            yield
        finally:
            if before is None:
                self.spark.conf.unset(name)
            else:
                self.spark.conf.set(name, before)

    def partitions(self, table: TableName) -> frozenset[str]:
        name = self.identifier(table)
        if name not in _PARTITIONS:
            try:
                with refusals(table, "read"):
                    stored = self.spark.catalog.listColumns(name)
                found = frozenset(it.name for it in stored if it.isPartition)
            except TableError:
                # Spark has no words for partitions by what a function makes of a column.
                found = frozenset()
            _PARTITIONS[name] = found
        return _PARTITIONS[name]

    def forget_partitions(self, table: TableName) -> None:
        """The table is about to be made, or laid out anew."""
        _PARTITIONS.pop(self.identifier(table), None)

    def fit_rows(self, table: TableName, rows: DataFrame, *, days: int | None = None) -> DataFrame:
        """The rows with all of the table's columns, in its order; `days` as of `append`."""
        return with_columns(table, rows, self.columns(table))


def _encode(key: Sequence[str]) -> str:
    return ",".join(key).encode().hex()


def _decode(text: str) -> tuple[str, ...]:
    return tuple(name for name in bytes.fromhex(text).decode().split(",") if name)


def number(table: TableName, version: str) -> int:
    """The version as the number both formats use; anything else must not reach SQL."""
    try:
        return int(version)
    except ValueError:
        raise TableError(f"{table} has no version {version!r}: expected a number.") from None


def count(metrics: Mapping[str, str], *names: str) -> int | None:
    """The first of the named metrics that the commit has."""
    return next((int(metrics[name]) for name in names if name in metrics), None)


@contextmanager
def _view(changes: DataFrame) -> Iterator[str]:
    """The frame under a name of its own, for as long as a statement needs it."""
    name = f"windrow_{uuid4().hex}"
    changes.createTempView(name)
    try:
        yield name
    finally:
        changes.sparkSession.catalog.dropTempView(name)
