"""Plans, runs and states as JSON documents. Their keys are public: docs/json.md lists them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from windrow.engine.plan import Plan
from windrow.engine.result import RunResult
from windrow.errors import WindrowError
from windrow.models.checks import CheckResult
from windrow.models.model import INPUTS_WITHOUT_ROWS, Model, Stored
from windrow.operations.doctor import Check
from windrow.operations.maintain import TableUpkeep, Upkeep
from windrow.operations.metrics import Sample
from windrow.operations.rerun import RerunPlan
from windrow.operations.rollback import Rollback
from windrow.operations.several_packages import PackageRuns
from windrow.operations.status import PackageStatus
from windrow.report.freshness import freshness_document
from windrow.report.volumes import sizes_document, volumes_document
from windrow.state.leases import Lease
from windrow.state.limits import State
from windrow.state.runs import ModelOutcome, RunRecord
from windrow.tables import Layout

Document = dict[str, Any]


def runs_document(done: Mapping[str, PackageRuns]) -> Document:
    """What `windrow run --json` prints: the runs of each package."""
    return {
        "packages": [
            {
                "package": package,
                "runs": [run_document(result) for result in it.runs],
                "error": None if it.error is None else _error(it.error)["error"],
            }
            for package, it in done.items()
        ]
    }


def run_document(result: RunResult) -> Document:
    """One run."""
    return {
        "run_id": result.run_id,
        "outcome": result.outcome,
        **_limits(result.plan),
        "reached": moment(result.reached),
        "models": [_outcome(outcome) for outcome in result.models],
        "counts": dict(result.counts or {}),
        "nothing_because": result.plan.nothing_because,
        "is_caught_up": result.is_caught_up,
        "undone": list(result.undone),
        "checks": [check_document(check) for check in result.checks],
        "seconds": round(result.seconds, 3),
        "notices": list(result.plan.notes),
        "late": [run_document(it) for it in result.late],
        "catch_up": run_document(result.catch_up) if result.catch_up else None,
    }


def check_document(result: CheckResult) -> Document:
    """One check of one table."""
    return {
        "table": result.table,
        "check": result.check,
        "severity": result.severity,
        "outcome": result.outcome,
        "failures": result.failures,
        "sample": [dict(row) for row in result.sample],
    }


def plans_document(
    plans: Iterable[Plan], errors: Mapping[str, WindrowError] | None = None
) -> Document:
    """What `windrow plan --json` prints; `errors`: package -> why it has no plan."""
    return {
        "packages": [plan_document(plan) for plan in plans],
        "errors": [
            {"package": package, **_error(error)} for package, error in (errors or {}).items()
        ],
    }


def _error(error: WindrowError) -> Document:
    return error_document(type(error).__name__, str(error), error.exit_code)


def plan_document(plan: Plan) -> Document:
    """What one run would do."""
    return {
        "package": plan.package,
        "target": plan.target,
        "now": moment(plan.now),
        **_limits(plan),
        "models": [member.full_name for member in plan.models],
        "tracked": list(plan.tracked),
        "nothing_because": plan.nothing_because,
        "gap": [moment(end) for end in plan.gap] if plan.gap else None,
        "settled_until": moment(plan.settled_until) if plan.settled_until else None,
        "reads": sizes_document(plan.reads),
        "volumes": volumes_document(plan.volumes),
        "unbounded": dict(plan.unbounded),
        "looks_back": dict(plan.looks_back),
        "notices": list(plan.notes),
        "late": [{**_limits(step), "events": step.late_events} for step in plan.late],
        "catch_up": plan_document(plan.catch_up) if plan.catch_up else None,
    }


def rerun_document(
    plans: Iterable[RerunPlan], results: Mapping[str, Sequence[RunResult]]
) -> Document:
    """What `windrow rerun --json` prints: the window, its steps, and the runs that were made."""
    return {
        "packages": [
            {
                "package": plan.package,
                "target": plan.target,
                "from": moment(plan.first),
                "to": moment(plan.last),
                "models": [member.full_name for member in plan.models],
                "beyond_window": [member.full_name for member in plan.beyond],
                "steps_done_before": plan.done,
                "steps": [
                    {
                        "lower_limit": moment(step.limits.lower),
                        "upper_limit": moment(step.limits.upper),
                    }
                    for step in plan.steps
                ],
                "runs": [run_document(result) for result in results.get(plan.package, ())],
            }
            for plan in plans
        ]
    }


def rollback_document(rollback: Rollback, *, is_done: bool) -> Document:
    """What `windrow rollback --json` prints."""
    return {
        "package": rollback.package,
        "target": rollback.target,
        "run_id": rollback.run_id,
        "is_done": is_done,
        "runs": list(rollback.runs),
        "tables": [
            {"table": str(change.table), "from_version": change.now, "to_version": change.then}
            for change in rollback.tables
        ],
    }


def unlocks_document(ended: Mapping[str, str | None]) -> Document:
    """What `windrow unlock --json` prints: the run whose lock ended, per package."""
    return {"packages": [{"package": name, "run_id": run} for name, run in ended.items()]}


def upkeeps_document(upkeeps: Iterable[Upkeep]) -> Document:
    """What `windrow maintain --json` prints."""
    return {
        "packages": [
            {
                "package": upkeep.package,
                "target": upkeep.target,
                "run_id": upkeep.run_id,
                "kept_since": moment(upkeep.kept_since),
                "has_deleted": upkeep.has_deleted,
                "undone": list(upkeep.undone),
                "tables": [_upkeep(table) for table in upkeep.tables],
            }
            for upkeep in upkeeps
        ]
    }


def _upkeep(upkeep: TableUpkeep) -> Document:
    files, expiry = upkeep.compaction, upkeep.expiry
    return {
        "table": str(upkeep.table),
        "layout": layout_document(upkeep.layout),
        "new_layout": layout_document(upkeep.new_layout) if upkeep.new_layout else None,
        "files_before": files.files_before if files else None,
        "files_after": files.files_after if files else None,
        "expired": {"count": expiry.count, "unit": expiry.unit, "is_more": expiry.is_more}
        if expiry
        else None,
        "problem": upkeep.problem,
    }


def layout_document(layout: Layout) -> Document:
    """What a table is laid out by."""
    return {"partition_by": list(layout.partition_by), "cluster_by": list(layout.cluster_by)}


def statuses_document(statuses: Iterable[PackageStatus]) -> Document:
    """What `windrow status --json` prints."""
    return {"packages": [_status(status) for status in statuses]}


def _status(status: PackageStatus) -> Document:
    plan = status.plan
    limits = (
        _limits(plan)
        if plan
        else dict.fromkeys(("state", "state_number", "lower_limit", "upper_limit"))
    )
    return {
        "package": status.package,
        "target": status.target,
        "now": moment(plan.now) if plan else None,
        **limits,
        "nothing_because": plan.nothing_because if plan else None,
        "catch_up": _limits(plan.catch_up) if plan and plan.catch_up else None,
        "problem": status.problem,
        "manifest": {model: moment(at) for model, at in sorted(status.positions.items())},
        "newest_event": moment(status.freshness.newest_event) if status.freshness else None,
        "freshness": freshness_document(status.freshness),
        "out_of_sync": status.out_of_sync,
        "edited": [
            {"model": it.name, "left_at": moment(it.then), "found_at": moment(it.now)}
            for it in status.edited
        ],
        "left_behind": list(status.left_behind),
        "quarantined": status.quarantined,
        "lease": _lease(status.lease) if status.lease else None,
        "is_running": status.is_running,
        "last_runs": [_record(record) for record in status.last_runs],
    }


def metrics_document(samples: Iterable[Sample]) -> Document:
    """What `windrow metrics --json` prints."""
    return {
        "metrics": [
            {
                "name": it.metric.name,
                "kind": it.metric.kind,
                "labels": dict(it.labels),
                "value": it.value,
            }
            for it in samples
        ]
    }


def models_document(models: Mapping[str, Sequence[Model]]) -> Document:
    """What `windrow ls --json` prints: the models of each package, in order."""
    return {
        "packages": [
            {"package": package, "models": [_model(member) for member in members]}
            for package, members in models.items()
        ]
    }


def inputs_of(member: Model) -> list[tuple[str, bool]]:
    """The frames that a model reads, and whether each is a whole stored table."""
    named = [
        (source.model, True) if isinstance(source, Stored) else (source, False)
        for source in member.inputs.values()
        if isinstance(source, Stored) or source not in INPUTS_WITHOUT_ROWS
    ]
    return [*named, *((name, True) for name in member.reads.after)]


def _model(member: Model) -> Document:
    return {
        "name": member.name,
        "table": member.full_name,
        "kind": member.kind,
        "key": list(member.key),
        "date": member.date,
        "grain": member.grain or None,
        "tags": list(member.tags),
        "inputs": [{"name": name, "is_stored": stored} for name, stored in inputs_of(member)],
        "path": member.path or None,
        "description": member.description,
    }


def checks_document(checks: Iterable[Check]) -> Document:
    """What `windrow doctor --json` prints."""
    listed = [{"name": it.name, "is_fine": it.is_fine, "detail": it.detail} for it in checks]
    return {"is_fine": all(check["is_fine"] for check in listed), "checks": listed}


def error_document(kind: str, message: str, exit_code: int) -> Document:
    """What any command prints with --json when it stops."""
    return {"error": {"type": kind, "message": message, "exit_code": exit_code}}


def moment(instant: datetime | None) -> str | None:
    """ISO 8601 in UTC with microseconds: `2024-03-05T18:00:00.000000Z`."""
    return None if instant is None else f"{instant.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%fZ}"


def _limits(plan: Plan) -> Document:
    limits = plan.limits
    return {
        "state": limits.state.value,
        "state_number": limits.state.number,
        "lower_limit": moment(limits.lower),
        "upper_limit": moment(limits.upper),
    }


def _outcome(outcome: ModelOutcome) -> Document:
    return {
        "name": outcome.name,
        "outcome": outcome.outcome,
        "rows": outcome.rows,
        "seconds": round(outcome.seconds, 3),
        "error": outcome.error,
    }


def _record(record: RunRecord) -> Document:
    return {
        "run_id": record.run_id,
        "outcome": record.outcome,
        "state": record.state,
        "state_number": State(record.state).number if record.state else None,
        "lower_limit": moment(record.lower_limit),
        "upper_limit": moment(record.upper_limit),
        "reached": moment(record.reached),
        "now": moment(record.clock),
        "started_at": moment(record.started_at),
        "finished_at": moment(record.finished_at),
        "models": [_outcome(outcome) for outcome in record.models],
        "counts": dict(record.counts),
        "error": record.error,
    }


def _lease(lease: Lease) -> Document:
    return {
        "run_id": lease.run_id,
        "host": lease.holder.host,
        "pid": lease.holder.pid,
        "started_at": moment(lease.started_at),
        "lease_until": moment(lease.lease_until),
        "lower_limit": moment(lease.intent.lower_limit),
        "upper_limit": moment(lease.intent.upper_limit),
    }
