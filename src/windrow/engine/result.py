"""What a run did."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from windrow.engine.plan import Plan
from windrow.models.checks import CheckResult
from windrow.state.runs import ModelOutcome, Outcome, RunRecord


@dataclass(frozen=True)
class RunResult:
    """What a run did."""

    run_id: str | None
    plan: Plan
    outcome: Outcome
    models: tuple[ModelOutcome, ...] = ()
    counts: dict[str, int] | None = None
    reached: datetime | None = None
    """The greatest collector time consumed."""
    moved: dict[str, datetime] = field(default_factory=dict)
    """The manifest rows that moved, and where to."""
    is_caught_up: bool = True
    """False when another run at the same clock would find more to do."""
    seconds: float = 0.0
    undone: tuple[str, ...] = ()
    """Runs that had been killed and were undone first."""
    late: tuple[RunResult, ...] = ()
    """What was done, beside this run, for events from before its window that were loaded late."""
    catch_up: RunResult | None = None
    """What was done, beside this run, for models that lag behind the others."""
    checks: tuple[CheckResult, ...] = ()
    """What came of the checks; none when none were asked for."""
    record: RunRecord | None = None
    """What the ledger was told."""

    @property
    def has_failed(self) -> bool:
        """True when a model failed, or a check that stopped the run, here or in the catch-up."""
        is_bad = self.outcome in (Outcome.FAILED, Outcome.REJECTED)
        return is_bad or any(it.has_failed for it in self.beside)

    @property
    def beside(self) -> tuple[RunResult, ...]:
        """All that was done beside this run."""
        return (*self.late, *([] if self.catch_up is None else [self.catch_up]))
