"""Those who are told of every run that begins and ends: lineage, say.

A watcher is no part of the run: what it raises is told as a step, and the run goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from windrow.engine.steps import Listener, Step
from windrow.errors import in_one_line
from windrow.models.model import Model
from windrow.state.runs import RunRecord
from windrow.tables import TableName, Tables


@dataclass(frozen=True)
class Begun:
    """A run that holds its package and has begun."""

    run_id: str
    package: str
    lower_limit: datetime
    upper_limit: datetime
    models: tuple[Model, ...]
    stored: Mapping[str, TableName]
    """Name of a model's table -> where it is; models that are only computed have none."""
    tables: Tables


class Watcher(Protocol):
    """Someone who wants to know of runs."""

    def began(self, run: Begun) -> None:
        """The run has begun."""

    def ended(self, run: Begun, record: RunRecord) -> None:
        """It came to its end, and the ledger has it: its rows are stored, or were rejected."""

    def broke_off(self, run: Begun, error: BaseException) -> None:
        """It was stopped, or could not go on; what it wrote is taken back."""


@contextmanager
def watched(
    watchers: Sequence[Watcher], run: Begun, listener: Listener
) -> Iterator[Callable[[RunRecord | None], None]]:
    """While the block runs, so does the run. Call what it gives with what the ledger was told."""

    def tell(what: Callable[[Watcher], None]) -> None:
        for watcher in watchers:
            try:
                what(watcher)
            except Exception as error:
                detail = f"{type(watcher).__name__} was not told: {in_one_line(error)}"
                listener(Step("watcher", "info", detail=detail))

    def end(record: RunRecord | None) -> None:
        if record is not None:
            tell(lambda it: it.ended(run, record))

    tell(lambda it: it.began(run))
    try:
        yield end
    except BaseException as error:
        stopped_by = error
        tell(lambda it: it.broke_off(run, stopped_by))
        raise
