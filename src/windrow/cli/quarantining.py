"""The command that lists who is in quarantine, puts sessions in, and takes them out."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from windrow.cli.call import RunCall
from windrow.cli.options import Now, Package
from windrow.cli.values import parse_now
from windrow.engine.steps import Step
from windrow.errors import UsageError
from windrow.packages import PACKAGES
from windrow.project import Project
from windrow.report.quarantining import (
    added_document,
    added_text,
    quarantines_document,
    quarantines_text,
    released_document,
    released_text,
)
from windrow.report.text import title


class Action(StrEnum):
    """What is done with the quarantine."""

    ls = "ls"
    add = "add"
    release = "release"


def quarantine(
    call: RunCall,
    action: Annotated[Action, typer.Argument(help="List, put in, or take out.")],
    sessions: Annotated[
        list[str] | None,
        typer.Argument(metavar="ID", help="Sessions to put in or to take out."),
    ] = None,
    package: Package = None,
    limit: Annotated[int, typer.Option(min=1, help="Most sessions that `ls` lists.")] = 100,
    now: Now = None,
) -> int:
    """Say who is in quarantine and why; put sessions in, or take them out, processed again."""
    clock = parse_now(now)
    if action is Action.ls and sessions:
        raise UsageError("`windrow quarantine ls` takes no ids.")
    if action is not Action.ls and not sessions:
        raise UsageError(f"Which session? Write `windrow quarantine {action} ID`.")
    project = call.project()
    packages = _with_quarantine(call, project, package)
    if action is not Action.ls and len(packages) > 1:
        raise UsageError(f"Which package? Use --package with one of: {', '.join(packages)}.")
    call.start_spark(project, is_brief=action is not Action.release)
    if action is Action.ls:
        call.progress(Step("quarantine", "started", detail="Reading the quarantine"))
        listed = [project.quarantined(name, limit=limit) for name in packages]
        call.report(quarantines_document(listed), quarantines_text(listed))
        return 0
    (name,) = packages
    call.progress.begin(name, title(name, project.target.name))
    if action is Action.add:
        added = project.add_to_quarantine(name, sessions or (), now=clock)
        call.report(added_document(added), added_text(added))
        return 0
    released = project.release_from_quarantine(
        name, sessions or (), now=clock, listener=call.progress
    )
    call.report(released_document(released), released_text(released))
    return int(any(run.has_failed for run in released.runs))


def _with_quarantine(call: RunCall, project: Project, package: str | None) -> list[str]:
    """The packages that the call means, of those that have a quarantine."""
    packages = call.packages(project, package)

    def has_one(name: str) -> bool:
        foundation = PACKAGES[PACKAGES[name.split("+")[0]].foundation_name]
        settings = project.config.foundation_settings(name.split("+")[0])
        return foundation.foundation(settings).has_quarantine

    found = [name for name in packages if has_one(name)]
    if not found:
        raise UsageError(f"There is no quarantine in: {', '.join(packages)}.")
    return found
