"""Commands that run models, or say what a run would do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated

import typer

from windrow.cli.call import ProjectCall, RunCall
from windrow.cli.options import Exclude, Now, Package, Select
from windrow.cli.rounds import run_every
from windrow.cli.timetable import Timetable
from windrow.cli.values import joined, parse_interval, parse_now
from windrow.engine.plan import Plan
from windrow.errors import UsageError, WindrowError
from windrow.models.base_names import without_limits
from windrow.operations.several_packages import PackageRuns
from windrow.project import Choice, Project
from windrow.report.documents import plans_document, runs_document
from windrow.report.text import plans_text, runs_text, title

FullRefresh = Annotated[
    bool, typer.Option("--full-refresh", help="Empty the models' tables and begin anew.")
]
RefreshManifests = Annotated[
    bool,
    typer.Option("--refresh-manifests", help="Begin anew, but leave rows until they are replaced."),
]
UntilCaughtUp = Annotated[
    bool, typer.Option("--until-caught-up", help="Run again until nothing is left to do.")
]
Check = Annotated[
    bool, typer.Option("--check", help="Keep nothing of a run whose rows fail a check.")
]
AcceptChangedOptions = Annotated[
    bool,
    typer.Option("--accept-changed-options", help="Go on though an option changed what rows mean."),
]
Every = Annotated[
    str | None,
    typer.Option(help="Stay, and run again this often on the same Spark: 30s, 5m, 1h."),
]


def run(
    call: RunCall,
    package: Package = None,
    select: Select = None,
    exclude: Exclude = None,
    now: Now = None,
    full_refresh: FullRefresh = False,
    refresh_manifests: RefreshManifests = False,
    until_caught_up: UntilCaughtUp = False,
    check: Check = False,
    accept_changed_options: AcceptChangedOptions = False,
    every: Every = None,
) -> int:
    """Take in new events and bring the tables up to date."""
    select, packages = _without_limits(call, package, select)
    if packages and not select:
        return _say_limits(call, packages, parse_now(now))

    def once() -> dict[str, PackageRuns]:
        clock = parse_now(now)
        project, choices = call.chosen(package, select, exclude)
        if every is not None:
            call.keep_warm(project)
        return project.run_all(
            choices,
            now=clock,
            full_refresh=full_refresh,
            refresh_manifests=refresh_manifests,
            until_caught_up=until_caught_up,
            check=check,
            accept_changed_options=accept_changed_options,
            listener=call.progress,
            begin=lambda name: call.progress.begin(name, title(name, project.target.name)),
        )

    if every is not None:
        call.is_in_lines = True
        _refuse_to_repeat(
            {
                "--now": now is not None,
                "--full-refresh": full_refresh,
                "--refresh-manifests": refresh_manifests,
                "--accept-changed-options": accept_changed_options,
            }
        )
        return run_every(call, Timetable(parse_interval(every)), once)
    done = once()
    call.report(runs_document(done), runs_text(done))
    call.say_errors(done)
    return max(runs.exit_code for runs in done.values())


def _refuse_to_repeat(options: Mapping[str, bool]) -> None:
    """Stop if one of these is given: each is right once and wrong every few minutes."""
    for option, is_given in options.items():
        if is_given:
            raise UsageError(
                f"{option} is for a single run, and --every would repeat it. "
                "Use it in a run of its own first, or leave --every out."
            )


def _without_limits(
    call: ProjectCall, package: str | None, select: list[str] | None
) -> tuple[list[str] | None, tuple[str, ...]]:
    """The selection without `base_new_event_limits`, and the packages whose limits that means."""
    if not select:
        return select, ()
    rest, packages = without_limits(joined(select), call.packages(call.project(), package))
    return None if rest is None else [rest], packages


def _say_limits(call: ProjectCall, packages: Sequence[str], clock: datetime) -> int:
    """Say state and window of these packages, as a plan does; writes nothing."""
    project = call.project()
    choices = project.choices(packages)
    call.start_spark(project)
    return _say_plans(call, project, choices, clock)


def plan(
    call: ProjectCall,
    package: Package = None,
    select: Select = None,
    exclude: Exclude = None,
    now: Now = None,
) -> int:
    """Say what the next run would do: window, models, what it would read. Writes nothing."""
    clock = parse_now(now)
    select, packages = _without_limits(call, package, select)
    if packages and not select:
        return _say_limits(call, packages, clock)
    project, choices = call.chosen(package, select, exclude)
    return _say_plans(call, project, choices, clock)


def _say_plans(
    call: ProjectCall, project: Project, choices: Sequence[Choice], clock: datetime
) -> int:
    plans: list[Plan] = []
    errors: dict[str, WindrowError] = {}
    for it in choices:
        try:
            plan = project.plan(it.package, now=clock, select=it.select, exclude=it.exclude)
            plans.append(plan)
        except WindrowError as error:
            if len(choices) == 1:
                raise
            errors[it.package] = error
    call.report(plans_document(plans, errors), plans_text(plans))
    for name, problem in errors.items():
        call.say_error(f"{name}: {problem}")
    return max((problem.exit_code for problem in errors.values()), default=0)
