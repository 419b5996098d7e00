"""Running models: their inputs found, their rows computed, their tables brought up to date."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from threading import RLock
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from windrow.atomic.source import Source
from windrow.columns.rules import column
from windrow.columns.timestamps import from_micros, micros
from windrow.config import ReferenceLists
from windrow.engine.intake import Intake
from windrow.engine.upsert import Destination, Replaced, on_days_of, prepare, upsert
from windrow.engine.workspace import Workspace
from windrow.errors import RunFailedError, TableError
from windrow.models.extras import with_extras
from windrow.models.foundation import SESSION_ID
from windrow.models.model import UNDECLARED, Model, Stored
from windrow.reference.frames import ReferenceFrames, reference_frames
from windrow.state.limits import Limits, State
from windrow.tables import Columns
from windrow.tables.days import DayRange, day_ranges
from windrow.tables.frames import frame_of, materialized


@dataclass(frozen=True)
class Written:
    """How many rows went into a table, and on which days they lie."""

    rows: int
    days: tuple[DayRange, ...] | None = None
    """None when the table has no days, or was written as a whole."""


@dataclass
class ModelRun:
    """The models of one run: keeps the rows that were computed for the models that read them."""

    ws: Workspace
    intake: Intake
    limits: Limits
    positions: dict[str, datetime]
    now: datetime
    reference: ReferenceFrames
    rows: dict[str, DataFrame] = field(default_factory=dict)
    locks: dict[str, RLock] = field(default_factory=dict)
    versions_before: dict[str, str | None] = field(default_factory=dict)
    former_users: dict[str, DataFrame] = field(default_factory=dict)
    written: dict[str, Written] = field(default_factory=dict)
    """Model -> what the run brought into its table."""
    new_keys: list[Destination] = field(default_factory=list)
    """Tables that have yet to note the key by which the run tells their rows apart."""

    def run(self, member: Model) -> int:
        """Compute the model's rows and bring them into its table; gives the number of rows."""
        is_idle = self._is_idle(member)
        rows = self._made(member) if is_idle else self.rows_of(member)
        found = Written(0, ()) if is_idle else self._measured(member, rows)
        if self.ws.settings.keep_this_run:
            write_scratch(self.ws, member.full_name, rows)
        if member.kind == "this_run":
            return found.rows
        destination = self.ws.destination(member)
        columns = _columns(member, rows, self.ws)
        has_new_key = prepare(
            self.ws.tables,
            destination,
            columns,
            layout=self.ws.layout(member, columns),
            is_rewritten=member.kind == "rebuilt",
        )
        if has_new_key:
            self.new_keys.append(destination)
        if member.kind == "rebuilt":
            self.ws.tables.overwrite(destination.table, rows)
            self.written[member.name] = Written(found.rows)
            return found.rows
        if not self._has_new_events(member):
            return 0
        if not found.rows and member.replaces is None and member.amend is None:
            self.written[member.name] = found
            return 0
        if member.path:
            _check_keys(member, rows)
        upsert(
            self.ws.tables,
            destination,
            rows,
            replaced=self._replaced(member, rows),
            search=self._search(member),
            keeps="new" if self.ws.settings.compat else member.keeps,
        )
        if member.amend is not None:
            self._amend(member, member.amend)
        self.written[member.name] = found
        return found.rows

    def _is_idle(self, member: Model) -> bool:
        """True when the run has no event that the model looks at: there is nothing to compute."""
        names = self.intake.event_names
        if not member.event_names or names is None or self.ws.settings.keep_this_run:
            return False
        return names.isdisjoint(member.event_names)

    def _measured(self, member: Model, rows: DataFrame) -> Written:
        """How many rows there are and on which days, in one pass."""
        count = F.count(F.lit(1))
        day = self.ws.destination(member).day_column(dict(rows.dtypes))
        if day is None or member.kind != "incremental":
            return Written(rows.agg(count).collect()[0][0])
        number, days = rows.agg(count, F.collect_set(F.to_date(day))).collect()[0]
        return Written(number, day_ranges(days))

    def rows_of(self, member: Model) -> DataFrame:
        """The model's rows of this run, computed once."""
        with self.locks.setdefault(member.name, RLock()):
            return self._computed(member)

    def _computed(self, member: Model) -> DataFrame:
        if member.name not in self.rows:
            self.rows[member.name] = materialized(self._made(member))
        return self.rows[member.name]

    def _made(self, member: Model) -> DataFrame:
        """What the model makes of its inputs, not computed yet."""
        rows = member(
            **{name: self._input(member, source) for name, source in member.inputs.items()}
        )
        settings = self.ws.settings_of(member)
        columns = member.columns_for(settings)
        if columns is not None:
            rows = rows.select(
                *(
                    F.col(name) if kind == UNDECLARED else F.col(name).cast(kind)
                    for name, kind in columns.items()
                )
            )
        if member.extras is not None:
            source = self._input(member, member.extras.source)
            rows = with_extras(rows, source, member.extras, settings, member.name)
        return rows

    # --- inputs ------------------------------------------------------------------------------

    def _input(self, member: Model, source: Stored | str) -> Any:
        if isinstance(source, Stored):
            return self._stored(member, source)
        match source:
            case "events":
                return self.intake.events
            case "sessions_this_run":
                return self.ws.foundation.as_recorded(self.intake.sessions)
            case "sessions_of_users":
                return self._sessions_of_users(member)
            case "nearby":
                return self._nearby(member)
            case "users_touched":
                return self._users_touched(member)
            case "settings":
                return self.ws.settings_of(member)
            case "now":
                return self.now
            case "until":
                return max(
                    self.limits.upper, self.positions.get(member.full_name, self.limits.upper)
                )
            case "hooks":
                return self.ws.hooks
            case "reference":
                return self.reference
            case "gathered":
                return self._gathered(member)
            case _:
                return self.rows_of(self.ws.model(source))

    def _stored(self, reader: Model, source: Stored) -> DataFrame:
        owner = self.ws.model(source.model)
        rows = self._whole_table(reader, owner)
        if source.before_this_run:
            before = self.versions_before.get(owner.name)
            if before is None or self._lags(reader, owner):
                # What the reader last saw is not known: to it, all of this run's rows are news.
                return rows.limit(0)
            rows = self.ws.tables.read(self.ws.table(owner), version=before)
        if source.near or source.of_sessions:
            rows = on_days_of(rows, self.ws.destination(owner), self._search(owner))
        if source.of_sessions:
            rows = rows.join(self._session_ids(), self.ws.foundation.session, how="left_semi")
        return rows

    def _whole_table(self, reader: Model, owner: Model) -> DataFrame:
        """All stored rows of a model; none when its table does not exist yet."""
        table = self.ws.table(owner)
        if self.ws.tables.exists(table):
            return self.ws.tables.read(table)
        columns = owner.columns_for(self.ws.settings_of(owner))
        if columns is None:
            raise RunFailedError(f"'{reader.name}' reads {table}, which does not exist yet.")
        declared = {name: kind for name, kind in columns.items() if kind != UNDECLARED}
        return frame_of(self.ws.spark, [], declared)

    def _lags(self, reader: Model, owner: Model) -> bool:
        return self.positions.get(reader.full_name) != self.positions.get(owner.full_name)

    def _nearby(self, member: Model) -> DataFrame:
        """Stored rows of the model itself, of other sessions, on days near this run's."""
        rows = self._whole_table(member, member)
        near = on_days_of(rows, self.ws.destination(member), self._search(member))
        return near.join(self._session_ids(), self.ws.foundation.session, how="left_anti")

    def _sessions_of_users(self, reader: Model) -> DataFrame:
        """Every stored session of the users that this run touches, however old."""
        own_table = getattr(self.ws.settings, "sessions_table", None)
        owner = self.ws.model_of_table(own_table) if own_table else self.ws.model("sessions")
        if owner is None:
            stored = self.ws.spark.read.table(str(own_table))
        else:
            stored = self._whole_table(reader, owner)
            stored = self._since_first_visit(reader, owner, stored)
        return stored.join(self._users_touched(reader), self.ws.foundation.user, how="left_semi")

    def _since_first_visit(self, reader: Model, sessions: Model, stored: DataFrame) -> DataFrame:
        """The stored sessions since the first visit of any touched user: a bound that prunes files.

        Only to be had while users have seen all that sessions have.
        """
        table = self.ws.table(reader)
        if (
            self._lags(reader, sessions)
            or not self.ws.tables.exists(table)
            or "start_tstamp_date" not in stored.columns
        ):
            return stored
        user = self.ws.foundation.user
        known = self.ws.tables.read(table).select(user, "start_tstamp")
        visits = known.join(self._users_touched(reader), user, how="left_semi")
        first = from_micros(visits.agg(micros(F.min("start_tstamp"))).collect()[0][0])
        days = [*self.intake.days, *([first.date()] if first else [])]
        if not days:
            return stored
        since = day_ranges(days, before=1)[0].first
        return stored.where(
            (F.col("start_tstamp_date") >= F.lit(since)) | F.col("start_tstamp_date").isNull()
        )

    def _users_touched(self, member: Model) -> DataFrame:
        """Users of this run's sessions, and users who had one of these sessions until now.

        The lifecycle says whose a session was when sessions were last processed. A model that did
        not run then, or failed, knows an older answer: that of the sessions it was made from.
        """
        if member.name not in self.former_users:
            users = self.intake.users
            before = self._sessions_seen_by(member)
            if before is not None:
                user, session = self.ws.foundation.user, self.ws.foundation.session
                former = before.join(self._session_ids(), session, how="left_semi").select(user)
                users = users.union(former.where(F.col(user).isNotNull())).distinct()
                users = materialized(users)
            self.former_users[member.name] = users
        return self.former_users[member.name]

    def _sessions_seen_by(self, member: Model) -> DataFrame | None:
        """The sessions table as it was when the model last succeeded; None when it is not older."""
        owner = next((m for m in self.ws.models if m.name == "sessions"), None)
        before = self.versions_before.get("sessions")
        if owner is None or before is None:
            return None
        table = self.ws.table(owner)
        then = self.ws.runs.version_at_last_success(self.ws.lease_name, member.full_name, table)
        if then is None or then == before:
            return None
        destination = self.ws.destination(owner)
        try:
            rows = self.ws.tables.read(table, version=then)
        except TableError:
            # The version has been cleaned up: what the model was made from is not to be had.
            return None
        return on_days_of(rows, destination, self.intake.days_around(before=1, after=0))

    def _session_ids(self) -> DataFrame:
        return self.intake.sessions.select(F.col(SESSION_ID).alias(self.ws.foundation.session))

    # --- writing -----------------------------------------------------------------------------

    def remember_versions(self, models: Sequence[Model]) -> None:
        """Note what tables are at that a model wants to see as they were before this run."""
        readers = [*models, *(m.amend for m in models if m.amend is not None)]
        wanted = {
            source.model
            for reader in readers
            for source in reader.inputs.values()
            if isinstance(source, Stored) and source.before_this_run
        }
        if any({"users_touched", "sessions_of_users"} & set(m.inputs.values()) for m in readers):
            wanted |= {"sessions"} & {member.name for member in self.ws.models}
        for name in wanted:
            table = self.ws.table(self.ws.model(name))
            self.versions_before[name] = self.ws.tables.version(table)

    def _has_new_events(self, member: Model) -> bool:
        """False when the model has consumed this window before: its rows stay as they are."""
        if self.limits.state is State.RERUN:
            return True
        position = self.positions.get(member.full_name)
        if position is None or self.limits.upper > position:
            return True
        return not self.ws.settings.compat and bool(self._gathered(member))

    def _gathered(self, member: Model) -> tuple[str, ...]:
        """Of the models whose rows this one gathers, those that have not seen the window yet.

        In the reference, a new one's history never comes here.
        """
        if self.ws.settings.compat:
            return member.gathers
        return tuple(n for n in member.gathers if self._has_new_events(self.ws.model(n)))

    def _replaced(self, member: Model, rows: DataFrame) -> Replaced | None:
        foundation = self.ws.foundation
        if member.replaces == foundation.session:
            return Replaced(foundation.session, self._session_ids())
        if member.replaces == foundation.user:
            # The rows may bring other users too, who are not to be stored twice.
            users = self._users_touched(member).union(rows.select(foundation.user))
            return Replaced(foundation.user, users.distinct())
        if member.replaces is not None and member.replaces == self._day_column(member):
            days = [[str(day)] for found in self._near_days for day in found.days()]
            return Replaced(
                member.replaces, frame_of(self.ws.spark, days, {member.replaces: "date"})
            )
        return None

    def _day_column(self, member: Model) -> str | None:
        columns = member.columns_for(self.ws.settings_of(member))
        return self.ws.destination(member).day_column(columns) if columns else None

    @property
    def _near_days(self) -> tuple[DayRange, ...]:
        """The days on which rows that tell of whole sessions can lie.

        A session that begins with a ping starts a minimum visit before its first event.
        """
        return self.intake.days_around(before=1, after=0)

    def _search(self, member: Model) -> tuple[DayRange, ...] | None:
        """The days on which stored rows that the run's rows replace can lie; None: anywhere."""
        session = self.ws.foundation.session
        if member.replaces is not None and member.replaces == self._day_column(member):
            return self._near_days
        if member.keeps != "new":
            return self._search_by_key(member)
        if member.replaces != session:
            return None
        if member.key == (session,):
            return self._near_days
        # The same key may be stored for another session, on another day.
        around = self.ws.settings
        return self.intake.days_around(
            before=max(1, around.upsert_lookback_days), after=around.max_session_days
        )

    def _search_by_key(self, member: Model) -> tuple[DayRange, ...] | None:
        """The days on which a row of the same key can lie, for a model without sessions.

        Copies of an event were made at the same time and sent in time, so no more than
        `days_late_allowed` lie between them; `upsert_lookback_days` widens that. A row of which
        the latest state is kept can be as old as the table.
        """
        settings = self.ws.settings
        if settings.compat:
            days = sorted(self.intake.days)
            first = day_ranges(days[:1], before=settings.upsert_lookback_days)
            return tuple(DayRange(it.first, days[-1]) for it in first)
        if member.keeps == "latest":
            return None
        late = max(1, settings.days_late_allowed)
        return self.intake.days_around(before=max(late, settings.upsert_lookback_days), after=late)

    def _amend(self, member: Model, amend: Model) -> None:
        """Update columns of stored rows outside this run that this run's events bear on."""
        inputs = {name: self._input(member, source) for name, source in amend.inputs.items()}
        rows = materialized(amend(**inputs))
        destination = self.ws.destination(member)
        day = destination.day_column(dict(rows.dtypes))
        assert day is not None
        days = [row[0] for row in rows.select(F.to_date(day)).distinct().collect()]
        if days:
            search = day_ranges(day for day in days if day is not None)
            upsert(self.ws.tables, destination, rows, search=search)


