"""Taking back what a run wrote: every commit says whose it is."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from windrow.errors import TableError
from windrow.tables import Commit, TableName, Tables

MAINTENANCE = (
    *("OPTIMIZE", "VACUUM START", "VACUUM END", "CLUSTER BY"),
    *("SET TBLPROPERTIES", "UNSET TBLPROPERTIES"),
    "replace",
)
"""Commits that change files but no rows; undoing a run may pass over them."""

MAINTAIN = "maintain"
"""What the ids of commits begin with that `windrow maintain` makes: they change no rows either."""


@dataclass(frozen=True)
class WayBack:
    """A table that a run wrote to, and what it was at before."""

    table: TableName
    version: str | None
    """None: it had no rows."""
    foreign: Commit | None = None
    """What someone else has committed since then: going back would lose it."""


@dataclass(frozen=True)
class Undone:
    """What became of the tables that a run had written to."""

    back: tuple[TableName, ...]
    """Those that are as the run found them."""
    left: tuple[TableName, ...] = ()
    """Those that could not be taken back: what they hold is right for nobody."""


def ways_back(tables: Tables, run_id: str, names: Sequence[TableName]) -> list[WayBack]:
    """For each table that the run wrote to, where it found it; looks only."""
    found = []
    for table in names:
        if not tables.exists(table):
            continue
        commits = tables.history(table)
        written = {run_id, beginning_of(run_id)}
        ours = [index for index, commit in enumerate(commits) if commit.run_id in written]
        if not ours:
            continue
        known = {*written, undoing_of(run_id)}
        newer = [c for c in commits[: max(ours)] if c.run_id not in known]
        foreign = next((c for c in newer if not is_maintenance(c)), None)
        found.append(WayBack(table, commits[max(ours)].before, foreign))
    return found


def undo(
    tables: Tables,
    run_id: str,
    names: Sequence[TableName],
    *,
    given_up: Collection[TableName] = (),
    rebuilt: Collection[TableName] = (),
) -> Undone:
    """Take every table back to where the run found it.

    A run that did not reach its manifest commit never happened: undoing it is simpler to get right
    than finishing it, because whatever comes next starts from tables that agree with the manifest.
    Whether all can be taken back is found out before the first one is. Tables that are `given_up`
    stay as they are. Those that are about to be `rebuilt` are taken back too, as that may be
    killed before it begins, but do not stand in the way if they cannot be.
    """
    ways = [way for way in ways_back(tables, run_id, names) if way.table not in given_up]
    blocked = [way for way in ways if way.foreign is not None]
    if in_the_way := [way for way in blocked if way.table not in rebuilt]:
        raise TableError(_why_blocked(run_id, in_the_way))
    left = [way.table for way in blocked]
    back = []
    # The taking back is no commit of the run: undoing it a second time must find nothing.
    with tables.commits_of(undoing_of(run_id), fence=_no_fence):
        for way in (it for it in ways if it.foreign is None):
            try:
                tables.restore(way.table, way.version)
            except TableError:
                if way.table not in rebuilt:
                    raise
                left.append(way.table)
            else:
                back.append(way.table)
    return Undone(tuple(back), tuple(left))


def _no_fence() -> None:
    """A run that lost its lease may no longer write, but must still take back what it wrote."""


def _why_blocked(run_id: str, blocked: Sequence[WayBack]) -> str:
    first = blocked[0]
    assert first.foreign is not None
    names = " ".join(way.table.name for way in blocked)
    return (
        f"{', '.join(str(way.table) for way in blocked)} was changed by something else "
        f"({first.foreign.operation}, version {first.foreign.version}) after the unfinished run "
        f"{run_id} wrote to it, so that run cannot be undone without losing the change. Rebuild "
        f"with `windrow run --full-refresh --select {names}`, or keep the rows as they are with "
        f"`windrow unlock --abandon {names}`."
    )


def beginning_of(run_id: str) -> str:
    """What commits of a run carry that prepare it: they do not decide that it happened."""
    return f"begin-{run_id}"


def undoing_of(run_id: str) -> str:
    """What commits carry that take a run back."""
    return f"undo-{run_id}"


def is_maintenance(commit: Commit) -> bool:
    """True for a commit that changed files but no rows."""
    by_us = commit.run_id is not None and commit.run_id.startswith(f"{MAINTAIN}-")
    return by_us or commit.operation in MAINTENANCE


def has_committed(tables: Tables, manifest: TableName, run_id: str) -> bool:
    """True when the run reached its manifest commit, which is what decides that it happened."""
    if not tables.exists(manifest):
        return False
    return any(commit.run_id == run_id for commit in tables.history(manifest))
