"""How far a run is, by the steps that it has told."""

from __future__ import annotations

from datetime import datetime, timedelta

from windrow.engine.steps import RunFacts, Step


class Tally:
    """Takes steps as they come; between two runs it is empty."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """No run goes on."""
        self.run: RunFacts | None = None
        self.models_done = 0
        self.rows = 0
        """Those that models have written."""
        self.running: dict[str, str] = {}
        """Step that goes on -> what to call it."""

    def take(self, step: Step) -> None:
        """Note a step; a run that has ended stays until another begins, or all is cleared."""
        if step.kind == "run":
            if step.run is not None:
                self.clear()
                self.run = step.run
            self.running.clear()
            return
        if step.status == "started":
            self.running[step.name] = step.detail or step.name
        else:
            self.running.pop(step.name, None)
        if step.kind == "model" and step.status != "started":
            self.models_done += 1
            self.rows += step.rows or 0

    @property
    def models_total(self) -> int | None:
        """The models of the run; None when there is no run."""
        return None if self.run is None else len(self.run.models)

    def elapsed(self, now: datetime) -> timedelta:
        """How long the run has been going on."""
        return timedelta(0) if self.run is None else max(now - self.run.began, timedelta(0))

    def seconds_left(self, now: datetime) -> float | None:
        """What earlier runs leave of it; None: there were none, or it takes longer than those."""
        if self.run is None or self.run.expected_seconds is None:
            return None
        left = self.run.expected_seconds - self.elapsed(now).total_seconds()
        return left if left > 0 else None
