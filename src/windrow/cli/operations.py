"""Commands of an operator: past windows again, ways back, locks nobody holds, upkeep of files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from windrow.cli.call import ProjectCall, RunCall
from windrow.cli.options import DryRun, Now, Package, Select
from windrow.cli.values import parse_now, parse_time
from windrow.engine.result import RunResult
from windrow.errors import UsageError
from windrow.operations.rerun import RerunPlan
from windrow.report.documents import (
    rerun_document,
    rollback_document,
    unlocks_document,
    upkeeps_document,
)
from windrow.report.operations import (
    rerun_text,
    reruns_text,
    rollback_text,
    unlocks_text,
    upkeeps_text,
)
from windrow.report.text import title


def rerun(
    call: RunCall,
    first: Annotated[str, typer.Option("--from", help="Where the past window begins, in UTC.")],
    last: Annotated[
        str | None, typer.Option("--to", help="Where it ends; by default, where runs have come.")
    ] = None,
    package: Package = None,
    select: Select = None,
    now: Now = None,
    restart: Annotated[
        bool, typer.Option("--restart", help="Begin anew, though a part was done before.")
    ] = False,
    despite_missing_events: Annotated[
        bool,
        typer.Option(
            "--despite-missing-events", help="Also where processed events are there no more."
        ),
    ] = False,
    dry_run: DryRun = False,
) -> int:
    """Process a past window again: the models, all that reads them, whole sessions."""
    clock, begin = parse_now(now), parse_time("--from", first)
    end = None if last is None else parse_time("--to", last)
    project, choices = call.chosen(package, select)
    plans: list[RerunPlan] = []
    results: dict[str, Sequence[RunResult]] = {}
    for choice in choices:
        name = choice.package
        plan = project.plan_rerun(
            name,
            first=begin,
            last=end,
            now=clock,
            select=choice.select,
            restart=restart,
            despite_missing_events=despite_missing_events,
        )
        plans.append(plan)
        if not dry_run:
            call.progress.begin(name, title(name, project.target.name))
            results[name] = project.rerun(name, plan, listener=call.progress)
    text = rerun_text(plans) if dry_run else reruns_text(plans, results)
    call.report(rerun_document(plans, results), text)
    return int(any(result.has_failed for runs in results.values() for result in runs))


def rollback(
    call: ProjectCall,
    run: Annotated[str, typer.Argument(help="The run to go back to before; see status.")],
    package: Annotated[
        str | None, typer.Option(help="The package; needed when windrow.yml enables several.")
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Do it, rather than say what it would do.")
    ] = False,
) -> int:
    """Take a package back to where a run found it; all later runs are given up too."""
    project = call.project()
    packages = call.packages(project, package)
    if len(packages) > 1:
        raise UsageError(f"Which package? Use --package with one of: {', '.join(packages)}.")
    call.start_spark(project, is_brief=True)
    back = project.rollback if yes else project.plan_rollback
    done = back(packages[0], run)
    call.report(rollback_document(done, is_done=yes), rollback_text(done, is_done=yes))
    return 0


def unlock(
    call: ProjectCall,
    package: Package = None,
    force: Annotated[
        bool, typer.Option("--force", help="Also a run that seems alive; know that it is dead.")
    ] = False,
    abandon: Annotated[
        list[str] | None,
        typer.Option(help="A table that stays as the run left it, as it cannot be taken back."),
    ] = None,
) -> int:
    """End the lock of a run that died, and take back what it wrote."""
    project = call.project()
    packages = call.packages(project, package)
    if abandon and len(packages) > 1:
        raise UsageError(f"Which package? Use --package with one of: {', '.join(packages)}.")
    call.start_spark(project, is_brief=True)
    ended = {
        name: project.unlock(name, force=force, abandon=abandon or (), listener=call.progress)
        for name in packages
    }
    call.report(unlocks_document(ended), unlocks_text(ended))
    return 0


def maintain(
    call: ProjectCall,
    package: Package = None,
    select: Select = None,
    retention_days: Annotated[
        int,
        typer.Option(min=0, max=36_500, help="Days for which old versions of the tables are kept."),
    ] = 7,
    delete: Annotated[
        bool, typer.Option("--delete", help="Delete older files, rather than count them.")
    ] = False,
    dry_run: DryRun = False,
) -> int:
    """Lay tables out as configured, compact them, and expire what is older than the retention."""
    if delete and dry_run:
        raise UsageError("--delete and --dry-run ask for opposite things. Use one of them.")
    project, choices = call.chosen(package, select)
    upkeeps = []
    for choice in choices:
        call.progress.begin(choice.package, title(choice.package, project.target.name))
        upkeeps.append(
            project.maintain(
                choice.package,
                retention_days=retention_days,
                select=choice.select,
                delete=delete,
                dry_run=dry_run,
                listener=call.progress,
            )
        )
    call.report(upkeeps_document(upkeeps), upkeeps_text(upkeeps))
    return 0
