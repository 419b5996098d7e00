"""Ending the lease of a run that is dead."""

from __future__ import annotations

from collections.abc import Sequence

from windrow.engine.holding import look, settle
from windrow.engine.steps import Listener, Step, say_nothing
from windrow.engine.workspace import Workspace
from windrow.errors import LockedError, UsageError, did_you_mean
from windrow.tables import TableName


def unlock(
    ws: Workspace,
    *,
    force: bool = False,
    abandon: Sequence[str] = (),
    listener: Listener = say_nothing,
) -> str | None:
    """End the lease of a run that is dead and take back what it wrote; gives the run's id.

    A run that seems alive keeps its lease unless forced. Tables named in `abandon` stay as the
    run left them: the way on where they cannot be taken back.
    """
    given_up = [_named(ws, name) for name in abandon]
    lease = look(ws).unfinished
    if lease is None:
        return None
    if ws.leases.is_held(lease) and not force:
        raise LockedError(
            f"Run {lease.run_id} of package '{lease.package}' still seems to be going on: "
            f"{lease.holder}, last heard of within its lease, which ends at "
            f"{lease.lease_until:%H:%M:%S} UTC. If you know that it is dead, use --force."
        )
    settle(ws, listener, force=True, given_up=given_up)
    for table in given_up:
        text = (
            f"{table} keeps what run {lease.run_id} wrote, though the run does not count: rows may "
            "be doubled, half-made or missing. Rebuild it with "
            f"`windrow run --full-refresh --select {table.name}`."
        )
        listener(Step("recovery", "info", detail=text))
    return lease.run_id


def _named(ws: Workspace, name: str) -> TableName:
    """A table of the package by its name, with or without its schema, or its model's."""
    known = {table.name: table for table in (*ws.written_tables(ws.models), ws.manifest)}
    known |= {member.name: ws.table(member) for member in ws.models}
    short = name.rpartition(".")[2]
    if short not in known:
        raise UsageError(f"Package '{ws.name}' has no table '{name}'.{did_you_mean(short, known)}")
    return known[short]
