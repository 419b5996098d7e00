"""The seam between windrow and a table format: all that the engine asks of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from pyspark.sql import DataFrame

from windrow.errors import TableError
from windrow.tables.days import DayRange

Columns = Mapping[str, str]
"""Column name -> Spark SQL type, in table order, e.g. {"session_id": "string"}.

A type that carries a rule, column("string", "Id of the session."), gives its column a comment.
"""

DELETED = "__deleted"
"""Boolean column of a frame of changes: true on a tombstone, whose key must leave the table."""


class ConflictError(TableError):
    """Another writer changed the table at the same time; nothing was written, so try again."""


class GoneVersionError(TableError):
    """A version of a table has been cleaned up, so it cannot be read any more."""


@dataclass(frozen=True, order=True)
class TableName:
    """A table by schema and name, before a target gives it a place."""

    schema: str
    name: str

    def __str__(self) -> str:
        return f"{self.schema}.{self.name}"


@dataclass(frozen=True)
class Commit:
    """One commit of a table: its version (Delta version or Iceberg snapshot id) and who made it."""

    version: str
    run_id: str | None
    operation: str
    before: str | None = None
    """The version that the commit was made on; None when it made the table or its first rows."""
    rows_inserted: int | None = None
    rows_updated: int | None = None
    rows_deleted: int | None = None
    bytes_added: int | None = None
    """The size of the data files that it wrote; None where the format does not tell."""
    files_added: int | None = None
    """How many those are."""


@dataclass(frozen=True)
class FileSizes:
    """Some data files, and their size."""

    files: int
    bytes: int

    def __add__(self, other: FileSizes) -> FileSizes:
        return FileSizes(self.files + other.files, self.bytes + other.bytes)


@dataclass(frozen=True)
class Layout:
    """How a table's rows are laid out: keys are columns or, on Iceberg, transforms of columns."""

    partition_by: tuple[str, ...] = ()
    """Sorted: the order of partitions means nothing."""
    cluster_by: tuple[str, ...] = ()
    """Clustering columns of Delta, the sort order of writes on Iceberg."""


@dataclass(frozen=True)
class Compaction:
    """How many files a table's rows lay in, and lie in now."""

    files_before: int
    files_after: int


@dataclass(frozen=True)
class Expiry:
    """What went, or would go: files that no kept version needs, or whole old versions."""

    count: int
    unit: str
    """`file` or `version`."""
    is_more: bool = False
    """True when the format stopped counting there."""


@dataclass(frozen=True)
class TableNote:
    """What a table was told of itself."""

    key: tuple[str, ...] = ()
    """The columns that tell its rows apart; empty when it was not told."""
    is_final: bool = True
    """False: a run noted the key that could still be undone then."""
    columns: frozenset[str] = frozenset()
    """The columns that we made; empty when it was not told."""


