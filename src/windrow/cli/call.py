"""One call of a command: the options every command has, what it prints to, how it ends."""

from __future__ import annotations

import inspect
import json
import os
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import typer
from pyspark.sql import SparkSession
from rich.console import Console, RenderableType
from rich.text import Text

from windrow.assembly import Choice
from windrow.cli.log_file import LogFile, Logged
from windrow.cli.signals import Terminated, terminable
from windrow.cli.values import joined, parse_vars
from windrow.config import SparkSettings, find_project
from windrow.engine.steps import Step
from windrow.errors import ConfigError, UsageError, WindrowError, in_one_line
from windrow.neighbours.lineage import with_lineage
from windrow.operations.several_packages import PackageRuns
from windrow.project import Project
from windrow.report.documents import Document, error_document
from windrow.report.progress import JsonLines, Lines, Live, Progress, Quiet, Silent
from windrow.tables.refusals import unreadable_files

INTERRUPTED = 130
TERMINATED = 143

# Rich takes 80 columns where there is no terminal to ask; logs and files have room for more.
_WIDTH_OF_FILES = 120


@dataclass(frozen=True)
class Problem:
    """An error as the command line tells it."""

    kind: str
    message: str
    exit_code: int

    @property
    def document(self) -> Document:
        """What a program gets to read."""
        return error_document(self.kind, self.message, self.exit_code)


class LogFormat(StrEnum):
    """How progress is told."""

    text = "text"
    json = "json"


@dataclass(frozen=True, kw_only=True)
class Call:
    """A call of any command. The fields with a typer.Option are options of the command line."""

    json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document and nothing else.")
    ] = False
    log_format: Annotated[
        LogFormat, typer.Option(help="Tell progress as text, or as JSON lines on stderr.")
    ] = LogFormat.text
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Show results and errors, no progress.")
    ] = False
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False
    spark: SparkSession | None = None

    after_interruption = ""
    is_for_programs = False
    """Whether stdout is kept for what a program reads, with or without --json."""
    is_in_lines = False
    """Whether each JSON document takes one line, since others will follow."""

    @cached_property
    def console(self) -> Console:
        """Where results go."""
        return _console(sys.stdout)

    @cached_property
    def errors(self) -> Console:
        """Where errors go, and progress when stdout is kept for a document."""
        return _console(sys.stderr)

    @cached_property
    def progress(self) -> Progress:
        """What is told the steps of a run."""
        return self.shown()

    def shown(self) -> Progress:
        """What shows the steps."""
        if self.log_format is LogFormat.json:
            return JsonLines(sys.stderr)
        if self.quiet:
            return Silent()
        is_kept = self.json or self.is_for_programs
        console = self.errors if is_kept else self.console
        return Live(console) if console.is_terminal else self.in_a_pipe(console)

    def in_a_pipe(self, console: Console) -> Progress:
        """What shows the steps where nobody watches."""
        return Lines(console)

    @cached_property
    def log(self) -> LogFile:
        """Where goes what is too long for the screen."""
        return LogFile(self.log_dir())

    def tell_of_log(self) -> None:
        """Say where the tracebacks are that were logged since this was said last."""
        if self.log.has_traceback:
            self.progress(Step("log", "info", detail=f"Traceback: {self.log.baseFilename}"))
            # What is logged next opens it again; a file that was moved away meanwhile is let go.
            self.log.close()

    def announce(self, text: str) -> None:
        """Show what a waiting user should know."""
        self.progress(Step("spark", "info", detail=text))

    def report(self, document: Document, text: RenderableType) -> None:
        """Print a result, for a program or for a person."""
        if self.json:
            self._write(document)
        else:
            self.console.print(text)

    def _write(self, document: Document) -> None:
        indent = None if self.is_in_lines else 2
        self.console.file.write(json.dumps(document, indent=indent, ensure_ascii=False) + "\n")
        # Whoever reads along need not wait until a buffer is full.
        self.console.file.flush()

    def say_error(self, message: str, heading: str = "Error: ") -> None:
        """Show an error to a person."""
        self.errors.print(Text().append(heading, "bold red").append(message), soft_wrap=True)

    def complain(self, problem: Problem, heading: str = "Error: ") -> int:
        """Say why the command stops."""
        self.say_error(problem.message, heading)
        if self.json:
            self._write(problem.document)
        return problem.exit_code

    def stop(self, kind: str, exit_code: int) -> int:
        """Say that someone stopped the command, and what that means for what it has begun."""
        problem = Problem(kind, f"{kind}.{self.after_interruption}", exit_code)
        return self.complain(problem, heading="")

    def problem(self, error: Exception) -> Problem:
        """What an error is to the user; the traceback of one that nobody expected is in a file."""
        if self.debug:
            trace = "".join(traceback.format_exception(error))
            self.errors.print(Text(trace), soft_wrap=True)
        kind = type(error).__name__
        if isinstance(error, WindrowError):
            return Problem(kind, str(error), error.exit_code)
        log_file = _log_error(self.log_dir(), error)
        message = f"{in_one_line(error)}\nThis was not expected. Traceback: {log_file}"
        return Problem(kind, message, 1)

    def log_dir(self) -> Path:
        """Where logs go: the project's folder, or this one where there is no project."""
        return Path.cwd() / ".windrow" / "logs"


