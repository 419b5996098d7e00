"""The command that writes the report: one page about the project."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from windrow.cli.call import ProjectCall
from windrow.cli.options import Now, Package
from windrow.cli.values import parse_now
from windrow.engine.steps import Step
from windrow.operations.overview import DAYS, RUNS
from windrow.report.page import FILE_NAME, write_page
from windrow.report.page.files import refuse_unwritable
from windrow.report.page.health import Health, health_document, health_of

_MOST_RUNS = 1_000
_MOST_DAYS = 3_660


def report(
    call: ProjectCall,
    package: Package = None,
    output: Annotated[
        Path | None, typer.Option(help="The file to write; report.html in the project's folder.")
    ] = None,
    runs: Annotated[
        int, typer.Option(min=1, max=_MOST_RUNS, help="How many of the last runs to show.")
    ] = RUNS,
    days: Annotated[
        int, typer.Option(min=1, max=_MOST_DAYS, help="How many of the last days to count rows of.")
    ] = DAYS,
    with_bytes: Annotated[
        bool,
        typer.Option("--bytes", help="Also tell how much each run wrote: a look at each table."),
    ] = False,
    now: Now = None,
) -> int:
    """Write one HTML page on how the project is: health, runs, windows, lineage, data, tables."""
    clock = parse_now(now)
    project = call.project()
    packages = project.package_names(package)
    path = output or project.config.project_dir / FILE_NAME
    refuse_unwritable(path)
    if packages:
        call.start_spark(project)
    call.progress(Step("report", "started", detail="Reading the ledger and the tables"))
    overview = project.report(package, now=clock, runs=runs, days=days, with_bytes=with_bytes)
    written = write_page(overview, path)
    health = health_of(overview)
    call.report(
        {"path": str(written), "bytes": written.stat().st_size, **health_document(health)},
        _text(health, path),
    )
    return 0


def _text(health: Health, path: Path) -> Text:
    text = Text().append(f"{health.verdict}.\n", "bold")
    for it in health.findings:
        text.append(f"  {it.package}: {it.text}\n")
    return text.append(f"Wrote {path}")
