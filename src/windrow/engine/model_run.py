"""Running models: their rows computed once, their tables brought up to date."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import date, datetime
from functools import reduce
from threading import RLock

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from windrow.atomic.source import Source
from windrow.columns.rules import column
from windrow.engine.destination import Destination, prepare
from windrow.engine.holding import Seen
from windrow.engine.inputs import Inputs
from windrow.engine.intake import Intake
from windrow.engine.key_days import KeyDays
from windrow.engine.recompute import Change, Recompute
from windrow.engine.replaced_rows import ReplacedRows
from windrow.engine.scratch import write_scratch
from windrow.engine.upsert import Amended, number_of_days, upsert
from windrow.engine.workspace import Workspace
from windrow.errors import RunFailedError
from windrow.models.extras import names as extra_columns
from windrow.models.extras import with_extras
from windrow.models.model import UNDECLARED, Model
from windrow.models.own_models import why_without_session
from windrow.reference.frames import reference_frames
from windrow.state.limits import Limits
from windrow.state.runs import next_number
from windrow.tables import Columns, TableName
from windrow.tables.days import DayRange, day_ranges
from windrow.tables.frames import measured


@dataclass(frozen=True)
class Written:
    """How many rows went into a table, and on which days they lie."""

    rows: int
    on: tuple[date | None, ...] | None = None
    """None when the table has no days, or was written as a whole; a None among them: no day."""

    @property
    def days(self) -> tuple[DayRange, ...] | None:
        """The same as few ranges."""
        return None if self.on is None else day_ranges(day for day in self.on if day is not None)


class ModelRun:
    """The models of one run: keeps the rows that were computed for the models that read them."""

    def __init__(
        self,
        ws: Workspace,
        intake: Intake,
        limits: Limits,
        positions: dict[str, datetime],
        now: datetime,
        seen: Seen,
        key_days: KeyDays,
        *,
        emptied: Collection[TableName] = (),
    ) -> None:
        self.ws = ws
        self.intake = intake
        self.rows: dict[str, DataFrame] = {}
        self._extents: dict[str, Written] = {}
        """Model -> how many rows it has, and on which days."""
        self._seen = seen
        self.number = next_number(seen.newest_runs)
        """The run's."""
        self.key_days = key_days
        self.written: dict[str, Written] = {}
        """Model -> what the run brought into its table."""
        self.new_keys: list[Destination] = []
        """Tables that have yet to note for good by which key their rows are told apart."""
        self._emptied = emptied
        self._made: set[TableName] = set()
        """Tables that were not there before this run."""
        self._locks: dict[str, RLock] = {}
        self._replaced = ReplacedRows(ws, intake, limits, positions)
        self._recompute = Recompute(ws, positions, seen)
        lists = ws.package.reference_lists(ws.settings)
        reference = reference_frames(ws.spark, lists)
        self.inputs = Inputs(
            ws=ws,
            intake=intake,
            limits=limits,
            positions=positions,
            now=now,
            seen=seen,
            reference=reference,
            replaced=self._replaced,
            recompute=self._recompute,
            key_days=key_days,
            emptied=emptied,
            rows_of=self.rows_of,
        )

    def run(self, member: Model) -> int:
        """Compute the model's rows and bring them into its table; gives the number of rows."""
        is_idle = self._is_idle(member)
        rows = self._make(member) if is_idle else self.rows_of(member)
        found = Written(0, ()) if is_idle else self._extents[member.name]
        if self.ws.settings.keep_this_run:
            write_scratch(self.ws, self.ws.this_run_table(member.full_name), rows)
        if member.kind == "this_run":
            return found.rows
        if member.path and member.kind == "incremental" and found.rows:
            self._check_own(member, rows)
        destination = self._prepare(member, rows)
        if self._is_written_whole(member):
            self.ws.tables.overwrite(destination.table, rows)
            self._recompute.note(member, Change(rows, is_whole=True))
            self.written[member.name] = Written(found.rows)
            return found.rows
        is_recomputed = member.recomputed_from is not None
        if not is_recomputed and not self._replaced.has_new_events(member):
            return 0
        replaces_more = is_recomputed or member.replaces is not None or member.amend is not None
        replaces_more |= self._replaced.made_anew(member) is not None
        if found.rows or replaces_more:
            self._upsert(member, destination, rows, found)
        self.written[member.name] = found
        return found.rows

    def _is_written_whole(self, member: Model) -> bool:
        if member.recomputed_from is None:
            return member.kind == "rebuilt"
        return self._recompute.touched(member) is None

    def _check_own(self, member: Model, rows: DataFrame) -> None:
        """Stop at rows of a project's own model that its table could not hold as they are meant."""
        _check_keys(member, rows)
        if member.recomputed_from is not None:
            self._recompute.check(member, rows)

    def _prepare(self, member: Model, rows: DataFrame) -> Destination:
        destination = self.ws.destination(member)
        columns = _columns(member, rows, self.ws)
        prepared = prepare(
            self.ws.tables,
            destination,
            columns,
            layout=self.ws.layout(member, columns),
            is_rewritten=member.kind == "rebuilt",
            is_emptied=destination.table in self._emptied,
            known_key=self._seen.key_of(destination.table),
        )
        if prepared.is_made:
            self._made.add(destination.table)
        if prepared.has_new_key:
            self.new_keys.append(destination)
        return destination

    def _upsert(
        self, member: Model, destination: Destination, rows: DataFrame, found: Written
    ) -> None:
        if member.recomputed_from is not None:
            replaced, search = self._recompute.replaced(member)
        else:
            replaced = self._replaced.replaced(member, rows, self.inputs.users_touched)
            search = self.inputs.search(member, rows, number=found.rows, on=found.on or ())
        if destination.table in self._made:
            # Nothing can be in the way.
            days = number_of_days(self.ws.tables, destination, found.on)
            self.ws.tables.append(destination.table, rows, days=days)
            self._recompute.note(member, Change(rows, replaced, search))
            return
        amended = None if member.amend is None else self._amended(member, member.amend)
        upsert(
            self.ws.tables,
            destination,
            rows,
            replaced=replaced,
            search=search,
            keeps=self._replaced.keeps(member),
            days=found.on,
            number=found.rows,
            amended=amended,
            as_merged=self.ws.settings.compat,
            touched=self.inputs.touched_by(member),
        )
        self._recompute.note(member, Change(rows, replaced, search))
        if amended is not None:
            self._recompute.note_amended(member, amended.rows)

    def _is_idle(self, member: Model) -> bool:
        """True when the run has no event that the model looks at: there is nothing to compute."""
        names = self.intake.event_names
        if not member.event_names or names is None or self.ws.settings.keep_this_run:
            return False
        return names.isdisjoint(member.event_names)

    def rows_of(self, member: Model) -> DataFrame:
        """The model's rows of this run, computed once."""
        with self._locks.setdefault(member.name, RLock()):
            if member.name not in self.rows:
                rows, found = self._settled(member, self._make(member))
                self.rows[member.name], self._extents[member.name] = rows, found
            return self.rows[member.name]

    def _settled(self, member: Model, rows: DataFrame) -> tuple[DataFrame, Written]:
        """The rows, computed; how many there are, and on which days."""
        measures = {"rows": F.count(F.lit(1))}
        day = self.ws.destination(member).day_column(dict(rows.dtypes))
        if day is None or member.kind != "incremental":
            settled, found = measured(rows, measures)
            return settled, Written(found["rows"])
        on_day = F.to_date(day)
        measures |= {"days": F.collect_set(on_day), "without": F.count_if(on_day.isNull())}
        settled, found = measured(rows, measures)
        return settled, Written(found["rows"], (*found["days"], *([None] * (found["without"] > 0))))

    def _make(self, member: Model) -> DataFrame:
        """What the model makes of its inputs, not computed yet."""
        if member.refusal:
            raise RunFailedError(member.refusal)
        rows = member(**self.inputs.of(member))
        settings = self.ws.settings_of(member)
        columns = member.columns_for(settings)
        if columns is not None:
            rows = rows.select(
                *(
                    F.col(name) if kind == UNDECLARED else F.col(name).cast(kind)
                    for name, kind in columns.items()
                )
            )
        if member.extras is not None and extra_columns(settings, member.name):
            source = self.inputs.get(member, member.extras.source)
            rows = with_extras(rows, source, member.extras, settings, member.name)
        session = self.ws.foundation.session
        if member.path and member.replaces == session and session not in rows.columns:
            raise RunFailedError(why_without_session(member, session))
        return rows

    def _amended(self, member: Model, amend: Model) -> Amended | None:
        """Columns of stored rows outside this run that this run's events bear on; None: no row."""
        inputs = {name: self.inputs.get(member, it) for name, it in amend.inputs.items()}
        rows, found = self._settled(member, amend(**inputs))
        return Amended(rows, found.on or ()) if found.rows else None


