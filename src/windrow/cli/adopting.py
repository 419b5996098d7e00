"""The command that takes over tables of the SQL packages: adopt."""

from __future__ import annotations

from typing import Annotated

import typer

from windrow.cli.call import ProjectCall
from windrow.cli.options import Now, Package
from windrow.cli.values import parse_now
from windrow.engine.steps import Step
from windrow.errors import RefusedError
from windrow.report.adoptions import adoptions_document, adoptions_text


def adopt(
    call: ProjectCall,
    package: Package = None,
    apply: Annotated[
        bool, typer.Option("--apply", "--yes", help="Do it, rather than say what it would do.")
    ] = False,
    now: Now = None,
) -> int:
    """Go on from tables of the SQL packages: what is there, what is in the way, what comes next."""
    clock = parse_now(now)
    project = call.project()
    packages = call.packages(project, package)
    call.start_spark(project)
    call.progress(Step("adopt", "started", detail="Looking at the tables"))
    found = [project.plan_adoption(name, now=clock) for name in packages]
    is_refused = any(it.problems for it in found)
    if apply and not is_refused:
        found = [project.adopt(name, now=clock, listener=call.progress) for name in packages]
    call.report(adoptions_document(found), adoptions_text(found, is_asked=apply))
    return RefusedError.exit_code if is_refused else 0
