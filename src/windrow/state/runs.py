"""The run ledger: how every run ended."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import cast

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from windrow.errors import TableError
from windrow.state.records import frame_of_record, prepare_table, records_in, stored_as
from windrow.tables import TableName, Tables
from windrow.tables.days import DayRange

_NEWEST = 20
COMPACTED_EVERY = 25
"""So many runs leave so many files in the ledger; then they become one."""
_KEPT_FOR = timedelta(days=7)


class Outcome(StrEnum):
    """How a run ended."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    """A model did; the others went on."""
    REJECTED = "rejected"
    """A check did; nothing was kept."""
    NOTHING_TO_DO = "nothing_to_do"
    """It read nothing and wrote nothing, so the ledger does not have it."""
    UNDONE = "undone"
    """It was stopped or killed, and what it wrote was taken back."""
    ROLLED_BACK = "rolled_back"
    """Not a run of models: earlier runs were taken back."""
    EDITED = "edited"
    """Not a run of models: someone put sessions into the quarantine, or took them out."""
    REFRESHED = "refreshed"
    """Not a run of models: manifests were made anew, one by one."""
    MAINTAINED = "maintained"
    """Not a run of models: the tables' files were looked after."""
    ADOPTED = "adopted"
    """Not a run of models: tables of the SQL package were taken over."""
    STOPPED = "stopped"
    """An upkeep that did not come to its end."""

    @property
    def is_kept(self) -> bool:
        """True when the run's rows are in the tables."""
        return self in (Outcome.SUCCEEDED, Outcome.FAILED)


