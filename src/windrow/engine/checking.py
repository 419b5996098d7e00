"""Which rows of which tables a run's checks look at: those of this run, or of the last one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from windrow.columns.timestamps import literal
from windrow.engine.check_rows import CheckedRows, check_rows
from windrow.engine.destination import Destination, stored_rows
from windrow.engine.intake.values import Sessions
from windrow.engine.model_run import ModelRun
from windrow.engine.workspace import Workspace
from windrow.errors import ConfigError, did_you_mean
from windrow.models.checks import Check, CheckResult, Expression, NotNull, Unique, has_failed
from windrow.models.model import Model
from windrow.models.selection import select as selected
from windrow.state.runs import ModelFate, RunRecord
from windrow.tables.days import DayRange, day_ranges

MADE_AT = "model_tstamp"
"""The column in which our own tables have the clock of the run that made a row."""

AT_ONCE = 3
"""Tables that are checked side by side: each spends much of its time planning."""

_OF_MANIFEST = (Unique("model"), NotNull("model"))
_OF_EVENTS_THIS_RUN = (Unique("event_id"), NotNull("event_id"))

_Look = Callable[[], list[CheckResult]]


@dataclass(frozen=True)
class CheckReport:
    """What the checks of one package found on the rows of its last run."""

    package: str
    target: str
    run_id: str | None
    """The run whose rows were looked at; None when there has been none."""
    results: tuple[CheckResult, ...] = ()

    @property
    def has_failed(self) -> bool:
        """True when a check of severity error failed."""
        return has_failed(self.results)


# --- the rows of a run that is not over -----------------------------------------------------------


def check_this_run(run: ModelRun, models: Sequence[Model]) -> tuple[CheckResult, ...]:
    """Check what a run has written so far: its base, and the tables of these models."""
    ws, intake = run.ws, run.intake

    def parent(name: str) -> Sequence[DataFrame]:
        model = _parent_model(ws, name)
        near = [run.rows[model.name]] if model.name in run.written else []
        return [*near, *_whole(ws, model)]

    def of_model(model: Model) -> list[CheckResult]:
        rows = run.rows_of(model)
        if model.kind == "this_run":
            checked = CheckedRows(model.full_name, model.key, rows, rows, parent)
            return check_rows(checked, model.all_checks)
        written = run.written.get(model.name)
        if written is None or not written.rows:
            return _passed(model)
        stored = stored_rows(ws.tables, ws.destination(model), written.days)
        checked = CheckedRows(model.full_name, model.key, rows, stored, parent)
        return check_rows(checked, model.all_checks)

    def of_lifecycle(found: Sessions) -> list[CheckResult]:
        days = day_ranges(intake.started_on)
        stored = stored_rows(ws.tables, ws.lifecycle_destination, days)
        rows = ws.foundation.as_recorded(found.continued).select(*stored.columns)
        checked = CheckedRows(ws.lifecycle.name, (ws.foundation.recorded_session,), rows, stored)
        return check_rows(checked, _of_lifecycle(ws))

    def of_intake(name: str, rows: DataFrame, checks: Sequence[Check]) -> list[CheckResult]:
        checked = CheckedRows(ws.package.prefix + name, (), rows, rows)
        return check_rows(checked, checks)

    looks: list[_Look] = [
        *_small_base_tables(ws),
        partial(of_intake, "base_events_this_run", intake.events, _OF_EVENTS_THIS_RUN),
        *(partial(of_model, model) for model in models),
    ]
    if intake.found is not None:
        sessions = ws.foundation.as_recorded(intake.sessions)
        looks.append(partial(of_intake, "base_sessions_this_run", sessions, _of_session_ids(ws)))
        looks.append(partial(of_lifecycle, intake.found))
    return _look_all(looks)


# --- the rows of the last run ---------------------------------------------------------------------


def check_last_run(
    ws: Workspace, *, select: str | None = None, exclude: str | None = None
) -> CheckReport:
    """Check the rows that the last run wrote; the base's too, unless models are selected."""
    models = selected(ws.meant_models, select, exclude)
    records = ws.runs.of_last_command(ws.lease_name)
    if not records:
        return CheckReport(ws.name, ws.target, None)
    looks: list[_Look] = [
        partial(_model_of_last_run, ws, record, model)
        for record in records
        for model in _written_by(ws, record, models)
    ]
    if not select and not exclude:
        if ws.foundation.has_sessions:
            lives = [partial(_lifecycle_of_last_run, ws, record) for record in records]
            looks = [*lives, *looks]
        looks = [*_small_base_tables(ws), *looks]
    return CheckReport(ws.name, ws.target, records[0].run_id, _look_all(looks))


