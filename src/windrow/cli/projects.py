"""Commands that make projects and events: init, generate, demo."""

from __future__ import annotations

import shlex
import time
from datetime import date, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

import typer
from pyspark.sql import SparkSession
from rich.text import Text

from windrow.cli.call import Call, ProjectCall, RunCall
from windrow.cli.called_as import called_as
from windrow.config import SparkSettings, find_project
from windrow.config.times import in_utc
from windrow.demo import project as demos
from windrow.demo.events import ALL_CASES, GenerateOptions, write
from windrow.demo.events import generate as generated
from windrow.engine.steps import Step
from windrow.errors import ConfigError, UsageError
from windrow.project import Project
from windrow.report import words
from windrow.report.demo import demo_document, demo_text
from windrow.report.page import FILE_NAME, write_page
from windrow.spark import session as sessions
from windrow.templates import project_files, write_files

TableFormat = Literal["delta", "iceberg"]
FileFormat = Literal["parquet", "delta", "json"]
DemoPackage = Literal["web", "mobile"]


class Platform(StrEnum):
    """Whose events are made: a website's or an application's. (Typer takes no list of Literals.)"""

    web = "web"
    mob = "mob"


# --- init ------------------------------------------------------------------------------------


def init(
    call: Call,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to make.")],
) -> int:
    """Make a project: a commented windrow.yml, hooks and one model of your own."""
    if (folder / "windrow.yml").exists():
        raise UsageError(
            f"{folder} has a windrow.yml already, so it is a project. Name another folder."
        )
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file. Name a folder.")
    files = project_files(folder.absolute().name)
    written = write_files(folder, files, replace=frozenset())
    kept = [path for path in files if path not in written]
    call.report(
        {"project_dir": str(folder.absolute()), "written": written, "kept": kept},
        _after_init(folder, written, kept),
    )
    return 0


def _after_init(folder: Path, written: list[str], kept: list[str]) -> Text:
    windrow = called_as(folder)
    text = Text().append(f"Made a project in {folder}\n", "bold")
    for path in written:
        text.append(f"  {path}\n")
    for path in kept:
        text.append(f"  {path} was there and stays as it is\n")
    return text.append(
        "\nNext:\n"
        f"  cd {shlex.quote(str(folder))}\n"
        "  set events.path in windrow.yml to your events, or make some to play with:\n"
        f"  {windrow} generate --start 2024-01-01 --days 3 --output events\n"
        f"  {windrow} doctor\n"
        f"  {windrow} run"
    )


# --- generate --------------------------------------------------------------------------------


def generate(
    call: ProjectCall,
    start: Annotated[
        datetime, typer.Option(formats=["%Y-%m-%d"], help="The first day.")
    ] = datetime(2024, 1, 1),
    days: Annotated[int, typer.Option(min=1, max=36_500, help="How many days.")] = 7,
    events_per_day: Annotated[int, typer.Option(min=1, help="How many events a day.")] = 10_000,
    seed: Annotated[int, typer.Option(help="The same seed makes the same events.")] = 1,
    hard_cases: Annotated[
        bool, typer.Option("--hard-cases", help="Add everything that goes wrong in real events.")
    ] = False,
    hard_case: Annotated[
        list[str] | None,
        typer.Option(help=f"Add one of: {', '.join(ALL_CASES)}. May be given several times."),
    ] = None,
    platform: Annotated[
        list[Platform] | None,
        typer.Option(help="Of a website or an application; may be given twice for both."),
    ] = None,
    media: Annotated[
        bool, typer.Option("--media", help="Add events of media players on the website's pages.")
    ] = False,
    output: Annotated[Path, typer.Option(help="The folder to write to.")] = Path("events"),
    format: Annotated[FileFormat, typer.Option(help="How to write them.")] = "parquet",
) -> int:
    """Make synthetic events: a small shop's traffic, at any size."""
    if output.exists() and (output.is_file() or any(output.iterdir())):
        raise UsageError(f"{output} is there already. Name another folder with --output.")
    options = GenerateOptions(
        start=in_utc(start, "--start").date(),
        days=days,
        events_per_day=events_per_day,
        seed=seed,
        hard_cases=hard_cases or tuple(hard_case or ()),
        platforms=tuple(dict.fromkeys(it.value for it in platform or [Platform.web])),
        media=media,
    )
    spark = _spark_for_events(call, format)
    call.progress(Step("generate", "started", detail=f"Writing events to {output}"))
    began = time.monotonic()
    # Spark would see a relative path from where the session was started.
    path = str(output.absolute())
    write(generated(spark, options), path, format=format, mode="overwrite")
    events = spark.read.format(format).load(path).count()
    seconds = time.monotonic() - began
    call.progress(Step("events", "done", rows=events, seconds=seconds))
    call.report(
        {"path": path, "format": format, "events": events, "seconds": round(seconds, 3)},
        f"Wrote {words.count(events, 'event')} of {_period(options)} to {output}.",
    )
    return 0


