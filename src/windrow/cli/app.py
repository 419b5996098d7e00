"""All commands under one name, and the way in."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Sequence
from typing import Annotated

import typer
from pyspark.sql import SparkSession

from windrow import __version__
from windrow.cli.adopting import adopt
from windrow.cli.call import as_command
from windrow.cli.comparing import diff
from windrow.cli.explaining import explain
from windrow.cli.looks import check, doctor, ls, status
from windrow.cli.measuring import metrics
from windrow.cli.normalizing import normalize
from windrow.cli.operations import maintain, rerun, rollback, unlock
from windrow.cli.projects import demo, generate, init
from windrow.cli.quarantining import quarantine
from windrow.cli.reports import report
from windrow.cli.runs import plan, run
from windrow.cli.selections import spread
from windrow.report.documents import error_document

COMMANDS: dict[str, Callable[..., int]] = {
    "demo": demo,
    "init": init,
    "plan": plan,
    "run": run,
    "rerun": rerun,
    "test": check,
    "status": status,
    "explain": explain,
    "quarantine": quarantine,
    "report": report,
    "metrics": metrics,
    "ls": ls,
    "diff": diff,
    "normalize": normalize,
    "generate": generate,
    "doctor": doctor,
    "unlock": unlock,
    "rollback": rollback,
    "maintain": maintain,
    "adopt": adopt,
}


def main(arguments: Sequence[str] | None = None, *, spark: SparkSession | None = None) -> int:
    """Carry out one command and give its exit code. A session handed in is used, not started."""
    given = spread(sys.argv[1:] if arguments is None else arguments)
    _survive_any_encoding()
    try:
        command = typer.main.get_command(build_app(spark))
        return command.main(given or ["--help"], prog_name="windrow", standalone_mode=False) or 0
    except Exception as error:
        # Commands deal with their own errors, so this one is Typer's: options it cannot read.
        message = getattr(error, "format_message", error.__str__)().replace("Value error, ", "")
        exit_code = getattr(error, "exit_code", 1)
        path = getattr(getattr(error, "ctx", None), "command_path", "windrow")
        sys.stderr.write(f"Error: {message}\nSee: {path} --help\n")
        if "--json" in given:
            document = error_document("UsageError", message, exit_code)
            sys.stdout.write(json.dumps(document, indent=2) + "\n")
        return int(exit_code)


def build_app(spark: SparkSession | None = None) -> typer.Typer:
    """The command line as Typer sees it."""
    app = typer.Typer(
        help="Raw behavioural events into the tables analysts use, session by session, on Spark.",
        epilog="Begin with `windrow demo`: a project, its events and its tables in two minutes.",
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_options_before_the_command)
    for name, function in COMMANDS.items():
        app.command(name)(as_command(function, spark))
    return app


def _show_version(is_asked: bool) -> None:
    if is_asked:
        sys.stdout.write(f"windrow {__version__}\n")
        raise typer.Exit


def _options_before_the_command(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    return None


def _survive_any_encoding() -> None:
    """Where the terminal cannot show a ✓, a ? must do."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