class ModelFate(StrEnum):
    """How a model fared in a run."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    SKIPPED = "skipped"
    """It reads one that failed."""


@dataclass(frozen=True)
class ModelOutcome:
    """How one model fared in a run."""

    name: str
    outcome: ModelFate
    rows: int | None = None
    seconds: float = 0.0
    error: str | None = None


@dataclass(frozen=True)
class FailedCheck:
    """A check of a run that did not pass, and how many rows offend."""

    table: str
    check: str
    severity: str
    failures: int


def _failed_checks(found: Sequence[Sequence[object]]) -> tuple[FailedCheck, ...]:
    return tuple(FailedCheck(*it) for it in found)  # type: ignore[arg-type]  # a struct


def _model_outcomes(found: Sequence[Sequence[object]]) -> tuple[ModelOutcome, ...]:
    return tuple(
        ModelOutcome(str(name), ModelFate(str(fate)), *rest)  # type: ignore[arg-type]  # a struct
        for name, fate, *rest in found
    )


def _days_by_table(
    found: Mapping[str, Sequence[tuple[date, date]]],
) -> dict[str, tuple[DayRange, ...]]:
    return {
        table: tuple(DayRange(first, last) for first, last in ranges)
        for table, ranges in found.items()
    }


@dataclass(frozen=True, kw_only=True)
class RunRecord:
    """One finished run, as the ledger keeps it. Each field is a column of `windrow_runs`."""

    run_id: str = stored_as("string", "Id of the run.")
    package: str = stored_as("string", "Package that was run.")
    outcome: Outcome = stored_as(
        "string",
        "How it ended: `succeeded`, `failed` (a model did), `rejected` (a check did), `undone`, "
        "`rolled_back`, `edited` (the quarantine), `refreshed` (manifests), `maintained`, "
        "`adopted`, or `stopped` (an upkeep).",
        read=Outcome,
    )
    state: str | None = stored_as(
        "string",
        "State that it found: `first_run`, `new_model`, `out_of_sync` or `standard`; or `rerun`; "
        "or `late` (events that were loaded late).",
        default=None,
    )
    lower_limit: datetime | None = stored_as(
        "timestamp", "Begin of the window of collector time.", default=None
    )
    upper_limit: datetime | None = stored_as(
        "timestamp", "End of the window of collector time.", default=None
    )
    reached: datetime | None = stored_as(
        "timestamp", "Greatest collector time that was consumed.", default=None
    )
    clock: datetime | None = stored_as(
        "timestamp", "The run's clock, which `--now` can set; null if it was killed.", default=None
    )
    started_at: datetime = stored_as("timestamp", "When the run began, by the wall clock.")
    finished_at: datetime = stored_as(
        "timestamp", "When the run was recorded as ended, by the wall clock."
    )
    models: tuple[ModelOutcome, ...] = stored_as(
        "array<struct<name:string,outcome:string,rows:bigint,seconds:double,error:string>>",
        "How each model fared: rows, seconds, and why it failed or was skipped.",
        default=(),
        read=_model_outcomes,
    )
    counts: dict[str, int] = stored_as(
        "map<string,bigint>",
        "What was counted on the way, such as `events`.",
        default_factory=dict,
        read=dict,
    )
    table_versions: dict[str, str] = stored_as(
        "map<string,string>",
        "Table -> the version that it was at after the run.",
        default_factory=dict,
        read=dict,
    )
    settings_fingerprint: str | None = stored_as(
        "string", "Digest of the options that decide what the tables hold.", default=None
    )
    error: str | None = stored_as(
        "string", "Why the run did not come to its own end; null if it did.", default=None
    )
    left_behind: tuple[str, ...] = stored_as(
        "array<string>",
        "Tables that could not be taken back when the run was undone; they have to be rebuilt.",
        default=(),
        read=tuple,
    )
    rerun_from: datetime | None = stored_as(
        "timestamp", "Begin of the past window that was asked for, if one was.", default=None
    )
    rerun_to: datetime | None = stored_as(
        "timestamp", "End of the past window that was asked for, if one was.", default=None
    )
    written_days: dict[str, tuple[DayRange, ...]] = stored_as(
        "map<string,array<struct<first:date,last:date>>>",
        "Table -> the days on which the rows that the run wrote lie.",
        default_factory=dict,
        read=_days_by_table,
    )
    kept_since: datetime | None = stored_as(
        "timestamp",
        "Set by an upkeep that deleted: versions before this moment are gone.",
        default=None,
    )
    seen_events: str | None = stored_as(
        "string",
        "The events that the next run finds in its look-back if none is added: of each hour their "
        "number, and a sum over their times.",
        default=None,
    )
    keys: dict[str, tuple[str, ...]] = stored_as(
        "map<string,array<string>>",
        "Table -> the columns by which its rows are told apart.",
        default_factory=dict,
        read=lambda found: {table: tuple(key) for table, key in found.items()},
    )
    key_days: dict[str, date] = stored_as(
        "map<string,date>",
        "Table and key columns -> the day before which `snowplow_<package>_key_days` tells where "
        "its keys lie.",
        default_factory=dict,
        read=dict,
    )
    number: int | None = stored_as(
        "bigint",
        "How many runs the package had until then, this one included, since they are counted.",
        default=None,
    )
    only_sessions: tuple[str, ...] = stored_as(
        "array<string>",
        "Sessions of the window that alone were processed, when they were taken out of quarantine.",
        default=(),
        read=tuple,
    )
    goes_back_before: str | None = stored_as(
        "string", "Run that a rollback went back to before; null for all else.", default=None
    )
    options: dict[str, str] | None = stored_as(
        "map<string,string>",
        "The options that decide what the tables hold, where they are not the default, as JSON.",
        default=None,
        read=dict,
    )
    source_version: str | None = stored_as(
        "string",
        "Version of the events until which late ones were taken in by the models that succeeded; "
        "null where collector time alone decides.",
        default=None,
    )
    failed_checks: tuple[FailedCheck, ...] = stored_as(
        "array<struct<table:string,check:string,severity:string,failures:bigint>>",
        "Checks that did not pass, with `--check`, and how many rows offend.",
        default=(),
        read=_failed_checks,
    )

    def has_succeeded(self, model: str) -> bool:
        """True when the model took part and came to its end."""
        return any(it.name == model and it.outcome is ModelFate.SUCCEEDED for it in self.models)

    def is_alike(self, state: str, models: Collection[str]) -> bool:
        """True when it found this state, and these models took part and no others."""
        return self.state == state and {it.name for it in self.models} == set(models)

    def meets(self, first: datetime, last: datetime) -> bool:
        """True when the window and a stretch of time have an instant in common."""
        lower, upper = self.lower_limit, self.upper_limit
        return lower is not None and upper is not None and lower <= last and upper >= first

    @property
    def seconds(self) -> float:
        """How long it took."""
        return (self.finished_at - self.started_at).total_seconds()


class Runs:
    """The ledger of one target."""

    def __init__(self, spark: SparkSession, tables: Tables, schema: str) -> None:
        self._spark = spark
        self._tables = tables
        self.table = TableName(schema, "windrow_runs")

    def prepare(self) -> None:
        """Make the table unless it exists."""
        prepare_table(self._tables, self.table, RunRecord, partition_by=("package",))

    def last(self, package: str, count: int) -> list[RunRecord]:
        """The newest finished runs, newest first."""
        rows = self.newest(package, count)
        return [] if rows is None else in_order(records_in(rows, RunRecord))

    def newest(self, package: str, count: int, *, and_unsettled: bool = False) -> DataFrame | None:
        """Their rows, in no order; None before the first run of any package.

        With `and_unsettled`, those are among them that left tables behind, however old they are.
        """
        rows = self.rows_of(package)
        if rows is None:
            return None
        first = []
        # A ledger of an earlier version does not have the column yet.
        if and_unsettled and "left_behind" in rows.columns:
            first = [F.desc(F.coalesce(F.size("left_behind") > 0, F.lit(False)))]
        return newest_first(rows, *first).limit(count)

    def outcome_of(self, package: str, run_id: str) -> Outcome | None:
        """How the run ended; None when the ledger does not have it."""
        rows = self.rows_of(package)
        if rows is None:
            return None
        found = rows.where(F.col("run_id") == run_id).select("outcome").collect()
        return Outcome(found[0][0]) if found else None

    def of_last_command(self, package: str) -> list[RunRecord]:
        """The run, newest first, whose rows were stored last, and the one beside it, if any.

        A command makes two runs where models lag: one of those that do, one of the others.
        """
        kept = [record for record in self.last(package, _NEWEST) if record.outcome.is_kept]
        if len(kept) > 1 and kept[0].clock == kept[1].clock and _are_apart(*kept[:2]):
            return kept[:2]
        return kept[:1]

    def versions_at_last_success(self, package: str, model: str) -> dict[str, str]:
        """What tables were at when a model last succeeded; empty when no run says so.

        A success that was taken back again is none.
        """
        rows = self.rows_of(package)
        if rows is None:
            return {}
        succeeded = F.exists(
            "models",
            lambda it: (it["name"] == model) & (it["outcome"] == ModelFate.SUCCEEDED.value),
        )
        kept = rows.where(is_kept() & succeeded)
        versions = F.max_by("table_versions", "started_at")
        return cast("dict[str, str]", kept.select(versions).collect()[0][0] or {})

    def add(self, record: RunRecord) -> None:
        """Add an ended run, which also frees its lease."""
        self._tables.append(self.table, frame_of_record(self._spark, record))

    def look_after(self, record: RunRecord, leases: TableName) -> None:
        """Every so many runs, bring the ledger's files together: each run adds one, and reads all.

        What the ledger and the leases were is of no use to anyone. Where old versions make commits
        slower, those of a week ago go.
        """
        if record.number is None or record.number % COMPACTED_EVERY:
            return
        # Others may be doing the same: then it is done.
        with suppress(TableError):
            self._tables.compact(self.table)
            if self._tables.format == "iceberg":
                for table in (self.table, leases):
                    self._tables.expire(table, record.finished_at - _KEPT_FOR, delete=True)

    def rows_of(self, package: str) -> DataFrame | None:
        """The package's rows; None before the first run of any package."""
        if not self._tables.exists(self.table):
            return None
        return self._tables.read(self.table).where(F.col("package") == package)


def _are_apart(newer: RunRecord, older: RunRecord) -> bool:
    """True when no model took part in both."""
    return {it.name for it in newer.models}.isdisjoint(it.name for it in older.models)


def new_run_id(now: datetime) -> str:
    """An id that sorts by time and is unique."""
    return f"{now:%Y%m%dT%H%M%S}-{uuid.uuid4().hex[:8]}"


def next_number(runs: Iterable[RunRecord]) -> int:
    """The number of the next run after these."""
    return max((it.number or 0 for it in runs), default=0) + 1


def is_kept() -> Column:
    """True for rows of runs whose rows are in the tables."""
    return F.col("outcome").isin(*(it.value for it in Outcome if it.is_kept))


def newest_first(rows: DataFrame, *before: Column) -> DataFrame:
    """The ledger's rows, newest first, after an order that comes before."""
    return rows.orderBy(*before, F.desc("started_at"), F.desc("finished_at"))


def in_order(runs: list[RunRecord]) -> list[RunRecord]:
    """The runs, newest first."""
    return sorted(runs, key=lambda it: (it.started_at, it.finished_at), reverse=True)
