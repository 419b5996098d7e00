"""Commands that look and write nothing that stays: test, status, ls, doctor."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import Annotated

import typer
from rich.console import RenderableType

from windrow.cli.call import ProjectCall
from windrow.cli.options import Exclude, Now, Package, Select
from windrow.cli.values import parse_now
from windrow.engine.steps import Step
from windrow.models.selection import select as selected
from windrow.operations import doctor as examination
from windrow.report.checks import reports_document, reports_text
from windrow.report.documents import checks_document, models_document, statuses_document
from windrow.report.text import check_text, lines, models_text, statuses_text


class Listing(StrEnum):
    """How models are listed."""

    table = "table"
    name = "name"
    path = "path"
    json = "json"


Output = Annotated[
    Listing, typer.Option(help="A table; or, as dbt has them, names or paths; or JSON.")
]


FailIfStale = Annotated[
    bool,
    typer.Option("--fail-if-stale", help="End with 1 if events or models are too old."),
]


def check(
    call: ProjectCall, package: Package = None, select: Select = None, exclude: Exclude = None
) -> int:
    """Check the rows that the last run wrote: keys, nulls, values. Writes nothing."""
    project, choices = call.chosen(package, select, exclude)
    call.progress(Step("checks", "started", detail="Looking at the rows of the last run"))
    reports = [project.test(it.package, select=it.select, exclude=it.exclude) for it in choices]
    call.report(reports_document(reports), reports_text(reports))
    return int(any(report.has_failed for report in reports))


def status(
    call: ProjectCall,
    package: Package = None,
    now: Now = None,
    fail_if_stale: FailIfStale = False,
) -> int:
    """Say where each package stands: state, next window, manifest, age, quarantine, last runs."""
    clock = parse_now(now)
    project = call.project()
    packages = call.packages(project, package)
    call.start_spark(project, is_brief=True)
    call.progress(Step("status", "started", detail="Reading the manifests"))
    statuses = [project.status(name, now=clock) for name in packages]
    call.report(statuses_document(statuses), statuses_text(statuses))
    is_stale = any(it.freshness is not None and it.freshness.is_stale for it in statuses)
    return int(fail_if_stale and is_stale)


def ls(
    call: ProjectCall,
    package: Package = None,
    select: Select = None,
    exclude: Exclude = None,
    output: Output = Listing.table,
) -> int:
    """List the models in the order in which they run. Starts no Spark."""
    project = call.project()
    models = {
        it.package: selected(project.models(it.package), it.select, it.exclude)
        for it in call.choices(project, package, select, exclude)
    }
    listed = [member for members in models.values() for member in members]
    match output:
        case Listing.name:
            text: RenderableType = lines(member.full_name for member in listed)
        case Listing.path:
            text = lines(member.file for member in listed)
        case _:
            text = models_text(models)
    is_json = call.json or output is Listing.json
    replace(call, json=is_json).report(models_document(models), text)
    return 0


def doctor(call: ProjectCall) -> int:
    """Find out whether the project can run here, and what to do if not."""
    found = []
    for seen in examination.checks(call.project):
        found.append(seen)
        if not call.json:
            call.console.print(check_text(seen), soft_wrap=True)
    if call.json:
        call.report(checks_document(found), "")
    return max((seen.exit_code for seen in found), default=0)