def event_columns(ws: Workspace, models: Iterable[Model]) -> tuple[str, ...] | None:
    """The event columns that the models need, with those whose rows they read; None means all."""
    found: dict[str, None] = {}
    waiting, seen = list(models), set[str]()
    while waiting:
        member = waiting.pop()
        if member.name in seen:
            continue
        seen.add(member.name)
        columns = member.event_columns_for(ws.settings_of(member))
        if columns is None:
            return None
        found |= dict.fromkeys(columns)
        waiting += [ws.model(name) for name in member.parents]
    return tuple(found)


def planned_tables(ws: Workspace, source: Source) -> dict[str, tuple[Model, Columns]]:
    """The tables of models that look at events alone, with the columns they would have now."""
    tables: dict[str, tuple[Model, Columns]] = {}
    for member in ws.models:
        if set(member.inputs.values()) <= {"events", "gathered"}:
            names = member.event_columns_for(ws.settings_of(member)) or tuple(source.adapted)
            events = source.raw.limit(0).select(*(source.adapted[n].alias(n) for n in names))
            given = {"events": events, "gathered": member.gathers}
            rows = member(**{name: given[str(it)] for name, it in member.inputs.items()})
            tables[member.full_name] = (member, _columns(member, rows, ws))
    return tables


def _columns(member: Model, rows: DataFrame, ws: Workspace) -> Columns:
    """The table's columns: those declared, and those that only this run's rows tell.

    A rule of one of the latter comes as the comment of its field.
    """
    found = {
        field.name: column(field.dataType.simpleString(), field.metadata.get("comment", ""))
        for field in rows.schema.fields
    }
    declared = member.columns_for(ws.settings_of(member)) or {}
    return found | {name: kind for name, kind in declared.items() if kind != UNDECLARED}


def _check_keys(member: Model, rows: DataFrame) -> None:
    """A project's own model must bring each key once; two rows for one key would both be kept."""
    is_nameless = reduce(Column.__or__, (F.col(name).isNull() for name in member.key))
    keys = rows.groupBy(*member.key).count()
    for row in keys.where((F.col("count") > 1) | is_nameless).limit(1).collect():
        shown = ", ".join(f"{name} = {row[name]!r}" for name in member.key)
        if any(row[name] is None for name in member.key):
            raise RunFailedError(
                f"Model '{member.name}' made a row whose key is not known ({shown}): the next run "
                "would not find it again. Leave such rows out, or give them a value."
            )
        raise RunFailedError(
            f"Model '{member.name}' made {row['count']} rows with the same key ({shown}). "
            "Make the rows unique, or add the columns that tell them apart to its key."
        )