def _period(options: GenerateOptions) -> str:
    return f"{words.count(options.days, 'day')} from {date.isoformat(options.start)}"


def _spark_for_events(call: ProjectCall, format: FileFormat) -> SparkSession:
    """The session of the project around us, or a local one where there is none."""
    formats = ["delta"] if format == "delta" else []
    if call.spark is not None:
        sessions.check_session(call.spark, formats)
        return call.spark
    call.progress(Step("Spark", "started", detail="Starting Spark"))
    spark = sessions.start(
        _spark_settings(call), formats=formats, log_dir=call.log_dir(), announce=call.announce
    )
    call.progress(Step("Spark", "done", detail=f"version {spark.version}"))
    return spark


def _spark_settings(call: ProjectCall) -> SparkSettings:
    if call.project_dir is None:
        try:
            find_project(Path())
        except ConfigError:
            return SparkSettings()
    return call.project().target.spark


# --- demo ------------------------------------------------------------------------------------


class DemoCall(Call):
    """A call of the demo: it runs models, in a project of its own making."""

    after_interruption = RunCall.after_interruption
    package = "web"

    def begin_day(self, clock: datetime, arrived: int, late: int) -> None:
        """Say which run follows, and what it finds."""
        self.tell(
            f"\n{clock:%A %-d %B}, 00:00. {words.count(arrived, 'event')} arrived, "
            f"{late} of them late."
        )

    def tell(self, text: str) -> None:
        """A heading between the steps."""
        self.progress.begin(self.package, text)


def demo(
    call: DemoCall,
    folder: Annotated[
        Path, typer.Argument(metavar="[DIR]", help="The folder of the demo's project.")
    ] = Path("windrow-demo"),
    format: Annotated[TableFormat, typer.Option(help="The format of the tables.")] = "delta",
    package: Annotated[DemoPackage, typer.Option(help="A website, or an application.")] = "web",
) -> int:
    """See windrow work: synthetic events of a shop's week, run day by day, and what they tell."""
    began = time.monotonic()
    call.package = package
    demos.make_project(folder, format, package)
    call.tell(f"A project in {folder}/")
    project = Project.load(folder, spark=call.spark, announce=call.announce)

    call.progress(Step("Spark", "started", detail="Starting Spark"))
    spark = project.spark
    call.progress(Step("Spark", "done", seconds=time.monotonic() - began))
    call.progress(Step("events", "started", detail="Making five days of events"))
    generating = time.monotonic()
    deliveries = demos.generate_events(spark, folder, package)
    made = sum(delivery.events for delivery in deliveries)
    call.progress(Step("events", "done", rows=made, seconds=time.monotonic() - generating))

    runs = demos.run_days(project, deliveries, begin=call.begin_day, listener=call.progress)
    call.progress(Step("answers", "started", detail="Asking the tables"))
    result = demos.finish(project, deliveries, runs)
    call.progress(Step("report", "started", detail="Writing the report"))
    write_page(project.report(now=demos.CLOCKS[-1], with_bytes=True), folder / FILE_NAME)
    seconds = time.monotonic() - began
    text = demo_text(result, folder, seconds, windrow=called_as(folder))
    call.report(demo_document(result, seconds), text)
    return int(result.has_failed)
