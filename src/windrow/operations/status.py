"""Where a package stands: state, manifest, quarantine, last runs, and what would happen next."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from windrow.engine.events import checked_source
from windrow.engine.holding import look
from windrow.engine.options import RunOptions
from windrow.engine.plan import Plan, next_plan
from windrow.engine.workspace import Workspace
from windrow.errors import WindrowError
from windrow.operations.edited_positions import EditedPosition, edited_positions, left_behind
from windrow.operations.freshness import Freshness, freshness_of
from windrow.state.leases import Lease
from windrow.state.runs import RunRecord

LAST_RUNS = 5


@dataclass(frozen=True)
class PackageStatus:
    """One package on one target, seen without writing anything."""

    package: str
    target: str
    positions: dict[str, datetime]
    plan: Plan | None
    problem: str | None
    """Why no plan can be made, when it cannot."""
    quarantined: int
    lease: Lease | None
    is_running: bool
    last_runs: tuple[RunRecord, ...]
    edited: tuple[EditedPosition, ...] = ()
    """Rows of the manifest that are not as windrow left them."""
    left_behind: tuple[str, ...] = ()
    """Models made from those of such rows, that were not moved along."""
    freshness: Freshness | None = None
    """How old the newest event and the models are; None when nobody looked."""

    @property
    def out_of_sync(self) -> list[str]:
        """Tracked models that lag behind the furthest one, or have no position at all."""
        if self.plan is None:
            return []
        every = self.plan.catch_up or self.plan
        ahead = max(every.positions.values(), default=None)
        return [name for name in every.tracked if every.positions.get(name) != ahead]


def package_status(ws: Workspace, now: datetime, *, last_runs: int = LAST_RUNS) -> PackageStatus:
    """Look at everything that says where the package stands."""
    source, plan, problem, seen = None, None, None, look(ws)
    try:
        source = checked_source(ws, ws.meant_models)
        plan = next_plan(ws, seen, source, RunOptions(), now)
    except WindrowError as error:
        problem = str(error)
    try:
        freshness = freshness_of(ws, source, plan, seen.positions, now)
    except WindrowError as error:
        problem = problem or str(error)
        freshness = freshness_of(ws, None, plan, seen.positions, now)
    in_quarantine = ws.quarantined_sessions()
    lease = seen.unfinished
    edited = edited_positions(ws, seen)
    return PackageStatus(
        package=ws.name,
        target=ws.target,
        positions=seen.positions,
        plan=plan,
        problem=problem,
        quarantined=0 if in_quarantine is None else in_quarantine.count(),
        lease=lease,
        is_running=lease is not None and ws.leases.is_held(lease),
        last_runs=tuple(ws.runs.last(ws.lease_name, last_runs)),
        edited=edited,
        left_behind=left_behind(ws.models, edited),
        freshness=freshness,
    )
