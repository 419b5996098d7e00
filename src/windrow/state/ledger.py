"""The run ledger: who holds a package, what it intended, and how every run ended.

A run takes the package's lease, in whose row stands what it intends. It ends by adding a row to
the ledger; a lease whose run is in the ledger is free. A lease whose holder is gone, and whose run
is not in the ledger, is a run that was killed: the next run undoes it (undo.py) before its own.
"""

from __future__ import annotations

import os
import platform
import re
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any, cast

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from windrow.columns.rules import column
from windrow.columns.timestamps import from_micros, micros, sql_text
from windrow.errors import LockedError, TableError
from windrow.state.limits import Limits
from windrow.tables import Columns, ConflictError, TableName, Tables
from windrow.tables.days import DayRange
from windrow.tables.frames import frame_of

LEASES: Columns = {
    "package": column("string", "Package that the lease is on."),
    "run_id": column("string", "Id of the run that took the lease last; empty before the first."),
    "holder": column("string", "Process of that run, in words."),
    "host": column("string", "Host on which the process runs."),
    "pid": column("bigint", "Number of the process on its host."),
    "started_at": column("timestamp", "When the run took the lease, by the wall clock."),
    "lease_until": column("timestamp", "When the lease lapses unless the run renews it."),
    "state": column(
        "string",
        "State that the run found: `first_run`, `new_model`, `out_of_sync` or `standard`; "
        "null with a full refresh.",
    ),
    "lower_limit": column(
        "timestamp", "Begin of the window that the run intends; null with a full refresh."
    ),
    "upper_limit": column(
        "timestamp", "End of the window that the run intends; null with a full refresh."
    ),
    "models": column("string", "Models that the run intends, separated by blanks."),
}

LEDGER: Columns = {
    "run_id": column("string", "Id of the run."),
    "package": column("string", "Package that was run."),
    "outcome": column("string", "How it ended: `succeeded`, `failed`, `undone` or `rolled_back`."),
    "state": column(
        "string",
        "State that it found: `first_run`, `new_model`, `out_of_sync` or `standard`; or `rerun`.",
    ),
    "lower_limit": column("timestamp", "Begin of the window of collector time."),
    "upper_limit": column("timestamp", "End of the window of collector time."),
    "reached": column("timestamp", "Greatest collector time that was consumed."),
    "clock": column("timestamp", "The run's clock, which `--now` can set; null if it was killed."),
    "started_at": column("timestamp", "When the run began, by the wall clock."),
    "finished_at": column("timestamp", "When the run was recorded as ended, by the wall clock."),
    "models": column(
        "array<struct<name:string,outcome:string,rows:bigint,seconds:double,error:string>>",
        "How each model fared: rows, seconds, and why it failed or was skipped.",
    ),
    "counts": column("map<string,bigint>", "What was counted on the way, such as `events`."),
    "table_versions": column(
        "map<string,string>", "Table -> the version that it was at after the run."
    ),
    "settings_fingerprint": column(
        "string", "Digest of the options that decide what the tables hold."
    ),
    "error": column("string", "Why the run did not come to its own end; null if it did."),
    "rerun_from": column("timestamp", "Begin of the past window that was asked for, if one was."),
    "rerun_to": column("timestamp", "End of the past window that was asked for, if one was."),
    "written_days": column(
        "map<string,array<struct<first:date,last:date>>>",
        "Table -> the days on which the rows that the run wrote lie.",
    ),
    "kept_since": column(
        "timestamp", "Set by an upkeep that deleted: versions before this moment are gone."
    ),
}


@dataclass(frozen=True)
class Holder:
    """The process that holds a lease."""

    host: str
    pid: int

    @staticmethod
    def this_process() -> Holder:
        """Us."""
        return Holder(platform.node(), os.getpid())

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}"

    def is_gone(self, *, seen_from: Holder) -> bool:
        """True when the process is known to have ended: only its own host can tell."""
        if self.host != seen_from.host or self == seen_from:
            return False
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return True
        except PermissionError:
            return False
        return False


@dataclass(frozen=True)
class ModelOutcome:
    """How one model fared in a run."""

    name: str
    outcome: str
    rows: int | None = None
    seconds: float = 0.0
    error: str | None = None


