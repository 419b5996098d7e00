"""What a model's parameters stand for: this run's events, stored tables, other models' rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import partial
from threading import RLock
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from windrow.engine.destination import on_days_of
from windrow.engine.holding import Seen, versions_at_success
from windrow.engine.in_step import in_step, lags
from windrow.engine.intake import Intake
from windrow.engine.key_days import KeyDays, keyed_by, keyed_by_key, keyed_by_user
from windrow.engine.recompute import Recompute
from windrow.engine.replaced_rows import ReplacedRows
from windrow.engine.upsert import Replaced, Touched, look
from windrow.engine.workspace import Workspace
from windrow.errors import RunFailedError
from windrow.models.foundation import SESSION_ID
from windrow.models.model import UNDECLARED, Model, Stored
from windrow.models.parts.users import Changed, Visits
from windrow.reference.frames import ReferenceFrames
from windrow.state.limits import Limits
from windrow.tables import GoneVersionError, TableName
from windrow.tables.days import DayRange, day_ranges
from windrow.tables.frames import few, frame_of, materialize, measured
from windrow.tables.observed import Observed


@dataclass
class Inputs:
    """The inputs that the models of one run can ask for."""

    ws: Workspace
    intake: Intake
    limits: Limits
    positions: dict[str, datetime]
    now: datetime
    seen: Seen
    reference: ReferenceFrames
    replaced: ReplacedRows
    recompute: Recompute
    key_days: KeyDays
    emptied: Collection[TableName]
    """Tables that the run began by emptying."""
    rows_of: Callable[[Model], DataFrame]
    """A model's rows of this run, computed once."""
    versions_before: dict[str, str | None] = field(default_factory=dict)
    """Model -> what its table was at when the run began, where some model wants to know."""
    users_of_readers: dict[str, DataFrame] = field(default_factory=dict)
    numbers_of_users: dict[str, int] = field(default_factory=dict)
    """Model -> how many users it has to look at, where these are not the intake's."""
    sessions_of_readers: dict[str, DataFrame] = field(default_factory=dict)
    rows_of_users: dict[str, DataFrame] = field(default_factory=dict)
    """Model -> its stored rows of this run's users, as they were before the run changed them."""
    touched: dict[str, Touched | Callable[[], Touched]] = field(default_factory=dict)
    """Model -> what was found of its stored rows that this run's rows replace.

    A function where it is known only once the model's rows are computed.
    """
    own_days: dict[str, tuple[DayRange, ...]] = field(default_factory=dict)
    """Model -> the days of its stored rows that it asked for by their key."""
    models: tuple[Model, ...] = ()
    """Those of the run."""
    in_step: frozenset[tuple[str, str]] = frozenset()
    """Pairs of models: the first one's rows tell of all that the other's table had when the run
    began, and the run makes rows of the other."""
    lock: RLock = field(default_factory=RLock)
    notes: list[str] = field(default_factory=list)
    """What whoever runs the package should know."""

    def of(self, member: Model) -> dict[str, Any]:
        """Parameter -> what stands for it."""
        return {name: self.get(member, source) for name, source in member.inputs.items()}

    def get(self, member: Model, source: Stored | str) -> Any:
        """One input of a model."""
        if isinstance(source, Stored):
            return self._stored(member, source)
        match source:
            case "events":
                return self.intake.events
            case "sessions_this_run":
                return self.ws.foundation.as_recorded(self.intake.sessions)
            case "sessions_of_users":
                with self.lock:
                    if member.name not in self.sessions_of_readers:
                        self.sessions_of_readers[member.name] = self._sessions_of_users(member)
                    return self.sessions_of_readers[member.name]
            case "sessions_of":
                owner = self.ws.sessions_model
                assert owner is not None
                return partial(self._stored_of, member, owner)
            case "visits":
                return self._visits(member)
            case "nearby":
                return self._nearby(member)
            case "users_touched":
                return self.users_touched(member)
            case "settings":
                return self.ws.settings_of(member)
            case "now":
                return self.now
            case "until":
                return max(
                    self.limits.upper, self.positions.get(member.full_name, self.limits.upper)
                )
            case "most_events":
                return self.intake.counts["events"]
            case "hooks":
                return self.ws.hooks
            case "reference":
                return self.reference
            case "gathered":
                return self.replaced.gathered(member)
            case _:
                return self.rows_of(self.ws.model(source))

    def remember_versions(self, models: Sequence[Model]) -> None:
        """Note what tables are at that a model wants to see as they were before this run."""
        self.models = tuple(models)
        readers = [*models, *(m.amend for m in models if m.amend is not None)]
        wanted = {
            source.model
            for reader in readers
            for source in reader.inputs.values()
            if isinstance(source, Stored) and source.before_this_run and not source.of_users
        }
        owner = self.ws.sessions_model
        of_users = {"users_touched", "sessions_of_users", "visits"}
        lookers = [m for m in readers if of_users & set(m.inputs.values())]
        if owner is not None and any(not self._has_seen_all_of(it, owner) for it in lookers):
            wanted.add(owner.name)
        self.in_step = in_step(self.ws, self.seen, self.positions, models, self.emptied)
        if owner is not None and any(source == owner.name for _, source in self.in_step):
            wanted.add(owner.name)
        for name in wanted:
            table = self.ws.table(self.ws.model(name))
            fresh = self.seen.fresh_version_of(table)
            self.versions_before[name] = fresh or self.ws.tables.version(table)
        self.recompute.remember(models)

    def _has_seen_all_of(self, reader: Model, owner: Model) -> bool:
        """True when the ledger says that the reader was last made from the table as it is."""
        then = self.seen.versions_at_success(reader.full_name)
        now = self.seen.version_of(self.ws.table(owner))
        return then is not None and then.get(str(self.ws.table(owner))) == now

    def versions_read(self) -> dict[str, str]:
        """What the tables were at that the run's models are made from."""
        found: dict[str, str] = {}
        for member in self.models:
            amend = frozenset() if member.amend is None else member.amend.stored_parents
            for name in member.stored_parents | amend:
                table = self.ws.table(self.ws.model(name))
                at = self.seen.version_of(table) or self.ws.tables.version(table)
                if at is not None:
                    found[str(table)] = at
        return found

    # --- stored tables -----------------------------------------------------------------------

    def _stored(self, reader: Model, source: Stored) -> Any:
        owner = self.ws.model(source.model)
        if source.by:
            return partial(self._stored_by, reader, owner, source.by)
        if source.in_step_with and (reader.name, source.in_step_with) not in self.in_step:
            return None
        if source.of_users and owner.key == (self.ws.foundation.user,):
            return self._of_users(reader, owner, source)
        if source.of_users:
            return self._stored_of(reader, owner, self.users_touched(reader))
        rows = self._whole_table(reader, owner)
        if source.before_this_run:
            before = self.versions_before.get(owner.name)
            if before is None or lags(self.positions, reader, owner):
                # What the reader last saw is not known: to it, all of this run's rows are news.
                return rows.limit(0)
            rows = self.ws.tables.read(self.ws.table(owner), version=before)
        if source.near or source.of_sessions:
            rows = on_days_of(rows, self.ws.destination(owner), self.replaced.search(owner))
        if source.touched:
            rows = self.recompute.of_touched_keys(reader, rows)
        if source.of_sessions:
            rows = rows.join(self._session_ids(), self.ws.foundation.session, how="left_semi")
        return rows

    def _stored_by(self, reader: Model, owner: Model, column: str, asked: DataFrame) -> DataFrame:
        """The stored rows with one of the values that the column has in a frame."""
        stored, values = self._whole_table(reader, owner), asked.select(column).distinct()
        keyed = keyed_by(self.ws, owner, (column,))
        # What this run itself brought to old days is not known there yet.
        brought = () if owner.name == reader.name else self.replaced.search(owner)
        if keyed is None or brought is None or not self.key_days.covers(keyed):
            return stored.join(values, column, how="left_semi")
        values, size = measured(values, {"values": F.count(F.lit(1))})
        if not size["values"]:
            return stored.limit(0)
        days = self.key_days.days_of(keyed, values, [column], at_most=size["values"])
        if owner.name == reader.name and reader.key == (column,):
            self.own_days[reader.name] = days
        near = on_days_of(stored, self.ws.destination(owner), (*days, *brought))
        return near.join(few(values, size["values"]), column, how="left_semi")

    def search(
        self, member: Model, rows: DataFrame, *, number: int, on: Collection[date | None]
    ) -> tuple[DayRange, ...] | None:
        """The days on which stored rows that the run's rows replace can lie; None: anywhere.

        `number` and `on`: how many rows the run has, and on which days.
        """
        search = self.replaced.search(member)
        if search is not None:
            return search
        if member.name in self.own_days:
            # Rows that it did not look up by their key stay where they are.
            return (*self.own_days[member.name], *day_ranges(day for day in on if day is not None))
        keyed = keyed_by_key(self.ws, member)
        if keyed is None or not self.key_days.covers(keyed):
            return None
        return self.key_days.days_of(keyed, rows, keyed.columns, at_most=number)

    def _of_users(self, reader: Model, owner: Model, source: Stored) -> DataFrame:
        """Stored rows of the users of this run's sessions, with or without what the run changed."""
        with self.lock:
            if owner.name not in self.rows_of_users:
                self.rows_of_users[owner.name] = self._read_of_users(reader, owner)
            before = self.rows_of_users[owner.name]
        if source.before_this_run:
            # Where the reader is behind, or ahead, all of this run's rows are news to it.
            return before.limit(0) if lags(self.positions, reader, owner) else before
        if (made_anew := self.replaced.made_anew(owner)) is not None:
            anew = few(made_anew, self.intake.most_users)
            before = before.join(anew, self.ws.foundation.user, how="left_anti")
        change = self.recompute.changes.get(owner.name)
        if change is None:
            return before
        if change.is_whole:
            return change.rows
        kept = before.join(change.rows.select(*owner.key), list(owner.key), how="left_anti")
        return kept.unionByName(change.rows)

    def _read_of_users(self, reader: Model, owner: Model) -> DataFrame:
        """The stored rows of this run's users; whoever stores new ones knows where these lie."""
        table, user = self.ws.table(owner), self.ws.foundation.user
        if not self.ws.tables.exists(table):
            return self._whole_table(reader, owner)
        total = Observed()
        counted = total.over(self.ws.tables.read(table), {"rows": F.count(F.lit(1))})
        # However long the table is, it stays where it lies.
        everyone = few(self.intake.everyone, self.intake.most_users)
        found, figures = measured(
            counted.join(everyone, user, how="left_semi"), {"rows": F.count(F.lit(1))}
        )
        if owner.key == (user,) and owner.date is None and owner.replaces is None:
            stored = total.figures()["rows"] if figures["rows"] else 0
            self.touched[owner.name] = Touched.without_days(stored, figures["rows"])
        return found

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

    def _nearby(self, member: Model) -> DataFrame:
        """Stored rows of the model itself, of other sessions, on days near this run's."""
        rows = self._whole_table(member, member)
        near = on_days_of(rows, self.ws.destination(member), self.replaced.search(member))
        of_run = few(self._session_ids(), self.intake.counts.get("sessions", 0))
        return near.join(of_run, self.ws.foundation.session, how="left_anti")

    # --- users -------------------------------------------------------------------------------

    def _visits(self, reader: Model) -> Visits:
        """How the sessions of this run's users changed, and what the reader's table has of them."""
        users = self.users_touched(reader)
        owner = self.ws.sessions_model
        if owner is None or (reader.name, owner.name) not in self.in_step:
            return Visits(users, None, partial(self._sessions_of, reader))
        user, session = self.ws.foundation.user, self.ws.foundation.session
        after = self.rows_of(owner)
        before = self.versions_before[owner.name]
        if before is None:
            stored = after.limit(0)
        else:
            table = self.ws.tables.read(self.ws.table(owner), version=before)
            near = on_days_of(table, self.ws.destination(owner), self.replaced.search(owner))
            # Columns may have been added since.
            stored = after.limit(0).unionByName(
                near.select(*(it for it in after.columns if it in near.columns)),
                allowMissingColumns=True,
            )
        of_run = self._session_ids()
        changed = Changed(
            known=self._stored_users(reader, users),
            before=stored.join(of_run, session, how="left_semi"),
            after=after,
            beside=stored.join(of_run, session, how="left_anti").join(users, user, how="left_semi"),
        )
        return Visits(users, changed, partial(self._stored_of, reader, owner))

    def _stored_users(self, reader: Model, users: DataFrame) -> DataFrame:
        """The reader's stored rows of these users; its upsert then knows where these lie."""
        user, destination = self.ws.foundation.user, self.ws.destination(reader)
        if not self.ws.tables.exists(destination.table):
            return self._whole_table(reader, reader)
        rows = self.ws.tables.read(destination.table)
        keyed = keyed_by_user(self.ws, reader)
        if keyed is not None and self.key_days.covers(keyed):
            number = self._number_of_users(reader)
            rows = rows.where(self.key_days.bound(keyed, users, [user], at_most=number))
        day = destination.day_column(dict(rows.dtypes))
        assert day is not None
        on_day = F.to_date(day)
        looked, found = Observed(), Observed()
        every = looked.over(rows, {"rows": F.count(F.lit(1)), "days": F.collect_set(on_day)})
        known = found.over(
            every.join(self._few(users, reader), user, how="left_semi"),
            {
                "rows": F.count(F.lit(1)),
                "days": F.collect_set(on_day),
                "without": F.count_if(on_day.isNull()),
            },
        )

        def touched() -> Touched:
            hits = found.figures()
            days = (*hits["days"], *([None] * (hits["without"] > 0)))
            if not days:
                return Touched((), 0, 0)
            all_days = looked.figures()
            stored = all_days["rows"] * len(days) // max(1, len(all_days["days"]))
            return Touched(days, stored, hits["rows"])

        self.touched[reader.name] = touched
        # Where plans change on their way, what finds no row may be dropped with its measures.
        is_adaptive = self.ws.spark.conf.get("spark.sql.adaptive.enabled") == "true"
        return materialize(known) if is_adaptive else known

    def touched_by(self, member: Model) -> Touched | None:
        """What was found of the stored rows that a model's rows replace; None: nobody looked."""
        found = self.touched.get(member.name)
        return found() if callable(found) else found

    def _sessions_of_users(self, reader: Model) -> DataFrame:
        """Every stored session of the users that this run touches, however old."""
        return self._sessions_of(reader, self.users_touched(reader))

    def _sessions_of(self, reader: Model, users: DataFrame) -> DataFrame:
        """Every stored session of these users, of the table that the project names for it."""
        own_table = self.ws.package.own_sessions_table(self.ws.settings)
        owner = self.ws.model_of_table(own_table) if own_table else self.ws.sessions_model
        user = self.ws.foundation.user
        if owner is None:
            stored = self.ws.spark.read.table(str(own_table))
        elif self.key_days.covers(keyed_by_user(self.ws, owner)):
            return self._stored_of(reader, owner, users)
        else:
            stored = self._whole_table(reader, owner)
            stored = self._since_first_visit(reader, owner, stored)
        return stored.join(self._few(users.select(user), reader), user, how="left_semi")

    def _stored_of(self, reader: Model, owner: Model, users: DataFrame) -> DataFrame:
        """Every stored row of these users, on whichever days they lie."""
        user, keyed = self.ws.foundation.user, keyed_by_user(self.ws, owner)
        stored = self._whole_table(reader, owner)
        if keyed is not None and self.key_days.covers(keyed):
            # What this run itself brought to old days is not known there yet.
            near = self.intake.days_around(before=1, after=0)
            number = self._number_of_users(reader)
            bound = self.key_days.bound(keyed, users, [user], also=near, at_most=number)
            stored = stored.where(bound)
        return stored.join(self._few(users.select(user), reader), user, how="left_semi")

    def _since_first_visit(self, reader: Model, sessions: Model, stored: DataFrame) -> DataFrame:
        """The stored sessions since the first visit of any touched user: a bound that prunes files.

        Only to be had while users have seen all that sessions have.
        """
        if lags(self.positions, reader, sessions) or "start_tstamp_date" not in stored.columns:
            return stored
        first_visits = self._days_of_stored_users(reader)
        days = [*self.intake.days, *(first_visits or ())]
        if first_visits is None or not days:
            return stored
        since = day_ranges(days, before=1)[0].first
        return stored.where(
            (F.col("start_tstamp_date") >= F.lit(since)) | F.col("start_tstamp_date").isNull()
        )

    def _days_of_stored_users(self, reader: Model) -> tuple[date, ...] | None:
        """The days on which touched users first came, by the reader's own table; None: who knows.

        The same look tells where the rows lie that the reader's new ones replace.
        """
        user, destination = self.ws.foundation.user, self.ws.destination(reader)
        is_of_users = reader.key == (user,) and reader.replaces == user
        if reader.path or not is_of_users or not self.ws.tables.exists(destination.table):
            return None
        stored = self.ws.tables.read(destination.table)
        day = destination.day_column(dict(stored.dtypes))
        if day is None:
            return None
        found = look(stored, reader.key, day, Replaced((user,), self.users_touched(reader)))
        self.touched[reader.name] = found
        return tuple(it for it in found.days if it is not None)

    def users_touched(self, member: Model) -> DataFrame:
        """Users of this run's sessions, and users who had one of these sessions until now.

        The lifecycle says whose a session was when sessions were last processed. A model that did
        not run then, or failed, knows an older answer: that of the sessions it was made from.
        """
        with self.lock:
            if member.name not in self.users_of_readers:
                self.users_of_readers[member.name] = self._find_users(member)
            return self.users_of_readers[member.name]

    def _find_users(self, member: Model) -> DataFrame:
        users, before = self.intake.users, self._sessions_seen_by(member)
        if before is None:
            return users
        user, session = self.ws.foundation.user, self.ws.foundation.session
        former = before.join(self._session_ids(), session, how="left_semi").select(user)
        every = users.union(former.where(F.col(user).isNotNull())).distinct()
        found, size = measured(every, {"users": F.count(F.lit(1))})
        self.numbers_of_users[member.name] = size["users"]
        return found

    def _few(self, users: DataFrame, member: Model) -> DataFrame:
        """The users that a model sees, or some of them, to be sent to where stored rows lie."""
        return few(users, self._number_of_users(member))

    def _number_of_users(self, member: Model) -> int:
        """At most so many users are touched, as a model sees it."""
        return self.numbers_of_users.get(member.name, self.intake.most_users)

    def _sessions_seen_by(self, member: Model) -> DataFrame | None:
        """The sessions table as it was when the model last succeeded; None when it is not older."""
        owner = self.ws.sessions_model
        if owner is None or (before := self.versions_before.get(owner.name)) is None:
            return None
        table = self.ws.table(owner)
        then = versions_at_success(self.ws, self.seen, member).get(str(table))
        if then is None or then == before:
            return None
        destination = self.ws.destination(owner)
        try:
            rows = self.ws.tables.read(table, version=then)
        except GoneVersionError:
            # It has been cleaned up: what the model was made from is not to be had any more.
            self.notes.append(
                f"{member.name} did not run when {owner.name} last changed, and version {then} of "
                f"{table} is gone: a row of a user who has no session left may stay. "
                f"`--full-refresh --select {member.name}` makes sure."
            )
            return None
        return on_days_of(rows, destination, self.intake.days_around(before=1, after=0))

    def _session_ids(self) -> DataFrame:
        return self.intake.sessions.select(F.col(SESSION_ID).alias(self.ws.foundation.session))
