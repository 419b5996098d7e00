"""How far each model has come -> which stretch of collector time the next run takes in.

Plain arithmetic on UTC instants: no Spark, no clock, no tables.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from enum import Enum

from windrow.errors import ConfigError


class State(Enum):
    """Which of the four situations a package is in before a run; or that one was asked for."""

    FIRST_RUN = "first_run"
    NEW_MODEL = "new_model"
    OUT_OF_SYNC = "out_of_sync"
    STANDARD = "standard"
    RERUN = "rerun"
    """Not a situation: someone asked for a past window."""
    LATE = "late"
    """Nor this: events from before the window were loaded since the last run."""

    @property
    def number(self) -> int | None:
        """The state's number in the documentation of the SQL packages, 1 to 4."""
        return None if self.is_past else list(State).index(self) + 1

    @property
    def is_past(self) -> bool:
        """True when a run is about what was processed before: no position moves for it."""
        return self in (State.RERUN, State.LATE)

    @property
    def sentence(self) -> str:
        """The state in words, as a run logs it."""
        return _SENTENCES[self]


_SENTENCES = {
    State.FIRST_RUN: "First run of the package",
    State.NEW_MODEL: "New model introduced: replaying history for it",
    State.OUT_OF_SYNC: "Models out of sync: catching up",
    State.STANDARD: "Standard incremental run",
    State.RERUN: "Processing a past window again",
    State.LATE: "Taking in events that were loaded late",
}
MICROSECOND = timedelta(microseconds=1)
_FIRST_OF_SELECTION = "New model introduced: first run of this selection"


@dataclass(frozen=True)
class Limits:
    """The closed window of collector time that a run takes in, and the state that led to it."""

    state: State
    lower: datetime
    upper: datetime
    progress: datetime | None
    """Where the models that lag most stand; None when they have consumed nothing yet."""
    ceiling: datetime
    """The furthest this state may ever read: the clock, or where the leading models stand."""
    is_beside_others: bool = False
    """True of a first run: it is that of a selection, and other models have a past."""

    @property
    def is_inverted(self) -> bool:
        """True when the window ends before it begins, so that nothing can be read."""
        return self.lower > self.upper

    @property
    def is_cut_short(self) -> bool:
        """True when the back-fill limit, not the end of what there is, ended the window."""
        return self.upper < self.ceiling

    @property
    def sentences(self) -> tuple[str, str]:
        """The state and the window in words."""
        return (
            _FIRST_OF_SELECTION if self.is_beside_others else self.state.sentence,
            f"Processing data between {_seconds(self.lower)} and {_seconds(self.upper)}",
        )


def run_limits(
    positions: Mapping[str, datetime],
    tracked: Collection[str],
    *,
    start_date: date,
    backfill_limit_days: int,
    lookback_window_hours: int,
    now: datetime,
    looks_back_before_start: bool = False,
) -> Limits:
    """The limits of the next run over the `tracked` models, given the manifest's `positions`.

    Manifest rows of other models (disabled, removed, not selected) play no part. The look-back of
    an early run ends at `start_date`: events from before it are not ours, and taking them in would
    make the tables depend on how runs were cut; the reference does. A `start_date` that was moved
    past what was consumed means nothing to models that go on.
    """
    if not tracked:
        raise ConfigError("No model is enabled and selected, so there is nothing to run.")

    start = datetime.combine(start_date, time(), UTC)
    backfill = timedelta(days=backfill_limit_days)
    lookback = timedelta(hours=lookback_window_hours)
    consumed = [positions[model] for model in set(tracked) if model in positions]

    if not consumed:
        upper = min(start + backfill, now)
        return Limits(State.FIRST_RUN, start, upper, None, now, is_beside_others=bool(positions))

    behind, ahead = min(consumed), max(consumed)
    lower = behind - lookback
    if start <= behind and not looks_back_before_start:
        lower = max(lower, start)
    if len(consumed) < len(set(tracked)):
        return Limits(State.NEW_MODEL, start, min(ahead, start + backfill), None, ahead)
    if behind != ahead:
        upper = min(ahead, behind + backfill)
        return Limits(State.OUT_OF_SYNC, lower, upper, behind, ahead)
    return Limits(State.STANDARD, lower, min(behind + backfill, now), behind, now)


def rerun_limits(first: datetime, last: datetime, *, backfill_limit_days: int) -> list[Limits]:
    """A past window cut into the steps in which it is processed again."""
    step = timedelta(days=max(1, backfill_limit_days))
    steps: list[Limits] = []
    lower = first
    while lower < last or not steps:
        upper = min(lower + step, last)
        steps.append(Limits(State.RERUN, lower, upper, None, last))
        lower = upper
    return steps


def late_limits(
    days: Iterable[date], *, before: datetime, backfill_limit_days: int
) -> list[Limits]:
    """The days of late events, all from `before` a moment, as steps that are no longer than a run.

    Days without one between them are left out: a stray event of last year is a step of its own.
    """
    longest = timedelta(days=max(1, backfill_limit_days))
    steps: list[list[date]] = []
    for day in sorted(set(days)):
        if steps and day - steps[-1][0] < longest:
            steps[-1].append(day)
        else:
            steps.append([day])
    limits = []
    for step in steps:
        lower = datetime.combine(step[0], time(), UTC)
        upper = min(datetime.combine(step[-1], time.max, UTC), before - MICROSECOND)
        limits.append(Limits(State.LATE, lower, upper, None, upper))
    return limits


def past_gap(limits: Limits, next_event: datetime | None, *, backfill_limit_days: int) -> Limits:
    """The same limits reaching over a stretch without events, to where events go on.

    The look-back stays in the window: what was loaded late before the gap is not skipped with it.
    """
    if next_event is None:
        return replace(limits, upper=limits.ceiling)
    furthest = next_event + timedelta(days=backfill_limit_days)
    return replace(limits, upper=min(furthest, limits.ceiling))


def why_inverted(limits: Limits) -> str:
    """What an inverted window means and which option mends it."""
    if limits.state is State.FIRST_RUN:
        return (
            f"start_date {limits.lower:%Y-%m-%d} is in the future (now is "
            f"{_seconds(limits.ceiling)}): nothing is processed until then."
        )
    if limits.state is not State.NEW_MODEL:
        return (
            f"events until {_seconds(limits.lower)} and later were consumed, but the clock says "
            f"{_seconds(limits.ceiling)}: nothing is processed until it has come there."
        )
    return (
        f"start_date {limits.lower:%Y-%m-%d} is later than what the other models have consumed "
        f"({_seconds(limits.upper)}), so there is no history to replay for the new model. "
        "Set start_date to an earlier day."
    )


def _seconds(instant: datetime) -> str:
    return f"{instant:%Y-%m-%d %H:%M:%S}"
