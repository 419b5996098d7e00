"""Which stored rows a model's rows of this run stand for, and on which days those can lie."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from windrow.engine.intake import Intake
from windrow.engine.upsert import Replaced
from windrow.engine.workspace import Workspace
from windrow.models.foundation import SESSION_ID
from windrow.models.model import Keeps, Model
from windrow.models.own_models import day_columns
from windrow.state.limits import Limits
from windrow.tables.days import DayRange, day_ranges
from windrow.tables.frames import frame_of


def looked_back(ws: Workspace, models: Iterable[Model]) -> dict[str, int]:
    """Model -> so many days back the same id of another session, or a copy of an event, is found.

    Of those models whose ids come back: a page that stays open, a receipt that is loaded again. One
    that comes back after more than these days has a second row.
    """
    settings = ws.settings
    days = max(1, settings.upsert_lookback_days)
    found = {m.name: days for m in models if "nearby" in m.inputs.values() and m.kind != "this_run"}
    # Where lateness has a limit, no two copies of an event lie further apart than what is searched.
    if settings.compat or not settings.has_late_limit:
        kept = [
            m for m in models if m.keeps == "earliest" or (settings.compat and m.keeps != "new")
        ]
        found |= dict.fromkeys((member.name for member in kept), days)
    return found


@dataclass(frozen=True)
class ReplacedRows:
    """What the rows of one run replace."""

    ws: Workspace
    intake: Intake
    limits: Limits
    positions: dict[str, datetime]

    def has_new_events(self, member: Model) -> bool:
        """False when the model has consumed this window before: its rows stay as they are."""
        if self.limits.state.is_past:
            return True
        position = self.positions.get(member.full_name)
        if position is None or self.limits.upper > position:
            return True
        return not self.ws.settings.compat and bool(self.gathered(member))

    def gathered(self, member: Model) -> tuple[str, ...]:
        """Of the models whose rows this one gathers, those that have not seen the window yet.

        In the reference, a new one's history never comes here.
        """
        if self.ws.settings.compat:
            return member.gathers
        return tuple(n for n in member.gathers if self.has_new_events(self.ws.model(n)))

    def replaced(
        self, member: Model, rows: DataFrame, users_touched: Callable[[Model], DataFrame]
    ) -> Replaced | None:
        """The stored rows that go although no row of the run has their key; None: none do."""
        foundation = self.ws.foundation
        if member.replaces == foundation.session:
            sessions = self.intake.sessions.select(F.col(SESSION_ID).alias(foundation.session))
            return Replaced((foundation.session,), sessions, self.intake.counts.get("sessions"))
        made_anew = self.made_anew(member)
        if member.replaces == foundation.user or made_anew is not None:
            users = users_touched(member) if made_anew is None else made_anew
            # The rows may bring other users too, who are not to be stored twice.
            users = users.union(rows.select(foundation.user))
            return Replaced((foundation.user,), users.distinct())
        if member.replaces is not None and member.replaces == self._day_column(member):
            days = [[str(day)] for found in self._near_days for day in found.days()]
            return Replaced(
                (member.replaces,), frame_of(self.ws.spark, days, {member.replaces: "date"})
            )
        return None

    def keeps(self, member: Model) -> Keeps:
        """Which row of a key stays, the stored one or the run's; in the reference the run's."""
        return "new" if self.ws.settings.compat else member.keeps

    def made_anew(self, member: Model) -> DataFrame | None:
        """The users whose rows are made of this run's events alone, stored ones aside."""
        is_of_users = member.key == (self.ws.foundation.user,) and member.carries_users_on
        return self.intake.made_anew if is_of_users else None

    def search(self, member: Model) -> tuple[DayRange, ...] | None:
        """The days on which stored rows that the run's rows replace can lie; None: anywhere."""
        session = self.ws.foundation.session
        if member.replaces is not None and member.replaces == self._day_column(member):
            return self._near_days
        if member.keeps != "new":
            return self._search_by_key(member)
        if member.replaces != session or member.follows_sessions:
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

    def _day_column(self, member: Model) -> str | None:
        columns = member.columns_for(self.ws.settings_of(member))
        if columns is None:
            # Only its rows will tell: what it replaces by is its day, or it has none.
            return member.replaces if member.replaces in day_columns(member) else None
        return self.ws.destination(member).day_column(columns)

    @property
    def _near_days(self) -> tuple[DayRange, ...]:
        """The days on which rows that tell of whole sessions can lie.

        A session that begins with a ping starts a minimum visit before its first event.
        """
        return self.intake.days_around(before=1, after=0)
