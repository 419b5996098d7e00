"""The command that tells a project's numbers to whoever watches it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from windrow.cli.call import ProjectCall
from windrow.cli.options import Now, Package
from windrow.cli.values import parse_now
from windrow.engine.steps import Step
from windrow.report.documents import metrics_document
from windrow.report.page.files import refuse_unwritable, write_whole


class MetricsCall(ProjectCall):
    """A call whose result is for a program, with or without --json."""

    is_for_programs = True


def metrics(
    call: MetricsCall,
    package: Package = None,
    output: Annotated[
        Path | None,
        typer.Option(help="Write to this file, whole or not at all, for a textfile collector."),
    ] = None,
    now: Now = None,
) -> int:
    """Tell runs, lags, rows and quarantine as Prometheus reads them. Writes no table."""
    if output is not None:
        refuse_unwritable(output, example="windrow.prom")
    if output is not None or not call.json:
        # Found out before Spark takes its time.
        from windrow.neighbours import prometheus
    clock = parse_now(now)
    project = call.project()
    call.packages(project, package)
    call.start_spark(project, is_brief=True)
    call.progress(Step("metrics", "started", detail="Reading the ledger and the manifests"))
    samples = project.metrics(package, now=clock)
    if output is not None:
        write_whole(output, prometheus.text(samples))
    if call.json:
        call.report(metrics_document(samples), "")
    elif output is not None:
        call.errors.print(Text(f"Wrote {output}"), soft_wrap=True)
    else:
        call.console.file.write(prometheus.text(samples))
    return 0
