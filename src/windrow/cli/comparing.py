"""The command that compares tables: diff."""

from __future__ import annotations

from typing import Annotated

import typer

from windrow.cli.call import ProjectCall
from windrow.engine.steps import Step
from windrow.report.differences import diff_document, diff_text
from windrow.tables.comparison import MOST_EXAMPLES


def diff(
    call: ProjectCall,
    a: Annotated[str, typer.Argument(help="A table, schema.table, or a schema.")],
    b: Annotated[str, typer.Argument(help="Another one; `target:` in front: of that target.")],
    key: Annotated[
        list[str] | None,
        typer.Option(help="The columns to match rows by, where the table's key is not known."),
    ] = None,
    where: Annotated[
        str | None, typer.Option(help="A SQL condition on the rows of both that are compared.")
    ] = None,
    ignore: Annotated[
        list[str] | None, typer.Option(help="Columns that are not compared, beside model_tstamp.")
    ] = None,
    tolerance: Annotated[
        float, typer.Option(min=0.0, help="By how much fractions may differ; relative above 1.")
    ] = 0.0,
    examples: Annotated[
        int, typer.Option(min=0, max=MOST_EXAMPLES, help="How many examples to show of each.")
    ] = 3,
) -> int:
    """Compare two tables, or the tables of two schemas, by key: which columns differ, how often."""
    project = call.project()
    call.start_spark(project)
    call.progress(Step("diff", "started", detail=f"Comparing {a} with {b}"))
    found = project.diff(
        a,
        b,
        key=_names(key),
        where=where,
        ignore=_names(ignore),
        tolerance=tolerance,
        examples=examples,
    )
    call.report(diff_document(found), diff_text(found))
    return int(not found.is_equal)


def _names(given: list[str] | None) -> list[str]:
    """Several options, or one with commas."""
    return [name.strip() for text in given or () for name in text.split(",") if name.strip()]
