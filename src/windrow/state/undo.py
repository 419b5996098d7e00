"""Taking back what a run wrote: every commit says whose it is."""

from __future__ import annotations

from collections.abc import Sequence

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


def undo(tables: Tables, run_id: str, names: Sequence[TableName]) -> list[TableName]:
    """Take every table back to where the run found it; returns those that had changed.

    A run that did not reach its manifest commit never happened: undoing it is simpler to get right
    than finishing it, because whatever comes next starts from tables that agree with the manifest.
    """
    restored = []
    for table in names:
        if not tables.exists(table):
            continue
        commits = tables.history(table)
        written = {run_id, beginning_of(run_id)}
        ours = [index for index, commit in enumerate(commits) if commit.run_id in written]
        if not ours:
            continue
        known = {*written, f"undo-{run_id}"}
        newer = [c for c in commits[: max(ours)] if c.run_id not in known]
        foreign = [c for c in newer if not is_maintenance(c)]
        if foreign:
            raise TableError(
                f"{table} was changed by something else ({foreign[0].operation}, version "
                f"{foreign[0].version}) after the unfinished run {run_id} wrote to it, so that run "
                "cannot be undone without losing the change. Restore the table by hand or rebuild "
                "it with --full-refresh."
            )
        # The taking back is no commit of the run: undoing it a second time must find nothing.
        with tables.commits_of(f"undo-{run_id}"):
            tables.restore(table, commits[max(ours)].before)
        restored.append(table)
    return restored


def beginning_of(run_id: str) -> str:
    """What commits of a run carry that prepare it: they do not decide that it happened."""
    return f"begin-{run_id}"


def is_maintenance(commit: Commit) -> bool:
    """True for a commit that changed files but no rows."""
    by_us = commit.run_id is not None and commit.run_id.startswith(f"{MAINTAIN}-")
    return by_us or commit.operation in MAINTENANCE


def has_committed(tables: Tables, manifest: TableName, run_id: str) -> bool:
    """True when the run reached its manifest commit, which is what decides that it happened."""
    if not tables.exists(manifest):
        return False
    return any(commit.run_id == run_id for commit in tables.history(manifest))
