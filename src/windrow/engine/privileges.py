"""What a run must be allowed on a target, in the words of docs/privileges.md, and whether it is.

`attempts` really tries, on a table of its own. `refuse_unwritable` is what every run asks first: it
costs nothing on a local disk that can be written to, and else tries where there is doubt.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from uuid import uuid4

from pyspark.sql import functions as F

from windrow.engine.workspace import Workspace
from windrow.errors import TableError, WindrowError
from windrow.models.model import Model
from windrow.tables import TableName

TRIED = ("create", "write", "alter", "read", "drop")


@dataclass(frozen=True)
class Attempt:
    """One privilege, and why it is missing; None: it is there."""

    verb: str
    schema: str
    problem: str | None

    @property
    def privilege(self) -> str:
        """In words: `create tables in schema derived`."""
        return privilege(self.verb, self.schema)


def privilege(verb: str, schema: str) -> str:
    """A privilege in words: `create tables in schema derived`."""
    return f"{verb} tables in schema {schema}"


def attempts(ws: Workspace, schema: str) -> Iterator[Attempt]:
    """Try each privilege on a schema, and leave no trace. Without a table the others cannot be."""
    table = TableName(schema, f"windrow_doctor_{uuid4().hex[:8]}")
    folder = ws.tables.folder(schema)
    is_new = folder is not None and not folder.exists()
    try:
        for verb in TRIED:
            attempt = Attempt(verb, schema, _problem(_try(ws, verb, table)))
            yield attempt
            if verb == "create" and attempt.problem:
                return
    finally:
        # A drop that fails was reported as missing.
        with suppress(WindrowError):
            ws.tables.drop(table)
        if is_new and folder is not None:
            _remove_if_empty(folder)


def _try(ws: Workspace, verb: str, table: TableName) -> Callable[[], object]:
    tables = ws.tables
    row = ws.spark.range(1).select(F.col("id").alias("number"))
    actions: dict[str, Callable[[], object]] = {
        "create": partial(tables.create, table, {"number": "bigint"}),
        "write": partial(tables.append, table, row),
        "alter": partial(tables.add_columns, table, {"added": "string"}),
        "read": lambda: tables.read(table).count(),
        "drop": partial(tables.drop, table),
    }
    return actions[verb]


def _problem(action: Callable[[], object]) -> str | None:
    try:
        action()
    # Whatever a cluster or an object store answers is what is to be found out.
    except Exception as error:
        lines = str(error).strip().splitlines() or ["no reason given"]
        kind = "" if isinstance(error, WindrowError) else f"{type(error).__name__}: "
        return kind + lines[0]
    return None


def _remove_if_empty(folder: Path) -> None:
    if folder.exists() and not any(folder.iterdir()):
        folder.rmdir()


def written_schemas(ws: Workspace) -> list[str]:
    """The schemas that runs of a package write to."""
    scratch = [ws.schemas.scratch] if ws.settings.keep_this_run else []
    return list(dict.fromkeys([ws.schemas.manifest, ws.schemas.derived, *scratch]))


def is_needed(ws: Workspace, attempt: Attempt) -> bool:
    """Whether runs do that there: they drop tables in scratch alone, and alter those elsewhere."""
    match attempt.verb:
        case "drop":
            return attempt.schema == ws.schemas.scratch
        case "alter":
            return attempt.schema in (ws.schemas.manifest, ws.schemas.derived)
    return True


def refuse_unwritable(ws: Workspace, models: Sequence[Model]) -> None:
    """Stop, before anything is written, where a run cannot write what it will have to."""
    tables = [ws.table(member) for member in models]
    for schema in written_schemas(ws):
        folder = ws.tables.folder(schema)
        if folder is not None:
            _refuse_unwritable_tables(folder, [t for t in tables if t.schema == schema])
        is_doubtful = _is_new(ws) if folder is None else not _is_writable(_nearest(folder))
        if is_doubtful:
            _refuse_missing(ws, attempts(ws, schema))


def _is_new(ws: Workspace) -> bool:
    return not any(ws.tables.exists(table) for table in (ws.runs.table, ws.leases.table))


def _refuse_missing(ws: Workspace, tried: Iterator[Attempt]) -> None:
    # All of them first: the table that they are tried on goes when the last one is.
    for attempt in list(tried):
        # A run comes to need a drop only when columns of a kept table change.
        if attempt.problem and attempt.verb != "drop" and is_needed(ws, attempt):
            raise TableError(_missing(attempt.privilege, attempt.problem))


def _refuse_unwritable_tables(folder: Path, tables: Sequence[TableName]) -> None:
    for table in tables:
        place = folder / table.name
        if place.exists() and not _is_writable(place):
            reason = f"{place} cannot be written to."
            raise TableError(_missing(privilege("write", table.schema), reason))


def _missing(privilege: str, reason: str) -> str:
    return (
        f"The run may not {privilege}: {reason} Nothing was written. docs/privileges.md lists what "
        "a run needs; `windrow doctor` tries each of it."
    )


def _nearest(folder: Path) -> Path:
    """The folder, or the nearest one above it that is there."""
    return next(place for place in (folder, *folder.parents) if place.exists())


def _is_writable(folder: Path) -> bool:
    return folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)
