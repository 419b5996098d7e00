"""How long a run will take, by a ledger of literal runs."""

from __future__ import annotations

from datetime import timedelta

import pytest

from website import at
from windrow.engine.forecast import expected_seconds
from windrow.state.limits import State
from windrow.state.runs import ModelFate, ModelOutcome, Outcome, RunRecord

BOTH = ("page_views", "users")


def ran(
    seconds: float,
    events: int,
    *,
    models: tuple[str, ...] = BOTH,
    outcome: str = "succeeded",
    state: str = "standard",
) -> RunRecord:
    began = at("2024-01-02 00:00")
    return RunRecord(
        run_id="r",
        package="web",
        outcome=Outcome(outcome),
        state=state,
        started_at=began,
        finished_at=began + timedelta(seconds=seconds),
        models=tuple(ModelOutcome(name, ModelFate.SUCCEEDED) for name in models),
        counts={"window_events": events},
    )


@pytest.mark.parametrize(
    ("runs", "events", "expected"),
    [
        ([], 1000, None),
        ([ran(10, 1000)], None, None),
        ([ran(10, 900), ran(12, 1000), ran(60, 1100)], 1000, 12),
        # A small run is made up of what every run does, whatever it takes in.
        ([ran(10, 1000)], 2000, 10),
        ([ran(60, 200_000)], 400_000, 120),
        # Of another size, of other models, not to its end, with no rows to replace.
        ([ran(10, 1000)], 4000, None),
        ([ran(10, 1000, models=("page_views",))], 1000, None),
        ([ran(10, 1000, outcome="undone")], 1000, None),
        ([ran(10, 1000, state="first_run")], 1000, None),
    ],
)
def test_a_run_takes_as_long_as_those_before_it_of_its_kind_and_size(
    runs: list[RunRecord], events: int | None, expected: float | None
):
    assert expected_seconds(runs, State.STANDARD, BOTH, events) == expected