@dataclass(frozen=True)
class RunRecord:
    """One finished run, as the ledger keeps it."""

    run_id: str
    package: str
    outcome: str
    started_at: datetime
    finished_at: datetime
    clock: datetime | None = None
    state: str | None = None
    lower_limit: datetime | None = None
    upper_limit: datetime | None = None
    reached: datetime | None = None
    models: tuple[ModelOutcome, ...] = ()
    counts: dict[str, int] = field(default_factory=dict)
    table_versions: dict[str, str] = field(default_factory=dict)
    settings_fingerprint: str | None = None
    error: str | None = None
    rerun_from: datetime | None = None
    rerun_to: datetime | None = None
    written_days: dict[str, tuple[DayRange, ...]] = field(default_factory=dict)
    """Table -> the days on which the rows that the run wrote lie, for tables that have days."""
    kept_since: datetime | None = None
    """Set by an upkeep that deleted: what tables were at before this moment is gone."""


@dataclass(frozen=True)
class Lease:
    """Who holds a package, since when, and what the run intends."""

    package: str
    run_id: str
    holder: Holder
    started_at: datetime
    lease_until: datetime
    state: str | None = None
    lower_limit: datetime | None = None
    upper_limit: datetime | None = None
    models: tuple[str, ...] = ()


class Ledger:
    """The ledger and the leases of one target."""

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
        self._runs = TableName(schema, "windrow_runs")
        self._leases = TableName(schema, "windrow_leases")
        self._holder = holder or Holder.this_process()
        self._wall_clock = wall_clock

    @property
    def tables(self) -> tuple[TableName, ...]:
        """The ledger's own tables."""
        return self._runs, self._leases

    # --- reading -----------------------------------------------------------------------------

    def last_runs(self, package: str, count: int) -> list[RunRecord]:
        """The newest finished runs, newest first."""
        if not self._tables.exists(self._runs):
            return []
        rows = self._tables.read(self._runs).where(F.col("package") == package)
        return _newest(rows, count)

    def last_kept_run(self, package: str) -> RunRecord | None:
        """The newest run whose rows are in the tables: one that was neither undone nor rejected."""
        if not self._tables.exists(self._runs):
            return None
        is_kept = F.col("outcome").isin("succeeded", "failed")
        rows = self._tables.read(self._runs).where((F.col("package") == package) & is_kept)
        return next(iter(_newest(rows, 1)), None)

    def version_at_last_success(self, package: str, model: str, table: TableName) -> str | None:
        """What a table was at when a model last succeeded; None when no run says so."""
        if not self._tables.exists(self._runs):
            return None
        succeeded = F.exists(
            "models", lambda it: (it["name"] == model) & (it["outcome"] == "succeeded")
        )
        runs = self._tables.read(self._runs).where((F.col("package") == package) & succeeded)
        versions = F.max_by(F.col("table_versions")[str(table)], "started_at")
        return cast("str | None", runs.select(versions).collect()[0][0])

    def lease(self, package: str) -> Lease | None:
        """The lease of a run that has not ended, whether its process still lives or not."""
        if not self._tables.exists(self._leases):
            return None
        leases = self._tables.read(self._leases).where(F.col("package") == package)
        rows = _plain_times(leases).collect()
        if not rows or not rows[0]["run_id"] or self._has_ended(package, rows[0]["run_id"]):
            return None
        return _lease(rows[0])

    def is_held(self, lease: Lease) -> bool:
        """True while the lease's run may still be going on."""
        if lease.holder.is_gone(seen_from=self._holder):
            return False
        return lease.lease_until > self._wall_clock()

    def _has_ended(self, package: str, run_id: str) -> bool:
        if not self._tables.exists(self._runs):
            return False
        runs = self._tables.read(self._runs)
        found = runs.where((F.col("package") == package) & (F.col("run_id") == run_id))
        return bool(found.limit(1).count())

    # --- taking, keeping and ending ------------------------------------------------------------

    def prepare(self) -> None:
        """Create the two tables unless they exist; a ledger made before a column was gets it."""
        self._tables.create(self._leases, LEASES)
        self._tables.create(self._runs, LEDGER, partition_by=["package"])
        if missing := self._missing_columns():
            try:
                self._tables.add_columns(self._runs, missing)
            except TableError:
                # Whoever added them in the meantime did what was asked for.
                if self._missing_columns():
                    raise

    def _missing_columns(self) -> Columns:
        known = self._tables.columns(self._runs)
        return {name: kind for name, kind in LEDGER.items() if name not in known}

    def refuse_if_held(self, package: str) -> Lease | None:
        """Stop if another run holds the package; give back the lease of a killed run, if any."""
        lease = self.lease(package)
        if lease is not None and self.is_held(lease):
            raise LockedError(
                f"Package '{package}' is being run by {lease.holder} since "
                f"{lease.started_at:%Y-%m-%d %H:%M:%S} UTC (run {lease.run_id}). Wait for it to "
                f"finish; if it is dead, its lease ends at {lease.lease_until:%H:%M:%S} UTC, or "
                f"`windrow unlock` ends it now."
            )
        return lease

    def take(
        self,
        package: str,
        run_id: str,
        limits: Limits | None,
        models: Sequence[str],
        minutes: int,
        *,
        state: str | None = None,
    ) -> Lease:
        """Take the lease and state the intent, in a commit that only one of two rivals can make."""
        now = self._wall_clock()
        held_by = self._last_holder(package)
        lease = Lease(
            package=package,
            run_id=run_id,
            holder=self._holder,
            started_at=now,
            lease_until=now + timedelta(minutes=minutes),
            state=limits.state.value if limits else state,
            lower_limit=limits.lower if limits else None,
            upper_limit=limits.upper if limits else None,
            models=tuple(models),
        )
        # Compare and set: of two runs that saw the same last holder, one finds it replaced.
        with suppress(ConflictError):
            self._store(lease, instead_of=held_by)
        if not self.is_ours(lease):
            raise LockedError(
                f"Another run of package '{package}' started at the same moment. Try again later."
            )
        return lease

    def take_over(self, lease: Lease, minutes: int) -> None:
        """Make this process the holder of a dead run's lease, whose run can then be ended."""
        until = self._wall_clock() + timedelta(minutes=minutes)
        ours = replace(lease, holder=self._holder, lease_until=until)
        self._store(ours, instead_of=lease.run_id)

    def _last_holder(self, package: str) -> str:
        """The run that held the lease last, ended or not; its row is made if there is none."""
        leases = self._tables.read(self._leases).where(F.col("package") == package)
        rows = leases.select("run_id").collect()
        if rows:
            return str(rows[0]["run_id"])
        nobody = Lease(package, "", self._holder, self._wall_clock(), self._wall_clock())
        with suppress(ConflictError):
            self._store(nobody)
        return ""

    def renew(self, lease: Lease, minutes: int) -> None:
        """Keep a lease for so many minutes from now."""
        until = self._wall_clock() + timedelta(minutes=minutes)
        self._store(replace(lease, lease_until=until), instead_of=lease.run_id)

    @contextmanager
    def kept(self, lease: Lease, minutes: int) -> Iterator[None]:
        """Renew the lease in the background for as long as the block runs."""
        done = threading.Event()

        def keep() -> None:
            while not done.wait(minutes * 60 / 3):
                # A renewal that fails is tried again; the lease outlives two failures.
                with suppress(TableError):
                    self.renew(lease, minutes)

        thread = threading.Thread(target=keep, name="windrow-lease", daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()

    def is_ours(self, lease: Lease) -> bool:
        """False when another run has taken the lease over meanwhile, or someone ended it."""
        leases = self._tables.read(self._leases).where(F.col("package") == lease.package)
        found = [tuple(row) for row in leases.select("run_id", "host", "pid").collect()]
        return found == [(lease.run_id, self._holder.host, self._holder.pid)]

    def end(self, record: RunRecord) -> None:
        """Add the run to the ledger, which also frees its lease."""
        self._tables.append(self._runs, self._ledger_row(record))

    def _store(self, lease: Lease, *, instead_of: str | None = None) -> None:
        """Write the package's lease row, or, given a run, only replace that run's."""
        row = (
            lease.package,
            lease.run_id,
            str(lease.holder),
            lease.holder.host,
            lease.holder.pid,
            *(_text(moment) for moment in (lease.started_at, lease.lease_until)),
            lease.state,
            *(_text(moment) for moment in (lease.lower_limit, lease.upper_limit)),
            " ".join(lease.models),
        )
        bound = None if instead_of is None else f"t.run_id = {_run_id_literal(instead_of)}"
        self._tables.merge(
            self._leases,
            frame_of(self._spark, [row], LEASES),
            key=["package"],
            bound=bound,
            insert=instead_of is None,
        )

    def _ledger_row(self, record: RunRecord) -> DataFrame:
        models = [asdict(outcome) for outcome in record.models]
        written = record.written_days
        row = (
            record.run_id,
            record.package,
            record.outcome,
            record.state,
            *(
                _text(moment)
                for moment in (
                    record.lower_limit,
                    record.upper_limit,
                    record.reached,
                    record.clock,
                    record.started_at,
                    record.finished_at,
                )
            ),
            models,
            record.counts,
            record.table_versions,
            record.settings_fingerprint,
            record.error,
            *(_text(moment) for moment in (record.rerun_from, record.rerun_to)),
            {table: [_days(days) for days in ranges] for table, ranges in written.items()},
            _text(record.kept_since),
        )
        return frame_of(self._spark, [row], LEDGER)


def new_run_id(now: datetime) -> str:
    """An id that sorts by time and is unique."""
    return f"{now:%Y%m%dT%H%M%S}-{uuid.uuid4().hex[:8]}"


def _run_id_literal(text: str) -> str:
    """A run id as a SQL literal; ours hold letters, digits and hyphens only."""
    if not re.fullmatch(r"[A-Za-z0-9-]*", text):
        raise TableError(f"The leases hold a run id that is none: {text!r}.")
    return f"'{text}'"


def _text(moment: datetime | None) -> str | None:
    return None if moment is None else sql_text(moment)


def _plain_times(frame: DataFrame) -> DataFrame:
    return frame.select(
        *(
            micros(F.col(name)).alias(name) if kind == "timestamp" else F.col(name)
            for name, kind in frame.dtypes
        )
    )


def _instant(number: int) -> datetime:
    moment = from_micros(number)
    assert moment is not None
    return moment


def _lease(row: Row) -> Lease:
    return Lease(
        package=row["package"],
        run_id=row["run_id"],
        holder=Holder(row["host"], row["pid"]),
        started_at=_instant(row["started_at"]),
        lease_until=_instant(row["lease_until"]),
        state=row["state"],
        lower_limit=from_micros(row["lower_limit"]),
        upper_limit=from_micros(row["upper_limit"]),
        models=tuple((row["models"] or "").split()),
    )


def _newest(runs: DataFrame, count: int) -> list[RunRecord]:
    newest = runs.orderBy(F.desc("started_at"), F.desc("finished_at")).limit(count)
    return [_record(row) for row in _plain_times(newest).collect()]


def _record(stored: Row) -> RunRecord:
    # Ledgers made by earlier versions do not have all columns.
    row: dict[str, Any] = dict.fromkeys(LEDGER) | stored.asDict()
    return RunRecord(
        run_id=row["run_id"],
        package=row["package"],
        outcome=row["outcome"],
        started_at=_instant(row["started_at"]),
        finished_at=_instant(row["finished_at"]),
        clock=from_micros(row["clock"]),
        state=row["state"],
        lower_limit=from_micros(row["lower_limit"]),
        upper_limit=from_micros(row["upper_limit"]),
        reached=from_micros(row["reached"]),
        models=tuple(ModelOutcome(*member) for member in row["models"] or ()),
        counts=dict(row["counts"] or {}),
        table_versions=dict(row["table_versions"] or {}),
        settings_fingerprint=row["settings_fingerprint"],
        error=row["error"],
        rerun_from=from_micros(row["rerun_from"]),
        rerun_to=from_micros(row["rerun_to"]),
        written_days=_written_days(row["written_days"]),
        kept_since=from_micros(row["kept_since"]),
    )


def _days(days: DayRange) -> dict[str, str]:
    return {"first": days.first.isoformat(), "last": days.last.isoformat()}


def _written_days(
    found: Mapping[str, Sequence[tuple[date, date]]] | None,
) -> dict[str, tuple[DayRange, ...]]:
    return {
        table: tuple(DayRange(first, last) for first, last in ranges)
        for table, ranges in (found or {}).items()
    }