class Tables(Protocol):
    """The tables of one target.

    Every method that writes rows makes exactly one commit. Those that only move rows to other
    files (`change_layout`, `compact`, `expire`) may make several; no reader sees other rows.
    """

    @property
    def format(self) -> str:
        """`delta` or `iceberg`."""
        ...

    def identifier(self, table: TableName) -> str:
        """The quoted name under which Spark SQL finds the table."""
        ...

    def folder(self, schema: str) -> Path | None:
        """The schema's folder, when it is one of this machine; None when it lies elsewhere."""
        ...

    def exists(self, table: TableName) -> bool: ...

    def names(self, schema: str) -> list[str]:
        """The names of the tables that a schema has, sorted; none where there is no such schema."""
        ...

    def columns(self, table: TableName) -> dict[str, str]:
        """The stored columns, name -> Spark SQL type, in table order."""
        ...

    def read(self, table: TableName, *, version: str | None = None) -> DataFrame:
        """The table's rows, now or as of a version."""
        ...

    def create(
        self,
        table: TableName,
        columns: Columns,
        *,
        key: Sequence[str] = (),
        partition_by: Sequence[str] = (),
        cluster_by: Sequence[str] = (),
    ) -> None:
        """Create an empty table unless it exists; the columns' rules become their comments."""
        ...

    def note(self, table: TableName) -> TableNote:
        """What the table was told of itself."""
        ...

    def note_columns(self, table: TableName, columns: Iterable[str]) -> None:
        """Note which columns we made, so that it shows if someone drops one."""
        ...

    def note_key(self, table: TableName, key: Sequence[str]) -> None:
        """Note other columns, for as long as the commits of this run count."""
        ...

    def set_key(self, table: TableName, key: Sequence[str]) -> None:
        """Note in the table, for good, which columns tell its rows apart."""
        ...

    def add_columns(self, table: TableName, columns: Columns) -> None:
        """Append columns, with comments, to the table; in the rows stored before they are null."""
        ...

    def retype(self, table: TableName, columns: Columns) -> None:
        """Give columns of a table without rows other types, in one commit or none."""
        ...

    def recast(self, table: TableName, columns: Columns) -> None:
        """Write all rows anew, some of their columns as other types, in one commit."""
        ...

    def append(self, table: TableName, rows: DataFrame, *, days: int | None = None) -> None:
        """Add rows, matched by column name.

        `days`: in how many partitions they lie, at most; None: nobody knows.
        """
        ...

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
        """Upsert rows by key; rows of `changes` with DELETED true remove their key instead.

        `changes` has the table's columns, or some of them (the others are left as they are on
        update and null on insert), and may have DELETED. `bound` is a SQL condition on the
        target's columns, written with the alias `t`, that is true for every stored row whose key
        is in `changes`: it prunes the files that are read. A null key never matches, unless
        `nulls_match`: then it matches another one. Without `insert`, rows that match nothing are
        left out; without `update`, rows that match something.
        """
        ...

    def overwrite(self, table: TableName, rows: DataFrame) -> None:
        """Replace all rows in one commit."""
        ...

    def rewrite(
        self,
        table: TableName,
        where: str,
        rows: Callable[[DataFrame], DataFrame],
        *,
        days: int | None = None,
    ) -> None:
        """Put `rows`, made from the stored rows under a condition, in their place, in one commit.

        The condition covers whole partitions, and the new rows too. Should another writer change
        these rows at the same time, one of the two is refused.
        """
        ...

    def update(self, table: TableName, values: Mapping[str, str], where: str) -> int | None:
        """Set columns of the rows under a condition to SQL expressions.

        Gives the number of rows; None where the format does not tell.
        """
        ...

    def committed(self, table: TableName) -> str | None:
        """What our last commit brought the table to, where the format tells without being asked."""
        ...

    def written(self) -> dict[TableName, str]:
        """What the tables are at that were committed to since `commits_of` was entered."""
        ...

    def version(self, table: TableName) -> str | None:
        """What the table is at now; None when it does not exist or nothing was committed yet."""
        ...

    def history(self, table: TableName, *, newest: int | None = None) -> list[Commit]:
        """The commits behind the table's present rows, newest first; of the `newest` so many.

        What `restore` took back is left out, on both formats: a run whose id is here has written
        rows that count. It reaches back to the commit that last emptied the table, or to the
        oldest one that the format still keeps.
        """
        ...

    def restore(self, table: TableName, version: str | None) -> None:
        """Take the table's rows back to a version; None means before its first commit: no rows."""
        ...

    def drop(self, table: TableName) -> None: ...

    def files_on(
        self, table: TableName, column: str | None, days: Sequence[DayRange]
    ) -> FileSizes | None:
        """The data files that can hold rows whose day is one of these; without a column, all.

        As the format's own lists have them: nothing of the files is read, unless there is no other
        way to tell. None: it cannot be told.
        """
        ...

    def layout(self, table: TableName) -> Layout:
        """How the table is laid out now."""
        ...

    def partitions(self, table: TableName) -> frozenset[str]:
        """The columns whose values are the table's partitions; asked for without a query."""
        ...

    def change_layout(self, table: TableName, layout: Layout) -> None:
        """Lay all rows out anew; columns, comments, properties and rows stay."""
        ...

    def compact(self, table: TableName) -> Compaction:
        """Bring small files together, in the table's layout."""
        ...

    def expire(self, table: TableName, older_than: datetime, *, delete: bool) -> Expiry:
        """Give up what only versions need that were replaced before a moment.

        Whatever the table was at any moment since then can still be read and restored. Without
        `delete`, only says what would go.
        """
        ...

    @contextmanager
    def commits_of(self, run_id: str, fence: Callable[[], None] | None = None) -> Iterator[None]:
        """Commits made inside carry the run id, so that `history` can tell whose they are.

        `fence` is called before and after each of them, and raises when it must not be made;
        without one, that of a block around this one holds.
        """
        ...
