"""The one place where errors of Spark and the table formats become ours."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import unquote

from pyspark.errors import PySparkException

from windrow.errors import SourceError, TableError
from windrow.tables.missing_jars import needed_jar
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

MISSING = {
    *("DELTA_MISSING_DELTA_TABLE", "PATH_NOT_FOUND", "TABLE_OR_VIEW_NOT_FOUND"),
    "SCHEMA_NOT_FOUND",
}

NO_NAMESPACE = "NoSuchNamespaceException"
"""What Iceberg raises, as it is, where Spark would say that there is no such schema."""

_UNREADABLE = re.compile(
    r"\[FAILED_READ_FILE\.\w+\] Encountered error while reading file (.+?)\.\s"
)
_DENIED = re.compile(r"permission denied|access ?denied|not authorized|forbidden", re.IGNORECASE)
_CAUSE = re.compile(r"^Caused by: (?:[\w$]+\.)*([\w$]+(?:: .+)?)$", re.MULTILINE)


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
        file = unreadable_file(error)
        if file is not None and f"/{table.schema}/{table.name}/" not in file:
            raise _unreadable(file, error) from error
        raise TableError(f"Could not {doing} {table}: {reason_of(error)}") from error


@contextmanager
def unreadable_files() -> Iterator[None]:
    """Turn Spark's errors about a file that it cannot read into a SourceError that names the file.

    Frames are lazy: a broken file among the events is met wherever something is computed first.
    """
    try:
        yield
    except REFUSALS as error:
        file = unreadable_file(error)
        if file is None:
            raise
        raise _unreadable(file, error) from error


def _unreadable(file: str, error: Exception) -> SourceError:
    return SourceError(
        f"The file {file} cannot be read: {reason_of(error)} Put a whole copy in its place, or "
        "take it away from the events, and run again."
    )


def unreadable_file(error: Exception) -> str | None:
    """The file that Spark says it cannot read: broken, cut short, or gone."""
    found = _UNREADABLE.search(str(error))
    return None if found is None else re.sub("^file:/+", "/", unquote(found[1]))


def is_missing(error: Exception) -> bool:
    """Whether Spark says that there is no such table or schema."""
    if isinstance(error, PySparkException) and error.getCondition() in MISSING:
        return True
    return NO_NAMESPACE in str(error)


def reason_of(error: Exception) -> str:
    """The line that says why; of a task that failed, what made it fail; the jar that is lacking.

    That something is not allowed is said by the database or the store, below all the others.

    A py4j message begins with a line about the call itself.
    """
    text = str(error)
    needed = needed_jar(text)
    if needed:
        return needed
    causes = _CAUSE.findall(text)
    denied = [cause for cause in causes if _DENIED.search(cause)]
    if denied:
        return f"{denied[-1].rstrip('.')}."
    if causes and ("Job aborted" in text or _UNREADABLE.search(text)):
        return f"{causes[-1].rstrip('.')}."
    lines = [line.strip(" :") for line in text.splitlines() if line.strip()]
    if not isinstance(error, PySparkException) and len(lines) > 1:
        lines = lines[1:]
    return lines[0] if lines else type(error).__name__
