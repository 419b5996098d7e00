"""Who holds a package, and what it intends.

Whoever writes a package's tables takes its lease first. The row stays when the run ends: a lease
whose run is in the ledger is free. One whose holder is gone, and whose run is not in the ledger, is
of a run that was killed, and its intent says what must be taken back or finished.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from windrow.errors import LockedError, TableError
from windrow.state.fence import Fence
from windrow.state.holder import Holder
from windrow.state.records import (
    frame_of_record,
    part_of,
    prepare_table,
    records_in,
    sql_of_record,
    stored_as,
)
from windrow.tables import ConflictError, TableName, Tables, sql

_TRIES = 8
_FIRST_WAIT_SECONDS = 0.1
"""Doubled after each try: packages that start together are through after a few seconds."""

_NOBODY = Holder("", 0)
"""Whose the lease of a package is that has never been run."""


class Kind(StrEnum):
    """What someone takes a lease for."""

    RUN = "run"
    RERUN = "rerun"
    REFRESH = "refresh"
    ROLLBACK = "rollback"
    QUARANTINE = "quarantine"
    MAINTAIN = "maintain"
    ADOPT = "adopt"


@dataclass(frozen=True)
class Intent:
    """What is about to be done: enough to take it back, or to finish it, without whoever began."""

    kind: Kind = stored_as(
        "string",
        "What is done: `run`, `rerun`, `refresh`, `rollback`, `quarantine`, `maintain` or `adopt`.",
        default=Kind.RUN,
        read=Kind,
    )
    state: str | None = stored_as(
        "string",
        "State that a run found: `first_run`, `new_model`, `out_of_sync` or `standard`.",
        default=None,
    )
    lower_limit: datetime | None = stored_as(
        "timestamp", "Begin of the window that a run intends.", default=None
    )
    upper_limit: datetime | None = stored_as(
        "timestamp", "End of the window that a run intends.", default=None
    )
    models: tuple[str, ...] = stored_as(
        "string",
        "Models that a run intends, separated by blanks.",
        default=(),
        read=lambda text: tuple(text.split()),
        write=" ".join,
    )
    goes_back_before: str | None = stored_as(
        "string", "The run before which a rollback goes back.", default=None
    )
    restores: dict[str, str | None] = stored_as(
        "map<string,string>",
        "Table -> the version that a rollback takes it back to; null: no rows.",
        default_factory=dict,
        read=dict,
    )
    kept_since: datetime | None = stored_as(
        "timestamp",
        "Set by an upkeep that deletes: versions before this moment go.",
        default=None,
    )


@dataclass(frozen=True)
class Lease:
    """Who holds a package, since when, and what for. Each field is a column of `windrow_leases`."""

    package: str = stored_as("string", "Package that the lease is on.")
    run_id: str = stored_as(
        "string", "Id of the run that took the lease last; empty before the first."
    )
    holder: Holder = part_of(Holder)
    started_at: datetime = stored_as("timestamp", "When the run began, by the wall clock.")
    lease_until: datetime = stored_as(
        "timestamp", "When the lease lapses unless the run renews it."
    )
    intent: Intent = part_of(Intent, default=Intent())


class Leases:
    """The leases of one target: a row for each package."""

    def __init__(
        self,
        spark: SparkSession,
        tables: Tables,
        schema: str,
        *,
        holder: Holder | None = None,
        wall_clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._spark = spark
        self._tables = tables
        self.table = TableName(schema, "windrow_leases")
        self._holder = holder or Holder.this_process()
        self._wall_clock = wall_clock
        self._stored_at: dict[str, str | None] = {}
        """Run -> what its lease's commit brought the table to, where the format tells."""

    def prepare(self) -> None:
        """Make the table unless it exists."""
        prepare_table(self._tables, self.table, Lease)

    def last(self, package: str) -> Lease | None:
        """The package's lease as it was taken last, whether its run has ended or not."""
        rows = self.rows_of(package)
        return None if rows is None else next(iter(records_in(rows, Lease)), None)

    def rows_of(self, package: str) -> DataFrame | None:
        """The package's row, if there is one; None before the first run of any package."""
        if not self._tables.exists(self.table):
            return None
        return self._tables.read(self.table).where(F.col("package") == package)

    def is_held(self, lease: Lease) -> bool:
        """True while the run of an unfinished lease may still be going on."""
        if lease.holder.is_gone(seen_from=self._holder):
            return False
        return lease.lease_until > self._wall_clock()

    def is_ours(self, lease: Lease) -> bool:
        """False when another run has taken the lease over meanwhile, or someone ended it.

        Where nobody has written since, there is no need to read.
        """
        stored_at = self._stored_at.get(lease.run_id)
        if stored_at is not None and self._tables.version(self.table) == stored_at:
            return True
        rows = self._tables.read(self.table).where(F.col("package") == lease.package)
        found = {(it.run_id, it.holder) for it in records_in(rows, Lease)}
        return found == {(lease.run_id, self._holder)}

    def take(
        self,
        package: str,
        run_id: str,
        intent: Intent,
        minutes: float,
        *,
        after: Lease | None,
        began: datetime | None = None,
    ) -> Lease:
        """Take the lease, unless someone else has since `after`, the last lease that was seen."""
        now = self._wall_clock()
        until = now + timedelta(minutes=minutes)
        lease = Lease(package, run_id, self._holder, began or now, until, intent)
        self._replace(after, lease)
        return lease

    def take_over(self, lease: Lease, minutes: float) -> Lease:
        """Become the holder of a dead run's lease, so that nobody else takes that run back too."""
        until = self._wall_clock() + timedelta(minutes=minutes)
        ours = replace(lease, holder=self._holder, lease_until=until)
        self._replace(lease, ours)
        return ours

    def release(self, lease: Lease) -> None:
        """Let go of a lease whose run could not be ended: whoever comes next takes it back."""
        self._store(replace(lease, lease_until=self._wall_clock()), instead_of=lease)

    @contextmanager
    def kept(self, lease: Lease, minutes: float) -> Iterator[Fence]:
        """Renew the lease in the background while the block runs; the fence says if that fails."""

        def renew() -> datetime:
            until = self._wall_clock() + timedelta(minutes=minutes)
            if not self._store(replace(lease, lease_until=until), instead_of=lease):
                raise LockedError(_why_lost(lease))
            return until

        def is_ours() -> bool:
            return self.is_ours(lease)

        fence = Fence(_why_lost(lease), lease.lease_until, self._wall_clock, is_ours)
        with fence.renewed_by(renew, every_seconds=minutes * 60 / 3):
            yield fence

    def _replace(self, before: Lease | None, lease: Lease) -> None:
        """Put a lease in the place of the one that was seen; stop if that is no longer there.

        All packages share the table. A conflict with another one's lease is tried again.
        """
        seen = before or Lease(lease.package, "", _NOBODY, lease.started_at, lease.started_at)
        wait = _FIRST_WAIT_SECONDS
        for _ in range(_TRIES):
            try:
                if before is None:
                    self._place(seen)
                if self._store(lease, instead_of=seen):
                    return
            except ConflictError:
                # Lost against whoever was quicker, of this package or of another one.
                pass
            if _is_other(self.last(lease.package), seen):
                raise LockedError(
                    f"Another run of package '{lease.package}' started at the same moment. "
                    "Try again later."
                )
            time.sleep(wait * random.uniform(0.5, 1.5))
            wait *= 2
        raise LockedError(
            f"The lease on package '{lease.package}' could not be taken: other packages keep "
            f"changing {self.table}. Try again later."
        )

    def _place(self, nobodys: Lease) -> None:
        """Make a row that rivals can contend for, unless the package has one."""
        row = frame_of_record(self._spark, nobodys)
        self._tables.merge(self.table, row, key=["package"], update=False)

    def _store(self, lease: Lease, *, instead_of: Lease) -> bool:
        """Write the package's lease in the place of another one, if that is there; tells if so."""
        run_id, token = _literal(instead_of.run_id), _literal(instead_of.holder.token)
        package = sql.literal(lease.package)
        where = f"package = {package} and run_id = {run_id} and coalesce(token, '') = {token}"
        stored = self._tables.update(self.table, sql_of_record(lease), where)
        if stored is None:
            return self.is_ours(lease)
        self._stored_at[lease.run_id] = self._tables.committed(self.table) if stored == 1 else None
        return stored == 1


def _is_other(found: Lease | None, expected: Lease) -> bool:
    if found is None:
        # Not there yet: making it met with a conflict.
        return False
    return (found.run_id, found.holder.token) != (expected.run_id, expected.holder.token)


def _why_lost(lease: Lease) -> str:
    return (
        f"Run {lease.run_id} lost its lease on package '{lease.package}': another run may have "
        "taken it for dead. Raise lease_minutes if runs stand still for that long."
    )


def _literal(text: str) -> str:
    """An id as a SQL literal; ours hold letters, digits and hyphens only."""
    if not re.fullmatch(r"[A-Za-z0-9-]*", text):
        raise TableError(f"The leases hold an id that is none: {text!r}.")
    return f"'{text}'"
