"""Commands that run models, or say what a run would do."""

from __future__ import annotations

from typing import Annotated

import typer

from windrow.cli.call import ProjectCall, RunCall
from windrow.cli.options import Exclude, Now, Package, Select
from windrow.cli.values import parse_now
from windrow.engine.plan import Plan
from windrow.errors import WindrowError
from windrow.report.documents import plans_document, runs_document
from windrow.report.text import plans_text, runs_text, title


def run(
    call: RunCall,
    package: Package = None,
    select: Select = None,
    exclude: Exclude = None,
    now: Now = None,
    full_refresh: Annotated[
        bool, typer.Option("--full-refresh", help="Empty the models' tables and begin anew.")
    ] = False,
    refresh_manifests: Annotated[
        bool,
        typer.Option(
            "--refresh-manifests", help="Begin anew, but leave rows until they are replaced."
        ),
    ] = False,
    until_caught_up: Annotated[
        bool, typer.Option("--until-caught-up", help="Run again until nothing is left to do.")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Keep nothing of a run whose rows fail a check.")
    ] = False,
    accept_changed_options: Annotated[
        bool,
        typer.Option(
            "--accept-changed-options", help="Go on though an option changed what rows mean."
        ),
    ] = False,
) -> int:
    """Take in new events and bring the tables up to date."""
    clock = parse_now(now)
    project, choices = call.chosen(package, select, exclude)
    done = project.run_all(
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
    call.report(runs_document(done), runs_text(done))
    for name, runs in done.items():
        if runs.error is not None:
            call.say_error(f"{name}: {runs.error}")
    return max(runs.exit_code for runs in done.values())


def plan(
    call: ProjectCall,
    package: Package = None,
    select: Select = None,
    exclude: Exclude = None,
    now: Now = None,
) -> int:
    """Say what the next run would do: window, models, what it would read. Writes nothing."""
    clock = parse_now(now)
    project, choices = call.chosen(package, select, exclude)
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
