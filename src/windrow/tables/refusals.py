"""The one place where errors of Spark and the table formats become ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.errors import PySparkException

from windrow.errors import TableError
from windrow.tables.seam import ConflictError, GoneVersionError, TableName

REFUSALS: tuple[type[Exception], ...] = (PySparkException,)
try:
    # py4j ships no types.
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
except ImportError:  # pragma: no cover - a Spark Connect client has no py4j
    pass
else:
    # Exceptions of Delta and Iceberg that PySpark does not know arrive as plain py4j ones.
    REFUSALS += (Py4JError,)

# Parts of the formats' own messages when another writer was quicker. Delta's concurrency
# exceptions carry these error classes; Iceberg only has messages.
CONFLICTS = (
    "DELTA_CONCURRENT_",
    "DELTA_METADATA_CHANGED",
    "DELTA_PROTOCOL_CHANGED",
    "CommitFailedException",
    "Found conflicting",
    "Missing required files to delete",
    "found new delete",
)

GONE = ("DELTA_VERSION_NOT_FOUND", "Cannot find snapshot with ID", "Cannot find a snapshot")
"""Parts of the formats' messages when a version is asked for that was cleaned up."""

MISSING = {"DELTA_MISSING_DELTA_TABLE", "PATH_NOT_FOUND", "TABLE_OR_VIEW_NOT_FOUND"}


@contextmanager
def refusals(table: TableName, doing: str) -> Iterator[None]:
    """Turn refusals inside into a TableError, or a ConflictError, that names the table.

    with refusals(table, "merge into"):
        spark.sql(text)
    """
    try:
        yield
    except REFUSALS as error:
        if any(part in str(error) for part in CONFLICTS):
            raise ConflictError(
                f"Could not {doing} {table}: another writer changed it at the same time "
                f"({reason_of(error)}). Nothing was written; try again."
            ) from error
        if any(part in str(error) for part in GONE):
            raise GoneVersionError(f"Could not {doing} {table}: {reason_of(error)}") from error
        raise TableError(f"Could not {doing} {table}: {reason_of(error)}") from error


def is_missing(error: Exception) -> bool:
    """Whether Spark says that there is no such table."""
    return isinstance(error, PySparkException) and error.getCondition() in MISSING


def reason_of(error: Exception) -> str:
    """The line that says why; a py4j message begins with a line about the call itself."""
    lines = [line.strip(" :") for line in str(error).splitlines() if line.strip()]
    if not isinstance(error, PySparkException) and len(lines) > 1:
        lines = lines[1:]
    return lines[0] if lines else type(error).__name__
