"""Users as the sum of their sessions: the first one, the last one, and totals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from windrow.models.extras import Extras
from windrow.models.model import Reads
from windrow.tables.frames import measured

STEPS = ("users_this_run", "users_aggs", "users_lasts", "users_sessions_this_run")
"""What the SQL packages make users in."""


def reads_sessions(*, user: str, session: str) -> Reads:
    """What users are made from: the package's stored `sessions`, the first of which describes them.

    A project's own columns come from there too.
    """
    return Reads(
        extras=Extras("sessions_of_users", by=(user,), first=("start_tstamp", session)),
        after=("sessions",),
    )


@dataclass(frozen=True)
class Changed:
    """What a run changed of its users' sessions, and what was known of the users before."""

    known: DataFrame
    """The users' stored rows, which tell of all sessions as they were until now."""
    before: DataFrame
    """This run's sessions as they were stored until now."""
    after: DataFrame
    """The same as they are now."""
    beside: DataFrame
    """Stored sessions of these users on the days of those, which are not of this run."""


@dataclass(frozen=True)
class Visits:
    """The visits of a run's users: what a model gets that takes `visits`."""

    users: DataFrame
    """Those whose rows the run brings up to date."""
    changed: Changed | None
    """None: the users' rows do not tell of all sessions, so that each is to be made of all."""
    sessions_of: Callable[[DataFrame], DataFrame]
    """All stored sessions of some of the users."""