@dataclass(frozen=True, kw_only=True)
class ProjectCall(Call):
    """A call of a command that works on a project."""

    project_dir: Annotated[
        Path | None, typer.Option(help="The project's folder; by default this one or one above.")
    ] = None
    target: Annotated[str | None, typer.Option(help="The target to work on.")] = None
    vars: Annotated[
        str | None, typer.Option(help="Options for this call, as a JSON or YAML mapping.")
    ] = None

    @property
    def session(self) -> SparkSession | None:
        """The Spark session to use, where there is one already."""
        return self.spark

    def project(self) -> Project:
        """The project that the options name."""
        return Project.load(
            self.project_dir or ".",
            target=self.target,
            vars=parse_vars(self.vars),
            spark=self.session,
            announce=self.announce,
        )

    def packages(self, project: Project, package: str | None) -> list[str]:
        """The packages that the call means: the one named, or all enabled ones."""
        packages = project.package_names(package)
        if not packages:
            raise UsageError(
                "windrow.yml enables no package. Write one below `packages:`, such as `web: {}`."
            )
        return packages

    def choices(
        self,
        project: Project,
        package: str | None,
        select: list[str] | None,
        exclude: list[str] | None = None,
    ) -> list[Choice]:
        """The packages that the call means with its selection, before Spark takes its time."""
        packages = self.packages(project, package)
        return project.choices(packages, joined(select), joined(exclude))

    def chosen(
        self,
        package: str | None,
        select: list[str] | None,
        exclude: list[str] | None = None,
        *,
        is_brief: Callable[[Project, Sequence[Choice]], bool] = lambda *_: False,
    ) -> tuple[Project, list[Choice]]:
        """The project, with its Spark started, and the choices that the call means.

        `is_brief`: whether they are done in some seconds.
        """
        project = self.project()
        choices = self.choices(project, package, select, exclude)
        self.start_spark(project, is_brief=is_brief(project, choices))
        return project, choices

    def start_spark(self, project: Project, *, is_brief: bool = False) -> None:
        """Start the project's Spark and show that this takes a while.

        `is_brief`: what it is for does not take long once it is there.
        """
        if self.session is None:
            self.progress(Step("Spark", "started", detail="Starting Spark"))
            began = time.monotonic()
            version = project.start_spark(is_brief=is_brief).version
            seconds = time.monotonic() - began
            self.progress(Step("Spark", "done", seconds=seconds, detail=f"version {version}"))

    def log_dir(self) -> Path:
        try:
            folder = find_project(self.project_dir or Path())
        except ConfigError:
            return super().log_dir()
        return folder / ".windrow" / "logs"


class RunCall(ProjectCall):
    """A call of a command that runs models, whose half-done work is taken back."""

    after_interruption = " Nothing of this run was kept."

    warm: SparkSession | None = None
    """The session that an earlier round started, where a call has several."""
    warmed_for: SparkSettings | None = None
    """What the project asked of Spark when that was started."""

    @property
    def session(self) -> SparkSession | None:
        return self.spark or self.warm

    def project(self) -> Project:
        return with_lineage(super().project(), os.environ, self.announce)

    def shown(self) -> Progress:
        """What shows the steps; the log has them too."""
        return Logged(super().shown())

    def in_a_pipe(self, console: Console) -> Progress:
        return Quiet(console)

    def say_errors(self, done: Mapping[str, PackageRuns]) -> None:
        """Show why packages did no more, of those that stopped while others went on."""
        for name, runs in done.items():
            if runs.error is not None:
                self.say_error(f"{name}: {runs.error}")

    def keep_warm(self, project: Project) -> None:
        """Have the project's Spark used by the rounds that follow, whatever it asks for by then."""
        if self.warmed_for is None:
            self.warm, self.warmed_for = project.spark, project.target.spark
        elif project.target.spark != self.warmed_for:
            self.announce(
                "windrow.yml asks for other Spark settings by now; they count when this command is "
                "started again."
            )


def as_command(
    function: Callable[..., int], spark: SparkSession | None = None
) -> Callable[..., None]:
    """The function as Typer takes it: its parameter `call` is spread into the common options."""
    own = list(inspect.signature(function, eval_str=True).parameters.values())
    kind: type[Call] = own[0].annotation
    options = [
        parameter
        for parameter in inspect.signature(kind, eval_str=True).parameters.values()
        if parameter.name != "spark"
    ]

    def command(**values: Any) -> None:
        call = kind(**{it.name: values.pop(it.name) for it in options}, spark=spark)
        exit_code = _carry_out(call, lambda: function(call, **values))
        if exit_code:
            raise typer.Exit(exit_code)

    keyword_only = [it.replace(kind=inspect.Parameter.KEYWORD_ONLY) for it in [*own[1:], *options]]
    # Typer reads it; to the type checker a function has no such attribute.
    command.__signature__ = inspect.Signature(keyword_only)  # type: ignore[attr-defined]
    command.__doc__ = function.__doc__
    return command


def _carry_out(call: Call, work: Callable[[], int]) -> int:
    """The exit code of the work, whatever happens to it."""
    try:
        with terminable(), call.log, call.progress, unreadable_files():
            exit_code = work()
            call.tell_of_log()
            return exit_code
    except Terminated:
        return call.stop("Terminated", TERMINATED)
    except KeyboardInterrupt:
        return call.stop("Interrupted", INTERRUPTED)
    except BrokenPipeError:
        raise
    except Exception as error:
        return call.complain(call.problem(error))


def _log_error(folder: Path, error: Exception) -> Path:
    text = "".join(traceback.format_exception(error))
    name = f"error-{datetime.now(UTC):%Y%m%dT%H%M%S}.log"
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
        return folder / name
    # A folder that cannot be written to may be the very error.
    fallback = Path(tempfile.mkdtemp(prefix="windrow-")) / name
    fallback.write_text(text, encoding="utf-8")
    return fallback


def _console(stream: Any) -> Console:
    console = Console(file=stream, highlight=False)
    if not console.is_terminal:
        console.width = max(console.width, _WIDTH_OF_FILES)
    return console
