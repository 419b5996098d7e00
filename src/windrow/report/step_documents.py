"""The lines of `--log-format json`. Their keys are public: docs/json.md lists them."""

from __future__ import annotations

from datetime import datetime

from windrow.engine.steps import RunFacts, Step
from windrow.report.documents import Document, moment
from windrow.report.tally import Tally


def step_document(step: Step, package: str | None, time: datetime, tally: Tally) -> Document:
    """One line of `--log-format json`; `tally`: how far the run is with this step."""
    run, left = tally.run, tally.seconds_left(time)
    return {
        "time": moment(time),
        "event": _event(step),
        "package": package,
        "run_id": None if run is None else run.run_id,
        "step": step.name,
        "status": step.status,
        "rows": step.rows,
        "seconds": round(step.seconds, 3),
        "detail": step.detail,
        "models_done": None if run is None else tally.models_done,
        "models_total": tally.models_total,
        "seconds_left": None if left is None else round(left, 3),
        "run": None if step.run is None else _facts(step.run),
    }


def _event(step: Step) -> str:
    match step.kind, step.status:
        case "run", "started":
            return "run_started"
        case "run", _:
            return "run_finished"
        case "model", "started":
            return "model_started"
        case "model", _:
            return "model_done"
        case _, "info" | "nothing":
            return "note"
        case _:
            return "phase"


def _facts(run: RunFacts) -> Document:
    return {
        "state": run.state,
        "lower_limit": moment(run.lower_limit),
        "upper_limit": moment(run.upper_limit),
        "models": list(run.models),
        "window_events": run.window_events,
        "expected_seconds": None
        if run.expected_seconds is None
        else round(run.expected_seconds, 3),
    }