@dataclass(frozen=True)
class Summary:
    """How a user's row sums up the user's sessions: the first one, the last one, and totals."""

    user: str
    session: str
    of_first: Mapping[str, str]
    """Column of users -> the column of the first session that it is."""
    of_last: Mapping[str, str]
    """The same of the last session."""
    totals: Mapping[str, str]
    """Column of users -> the column of sessions that it sums up."""
    days: str | None = None
    """Column of users that counts the days on which sessions began."""

    def of_users(self, visits: Visits) -> DataFrame:
        """The users' rows: carried on from what is stored, or else made of all their sessions.

        A row can be carried on unless what described it went: its first session moved away, or its
        last one became shorter. Those users alone are made anew.
        """
        if visits.changed is None:
            return self.of(visits.sessions_of(visits.users))
        changes = self._changes(visits.users, visits.changed)
        carried, found = measured(self._carried(changes), {"unsure": F.count_if(~F.col("is_sure"))})
        sure = carried.where(F.col("is_sure") & (F.col("sessions") > 0)).drop("is_sure")
        if not found["unsure"]:
            return sure
        unsure = carried.where(~F.col("is_sure")).select(self.user)
        return sure.unionByName(self.of(visits.sessions_of(unsure)))

    def of(self, sessions: DataFrame) -> DataFrame:
        """One row per user, of all the user's sessions."""
        days = {self.days: F.count_distinct(F.to_date("start_tstamp"))} if self.days else {}
        return self._flat(
            sessions.groupBy(self.user).agg(
                F.min("start_tstamp").alias("start_tstamp"),
                F.max("end_tstamp").alias("end_tstamp"),
                F.count_distinct(F.col(self.session)).alias("sessions"),
                F.max_by(self._described(self.of_first), self._earliest).alias("first"),
                F.max_by(self._described(self.of_last), self._latest).alias("last"),
                *(F.sum(column).alias(name) for name, column in self.totals.items()),
                *(value.alias(name) for name, value in days.items()),
            )
        )

    # Of two sessions that start, or end, at the same time, the one with the greater id counts.

    @property
    def _earliest(self) -> Column:
        return F.struct(-F.unix_micros("start_tstamp"), F.col(self.session))

    @property
    def _latest(self) -> Column:
        return F.struct("end_tstamp", self.session)

    def _described(self, columns: Mapping[str, str]) -> Column:
        return F.struct(*(F.col(column).alias(name) for name, column in columns.items()))

    def _flat(self, rows: DataFrame) -> DataFrame:
        """The rows with what the first and the last session describe as columns of their own."""
        return rows.select("*", "first.*", "last.*").drop("first", "last")

    def _changes(self, users: DataFrame, changed: Changed) -> DataFrame:
        """The users' sessions of this run, as they were and as they are, with what is known."""
        known = changed.known.select(
            self.user,
            F.struct(
                *("start_tstamp", "end_tstamp", "sessions", *self.totals),
                *([self.days] if self.days else []),
                F.struct(*self.of_first).alias("first"),
                F.struct(*self.of_last).alias("last"),
            ).alias("known"),
        )
        signed = [(changed.before, -1), (changed.after, 1)]
        if self.days:
            signed.append((changed.beside, 0))
        sessions = reduce(DataFrame.unionByName, (self._signed(*it) for it in signed))
        # Users of whom this run has no session any more have changed as well.
        everyone = users.select(self.user).join(sessions, self.user, how="left")
        return everyone.join(known, self.user, how="left")

    def _signed(self, sessions: DataFrame, sign: int) -> DataFrame:
        return sessions.select(
            self.user,
            *(self.session, "start_tstamp", "end_tstamp"),
            self._described(self.of_first).alias("first"),
            self._described(self.of_last).alias("last"),
            *(F.col(column).alias(name) for name, column in self.totals.items()),
            F.lit(sign).alias("sign"),
        )

    def _carried(self, changes: DataFrame) -> DataFrame:
        """The users' rows, carried on by what the run changed; `is_sure`: that is exact."""
        is_old, is_new = F.col("sign") < 0, F.col("sign") > 0
        begins_it = F.col("start_tstamp") == F.col("known.start_tstamp")
        ends_it = F.col("end_tstamp") == F.col("known.end_tstamp")

        def alike(is_it: Column, what: str) -> Column:
            """Whether the same sessions were it as are, and describe it alike; none, as a rule."""
            described = F.struct(self.session, what)
            was, are = (F.collect_set(F.when(it & is_it, described)) for it in (is_old, is_new))
            return F.sort_array(was) == F.sort_array(are)

        summed = changes.groupBy(self.user).agg(
            F.first("known").alias("known"),
            F.count_if(is_old).alias("old"),
            F.count_if(is_new).alias("new"),
            F.min(F.when(is_old, F.col("start_tstamp"))).alias("old_start"),
            F.max(F.when(is_old, F.col("end_tstamp"))).alias("old_end"),
            F.min(F.when(is_new, F.col("start_tstamp"))).alias("new_start"),
            F.max(F.when(is_new, F.col("end_tstamp"))).alias("new_end"),
            F.max_by("first", F.when(is_new, self._earliest)).alias("new_first"),
            F.max_by("last", F.when(is_new, self._latest)).alias("new_last"),
            alike(begins_it, "first").alias("begins_alike"),
            alike(ends_it, "last").alias("ends_alike"),
            F.count_if(
                (is_old | is_new) & (F.col("start_tstamp").isNull() | F.col("end_tstamp").isNull())
            ).alias("timeless"),
            *(
                F.sum(F.when(is_it, F.col(name))).alias(f"{prefix}_{name}")
                for name in self.totals
                for prefix, is_it in (("old", is_old), ("new", is_new))
            ),
            *(
                F.count_distinct(F.when(is_it, F.to_date("start_tstamp"))).alias(f"{prefix}_days")
                for prefix, is_it in (("old", ~is_new), ("new", ~is_old))
                if self.days
            ),
        )
        return self._brought_on(summed)

    def _brought_on(self, summed: DataFrame) -> DataFrame:
        known = F.col("known")
        is_unknown = known.isNull()
        # Nothing beside this run: what it has is all there is.
        is_all = F.when(is_unknown, F.col("old") == 0).otherwise(F.col("old") == known["sessions"])
        is_earlier = F.coalesce(F.col("new_start") < known["start_tstamp"], F.lit(False))
        is_later = F.coalesce(F.col("new_end") > known["end_tstamp"], F.lit(False))
        was_within = F.coalesce(
            (F.col("old_start") >= known["start_tstamp"])
            & (F.col("old_end") <= known["end_tstamp"]),
            F.col("old") == 0,
        )
        sums = {name: _sum(known[name], f"old_{name}", f"new_{name}") for name in self.totals}
        has_sums = reduce(Column.__and__, (is_sure for _, is_sure in sums.values()), F.lit(True))
        is_carried = (
            ~is_unknown
            & (F.col("old") < known["sessions"])
            & (F.col("timeless") == 0)
            & was_within
            & (is_earlier | F.col("begins_alike"))
            & (is_later | F.col("ends_alike"))
            & has_sums
        )
        takes_first, takes_last = is_all | is_earlier, is_all | is_later
        values = {
            "start_tstamp": F.when(is_all, F.col("new_start")).otherwise(
                F.least("new_start", known["start_tstamp"])
            ),
            "end_tstamp": F.when(is_all, F.col("new_end")).otherwise(
                F.greatest("new_end", known["end_tstamp"])
            ),
            "sessions": F.col("new")
            + F.when(is_all, 0).otherwise(known["sessions"] - F.col("old")),
            "first": F.when(takes_first, F.col("new_first")).otherwise(known["first"]),
            "last": F.when(takes_last, F.col("new_last")).otherwise(known["last"]),
            **{
                name: F.when(is_all, F.col(f"new_{name}")).otherwise(value)
                for name, (value, _) in sums.items()
            },
        }
        if self.days:
            others = F.when(is_all, 0).otherwise(known[self.days] - F.col("old_days"))
            values[self.days] = F.col("new_days") + others
        return self._flat(
            summed.select(
                self.user,
                *(value.alias(name) for name, value in values.items()),
                F.coalesce(is_all | is_carried, F.lit(False)).alias("is_sure"),
            )
        )


def _sum(known: Column, old: str, new: str) -> tuple[Column, Column]:
    """A total without what sessions were and with what they are; and whether that is sure.

    A sum of nothing but nulls is null. Where nothing is left, nobody knows which of the two it is.
    """
    left = known - F.coalesce(F.col(old), F.lit(0))
    value = F.when(F.col(new).isNull(), left).otherwise(F.coalesce(left, F.lit(0)) + F.col(new))
    is_unsure = F.col(new).isNull() & F.col(old).isNotNull() & (left == 0)
    return value, ~F.coalesce(is_unsure, F.lit(False))
