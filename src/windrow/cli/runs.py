"""Commands that run models, or say what a run would do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from windrow.cli.call import ProjectCall, RunCall
from windrow.cli.values import joined, parsed_now
from windrow.plan import Plan
from windrow.project import Project
from windrow.report.documents import plans_document, runs_document
from windrow.report.text import plans_text, runs_text, title
from windrow.run import RunResult
from windrow.selection import select as selected

Package = Annotated[
    str | None, typer.Option(help="The package; by default all that windrow.yml enables.")
]
Select = Annotated[
    list[str] | None,
    typer.Option(help="Models to take: page_views, +users, sessions+, tag:x, path:models/x.py."),
]
Exclude = Annotated[list[str] | None, typer.Option(help="Models to leave out, written alike.")]
Now = Annotated[
    str | None, typer.Option(help="The clock to go by, in UTC; by default the time it is.")
]


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
) -> int:
    """Take in new events and bring the tables up to date."""
    clock = parsed_now(now)
    project = call.project()
    packages = call.packages(project, package)
    check_selection(project, packages, select, exclude)
    call.start_spark(project)
    results: dict[str, Sequence[RunResult]] = {}
    for name in packages:
        call.progress.begin(name, title(name, project.target.name))
        results[name] = _runs(
            call,
            project,
            name,
            until_caught_up,
            now=clock,
            select=joined(select),
            exclude=joined(exclude),
            full_refresh=full_refresh,
            refresh_manifests=refresh_manifests,
            check=check,
        )
    call.report(runs_document(results), runs_text(results))
    return int(any(result.has_failed for runs in results.values() for result in runs))


def _runs(
    call: RunCall, project: Project, package: str, until_caught_up: bool, **options: Any
) -> Sequence[RunResult]:
    if until_caught_up:
        return project.run_until_caught_up(package, listener=call.progress, **options)
    return [project.run(package, listener=call.progress, **options)]


def plan(
    call: ProjectCall,
    package: Package = None,
    select: Select = None,
    exclude: Exclude = None,
    now: Now = None,
) -> int:
    """Say what the next run would do: window, models, what it would read. Writes nothing."""
    clock = parsed_now(now)
    project = call.project()
    packages = call.packages(project, package)
    check_selection(project, packages, select, exclude)
    call.start_spark(project)
    plans: list[Plan] = [
        project.plan(name, now=clock, select=joined(select), exclude=joined(exclude))
        for name in packages
    ]
    call.report(plans_document(plans), plans_text(plans))
    return 0


def check_selection(
    project: Project, packages: list[str], select: list[str] | None, exclude: list[str] | None
) -> None:
    """Find a mistake in the selection before Spark starts, which takes a while."""
    for name in packages:
        selected(project.models(name), joined(select), joined(exclude))
