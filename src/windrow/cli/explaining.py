"""The command that says where a session, event, user or page view is, and why it is not there."""

from __future__ import annotations

from typing import Annotated

import typer

from windrow.cli.call import ProjectCall
from windrow.cli.options import Now, Package
from windrow.cli.values import parse_now, parse_time
from windrow.engine.steps import Step
from windrow.operations.explain import Kind, refuse_impossible
from windrow.report.explaining import (
    explanations_document,
    explanations_text,
    verdicts_text,
)


def explain(
    call: ProjectCall,
    kind: Annotated[Kind, typer.Argument(help="What the id is the id of.", show_default=False)],
    id: Annotated[str, typer.Argument(help="The id.", show_default=False)],
    package: Package = None,
    first: Annotated[
        str | None,
        typer.Option("--from", help="Look at events collected since then; else, where it lies."),
    ] = None,
    last: Annotated[
        str | None, typer.Option("--to", help="And until then; a day counts whole.")
    ] = None,
    now: Now = None,
) -> int:
    """Say where a session, event, user or page view is, and why it is not in the tables."""
    clock = parse_now(now)
    begin = None if first is None else parse_time("--from", first)
    end = None if last is None else parse_time("--to", last)
    refuse_impossible(kind, id, begin, end)
    project = call.project()
    call.packages(project, package)
    call.start_spark(project, is_brief=True)
    call.progress(Step("explain", "started", detail="Looking for it"))
    told = project.explain(kind, id, package=package, first=begin, last=end, now=clock)
    call.report(explanations_document(kind, id, told), explanations_text(told))
    if not call.json:
        # A line of its own, however long, for people and for `tail -1`.
        call.console.print(verdicts_text(told), soft_wrap=True)
    return 0
