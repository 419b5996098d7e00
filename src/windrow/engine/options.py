"""What someone asks of a run, beside the package and the clock."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TypedDict


class RunKeywords(TypedDict, total=False):
    """The fields of `RunOptions`, as keywords of whoever takes them one by one."""

    select: str | None
    exclude: str | None
    full_refresh: bool
    refresh_manifests: bool
    check: bool
    accept_changed_options: bool


@dataclass(frozen=True)
class RunOptions:
    """What someone asks of a run."""

    select: str | None = None
    """The models to take; None: those of the option `models_to_run`, or all."""
    exclude: str | None = None
    full_refresh: bool = False
    """Empty the models' tables and begin anew."""
    refresh_manifests: bool = False
    """Begin anew, but leave rows until they are replaced."""
    check: bool = False
    """Keep nothing of a run whose rows fail a check."""
    accept_changed_options: bool = False
    """Go on although an option changed that alters what rows mean."""
    removes_models: bool = True
    """Take the models of the option `models_to_remove` out of the manifest first."""

    @property
    def is_refresh(self) -> bool:
        """True when models begin anew."""
        return self.full_refresh or self.refresh_manifests

    def once_more(self) -> RunOptions:
        """The same for the next run of the same command: what was to be done once is done."""
        return replace(self, full_refresh=False, refresh_manifests=False, removes_models=False)


PLAIN = RunOptions()
"""Nothing special: all models, from where they stood."""


def clock_of(now: datetime | None) -> datetime:
    """The run's clock: read once, UTC; a time without a zone is UTC."""
    if now is None:
        return datetime.now(UTC)
    return now.replace(tzinfo=UTC) if now.tzinfo is None else now.astimezone(UTC)