def start_models(
    ws: Workspace,
    intake: Intake,
    limits: Limits,
    positions: dict[str, datetime],
    now: datetime,
) -> ModelRun:
    """The models' side of a run, with nothing computed yet."""
    lists = getattr(ws.settings, "reference", ReferenceLists())
    return ModelRun(ws, intake, limits, positions, now, reference_frames(ws.spark, lists))


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


def write_scratch(ws: Workspace, name: str, rows: DataFrame) -> None:
    """Write this run's rows beside the derived tables, for debugging and for outside SQL."""
    table = ws.this_run_table(name)
    columns = dict(rows.dtypes)
    if ws.tables.exists(table) and ws.tables.columns(table) != columns:
        ws.tables.drop(table)
    ws.tables.create(table, columns)
    ws.tables.overwrite(table, rows)


def _check_keys(member: Model, rows: DataFrame) -> None:
    """A project's own model must bring each key once; two rows for one key would both be kept."""
    repeated = rows.groupBy(*member.key).count().where(F.col("count") > 1).limit(1).collect()
    if repeated:
        shown = ", ".join(f"{name} = {repeated[0][name]!r}" for name in member.key)
        raise RunFailedError(
            f"Model '{member.name}' made {repeated[0]['count']} rows with the same key ({shown}). "
            "Make the rows unique, or add the columns that tell them apart to its key."
        )
