"""The command that shows, or proposes, what the normalize package makes: normalize."""

from __future__ import annotations

from typing import Annotated

import typer

from windrow.cli.call import ProjectCall
from windrow.cli.values import parse_time
from windrow.engine.steps import Step
from windrow.report.normalizing import (
    suggestion_document,
    suggestion_text,
    tables_document,
    tables_text,
)


def normalize(
    call: ProjectCall,
    suggest: Annotated[
        bool, typer.Option("--suggest", help="Look at the events and propose a configuration.")
    ] = False,
    since: Annotated[
        str | None, typer.Option(help="With --suggest, look at events collected since then.")
    ] = None,
) -> int:
    """Show the tables of the normalize package and their columns. Writes nothing."""
    first = None if since is None else parse_time("--since", since)
    project = call.project()
    if not suggest:
        project.package_names("normalize")
    call.start_spark(project)
    if suggest:
        call.progress(Step("events", "started", detail="Looking at the events"))
        found = project.suggest_normalize(since=first)
        call.report(suggestion_document(found), suggestion_text(found))
    else:
        tables = project.normalized_tables()
        call.report(tables_document(tables), tables_text(tables))
    return 0
