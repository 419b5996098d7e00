"""Literal overviews of projects for pages, made without Spark."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, timedelta

from report.values import MODELS, a_plan, a_status, at
from windrow.columns.rules import column
from windrow.models.model import Model
from windrow.operations.overview import DailyRows, Overview, PackageOverview, TableFacts
from windrow.state.limits import State
from windrow.state.runs import FailedCheck, ModelFate, ModelOutcome, Outcome, RunRecord
from windrow.tables.days import DayRange

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)> $x_1$ & \"'\x1b[31m"
"""A page title as an attacker sends it; error messages may quote it."""

_DAY = timedelta(days=1)
PAGE_VIEWS, USERS = (member.full_name for member in MODELS)


def a_run(number: int, outcome: Outcome = Outcome.SUCCEEDED, **known: object) -> RunRecord:
    """The run of a day of March: it takes in that day, and six hours before it."""
    begin = at(1) + number * _DAY
    given: dict[str, object] = {
        "run_id": f"{begin:%Y%m%d}T000000-{number:08x}",
        "package": "web",
        "outcome": outcome,
        "started_at": begin + _DAY,
        "finished_at": begin + _DAY + timedelta(seconds=30 + number),
        "clock": begin + _DAY,
        "state": State.STANDARD.value if number else State.FIRST_RUN.value,
        "lower_limit": begin - timedelta(hours=6 if number else 0),
        "upper_limit": begin + _DAY,
        "models": (
            ModelOutcome(PAGE_VIEWS, ModelFate.SUCCEEDED, 1000 + 10 * number, 3.0),
            ModelOutcome(USERS, ModelFate.SUCCEEDED, 80 + number, 1.5),
        ),
        "counts": {
            **{"events": 2000 + number, "sessions": 180, "window_events": 2100, "duplicates": 20},
            **{"window_too_late": number % 3, "quarantined": number % 2, "window_other_app": 0},
        },
    }
    return RunRecord(**(given | known))  # type: ignore[arg-type]


def an_overview(*runs: RunRecord, now: datetime | None = None, **known: object) -> Overview:
    """A project with one package after these runs, the oldest first; `known`: of its status."""
    reached = max((it.upper_limit for it in runs if it.upper_limit), default=at(6))
    positions = {PAGE_VIEWS: reached, USERS: reached}
    plan = replace(a_plan(), positions=positions)
    given: dict[str, object] = {"positions": positions, "plan": plan, "last_runs": runs[::-1]}
    status = replace(a_status(), **(given | known))  # type: ignore[arg-type]
    clock = now or max((it.clock for it in runs if it.clock), default=at(7))
    return Overview("shop", "prod", "delta", clock, (a_package(status=status),))


def a_package(**known: object) -> PackageOverview:
    """A package whose tables have rows on every day but one."""
    first = date(2024, 3, 1)
    days = [first + n * _DAY for n in range(10)]
    given: dict[str, object] = {
        "status": a_status(),
        "tables": tuple(_facts(member) for member in MODELS),
        "days": DayRange(first, days[-1]),
        "daily": (DailyRows("page_views", {day: 100 + day.day for day in days}),),
        "written": {a_run(number).run_id: {PAGE_VIEWS: 10_000} for number in range(5)},
        "steady": "page_views",
    }
    return PackageOverview(**(given | known))  # type: ignore[arg-type]


def _facts(member: Model) -> TableFacts:
    columns = {name: column("string", f"Id, `{name}`, of the row.") for name in member.key}
    return TableFacts(member, columns)


def a_project_that_has_not_run() -> Overview:
    """A project as `windrow init` made it, without events."""
    status = replace(a_status(), positions={}, plan=None, problem="There are no events.")
    status = replace(status, quarantined=0, last_runs=())
    package = a_package(status=status, days=None, daily=(), steady=None)
    return Overview("shop", "dev", "delta", at(7), (package,))


def a_hostile_project() -> Overview:
    """A project in which every text that comes from outside is an attack."""
    bad = ModelOutcome(HOSTILE, ModelFate.FAILED, None, 1.0, HOSTILE)
    check = FailedCheck(HOSTILE, HOSTILE, "error", 3)
    runs = (
        a_run(0),
        a_run(1, Outcome.FAILED, models=(bad,)),
        a_run(
            2,
            Outcome.REJECTED,
            run_id=HOSTILE,
            state=None,
            error=HOSTILE,
            counts={"checks": 1},
            failed_checks=(check,),
        ),
    )
    overview = an_overview(*runs, problem=HOSTILE, positions={HOSTILE: at(6)})
    member = replace(
        MODELS[0], name=HOSTILE, description=f"One row per {HOSTILE}", tags=(HOSTILE,), path=HOSTILE
    )
    tables = (TableFacts(member, {HOSTILE: column(HOSTILE, HOSTILE)}, (HOSTILE,)),)
    package = replace(
        overview.packages[0],
        tables=tables,
        daily=(DailyRows(HOSTILE, {date(2024, 3, 1): 5, date(2024, 3, 3): 5}),),
        steady=HOSTILE,
    )
    package = replace(package, status=replace(package.status, package=HOSTILE))
    return Overview(HOSTILE, HOSTILE, HOSTILE, overview.now, (package,))