def rows_of_last_run(ws: Workspace, record: RunRecord, model: Model) -> CheckedRows:
    """The model's rows of a run, as the ledger tells which they are.

    They lie on the days that the ledger has. Our own tables also say when each row was made.
    """
    days = record.written_days.get(model.full_name)
    stored = stored_rows(ws.tables, ws.destination(model), days)
    if not any(isinstance(check, Expression) for check in model.all_checks):
        named = {*model.key, MADE_AT, *(name for it in model.all_checks for name in it.reads)}
        stored = stored.select(*(name for name in stored.columns if name in named))
    rows = stored
    if model.prefix and MADE_AT in stored.columns and record.clock is not None:
        rows = stored.where(F.col(MADE_AT) == literal(record.clock))

    def parent(name: str) -> list[DataFrame]:
        owner = _parent_model(ws, name)
        near, whole = record.written_days.get(owner.full_name), _whole(ws, owner)
        if near is None or not whole:
            return whole
        return [stored_rows(ws.tables, ws.destination(owner), near), *whole]

    return CheckedRows(model.full_name, model.key, rows, stored, parent)


def _written_by(ws: Workspace, record: RunRecord, models: Sequence[Model]) -> list[Model]:
    """Of the models, those that have a table and did not fail in the run."""
    succeeded = {it.name for it in record.models if it.outcome is ModelFate.SUCCEEDED}
    return [
        model
        for model in models
        # A run that was killed right after its manifest commit left no word on its models.
        if (not record.models or model.full_name in succeeded)
        and model.kind != "this_run"
        and ws.tables.exists(ws.table(model))
    ]


def _model_of_last_run(ws: Workspace, record: RunRecord, model: Model) -> list[CheckResult]:
    if model.full_name in {it.name for it in record.models if not it.rows}:
        return _passed(model)
    with _kept(rows_of_last_run(ws, record, model)) as checked:
        return check_rows(checked, model.all_checks)


def _lifecycle_of_last_run(ws: Workspace, record: RunRecord) -> list[CheckResult]:
    days = record.written_days.get(ws.lifecycle.name)
    return _stored_base(ws, ws.lifecycle_destination, _of_lifecycle(ws), days)


@contextmanager
def _kept(checked: CheckedRows) -> Iterator[CheckedRows]:
    """The same rows, read once however many checks there are."""
    stored = checked.stored.persist()
    try:
        yield checked
    finally:
        stored.unpersist()


# --- both -----------------------------------------------------------------------------------------


def _look_all(looks: Sequence[_Look]) -> tuple[CheckResult, ...]:
    with ThreadPoolExecutor(max_workers=AT_ONCE) as pool:
        return tuple(result for found in pool.map(lambda look: look(), looks) for result in found)


def _small_base_tables(ws: Workspace) -> list[_Look]:
    """Checks of the manifest and the quarantine, which have no days and few rows."""
    manifest = Destination(ws.manifest, ("model",))
    looks: list[_Look] = [partial(_stored_base, ws, manifest, _OF_MANIFEST, None)]
    if ws.foundation.has_quarantine:
        quarantine = Destination(ws.quarantine, (ws.foundation.recorded_session,))
        looks.append(partial(_stored_base, ws, quarantine, _of_session_ids(ws), None))
    return looks


def _of_session_ids(ws: Workspace) -> tuple[Check, ...]:
    return (Unique(ws.foundation.recorded_session), NotNull(ws.foundation.recorded_session))


def _of_lifecycle(ws: Workspace) -> tuple[Check, ...]:
    return (*_of_session_ids(ws), NotNull(("start_tstamp", "end_tstamp")))


def _stored_base(
    ws: Workspace,
    destination: Destination,
    checks: Sequence[Check],
    days: Sequence[DayRange] | None,
) -> list[CheckResult]:
    rows = stored_rows(ws.tables, destination, days)
    checked = CheckedRows(destination.table.name, destination.key, rows, rows)
    return check_rows(checked, checks)


def _passed(model: Model) -> list[CheckResult]:
    """No rows, no failures."""
    return [CheckResult(model.full_name, it.name, it.severity) for it in model.all_checks]


def _whole(ws: Workspace, model: Model) -> list[DataFrame]:
    table = ws.table(model)
    return [ws.tables.read(table)] if ws.tables.exists(table) else []


def _parent_model(ws: Workspace, name: str) -> Model:
    """The model that a relationship names, with or without its prefix."""
    named = {known: model for model in ws.models for known in (model.name, model.full_name)}
    if name not in named:
        raise ConfigError(
            f"A relationship names '{name}', which is no model of the project."
            + did_you_mean(name, named)
        )
    return named[name]
