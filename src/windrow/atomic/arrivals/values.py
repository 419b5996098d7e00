"""What is asked of the history of a source."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from pyspark.sql import DataFrame

from windrow.errors import SourceError
from windrow.tables.refusals import reason_of


@dataclass(frozen=True)
class Arrived:
    """What was added to the source between two of its versions."""

    rows: DataFrame | None = None
    """Stored rows, all from before a moment among them; None: there are none such."""
    notice: str | None = None
    """Why not all of it can be told, if that is so."""


class History(Protocol):
    """Which rows the source had when."""

    def version(self, known: str | None = None) -> str | None:
        """What the source is at now, at least the `known`; None while it has never had a row."""
        ...

    def since(self, version: str, *, until: str, before: datetime) -> Arrived:
        """What commits added after a version, and may hold events from before a moment.

        A commit that rewrites rows, as an upkeep or a deletion does, adds none.
        """
        ...


def unreadable(error: Exception) -> SourceError:
    """The format refuses to tell its history."""
    return SourceError(
        f"The history of the events cannot be read: {reason_of(error)} events.new_by: commit "
        "needs it."
    )


def lost(why: str) -> Arrived:
    """Nothing can be told."""
    return Arrived(notice=f"{why} {FALLS_BACK}")


FALLS_BACK = (
    "Of what was committed there, collector time decides: events from before the look-back were "
    "not looked for. `windrow rerun --from DAY --to DAY` takes in a past window again."
)
