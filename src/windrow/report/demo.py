"""What the demo did and found, as people and programs read it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from windrow.demo.app_answers import AppAnswers
from windrow.demo.project import Answers, Channel, DemoResult
from windrow.report import words
from windrow.report.documents import Document, moment, run_document
from windrow.report.page import FILE_NAME
from windrow.report.text import plain_table


def demo_document(result: DemoResult, seconds: float) -> Document:
    """What `windrow demo --json` prints."""
    found = result.answers
    return {
        "project_dir": str(result.folder),
        "format": result.format,
        "runs": [
            {
                "now": moment(run.clock),
                "arrived": run.arrived,
                "late": run.late,
                **run_document(run.result),
            }
            for run in result.runs
        ],
        "answers": {
            **_answers_document(found),
            "quarantined": result.quarantined,
            "table_rows": dict(result.table_rows),
        },
        "outstanding": result.outstanding,
        "report": str(result.folder / FILE_NAME),
        "seconds": round(seconds, 3),
    }


def _answers_document(found: Answers | AppAnswers) -> Document:
    if isinstance(found, AppAnswers):
        return {
            "devices": [vars(device) for device in found.devices],
            "screens": [vars(screen) for screen in found.screens],
        }
    return {
        "total": vars(found.total),
        "channels": [vars(channel) for channel in found.channels],
        "pages": [vars(page) for page in found.pages],
    }


def demo_text(
    result: DemoResult, folder: Path, seconds: float, *, windrow: str = "windrow"
) -> RenderableType:
    """The answers, the runs behind them, and what to try next.

    `folder` and `windrow` are as the user writes them, the latter in that folder.
    """
    found = result.answers
    return Group(
        *_answers(found),
        *_with_title("What the runs took in and left out", _runs(result)),
        *_with_title("The tables", _tables(result, folder)),
        Text(),
        Text(f"All of this took {words.duration(seconds)}.", "bold"),
        Text(),
        *_next_steps(result, folder, windrow),
        Text(),
        Text("All of it on one page, for your browser", "bold"),
        Text(f"  {folder / FILE_NAME}"),
    )


def _answers(found: Answers | AppAnswers) -> Iterator[RenderableType]:
    if isinstance(found, AppAnswers):
        yield from _with_title("What the app runs on", _devices(found))
        yield from _with_title("The screens that were seen most", _screens(found))
    else:
        yield from _with_title("Where visitors came from", _channels(found))
        yield from _with_title("The pages they saw most", _pages(found))


def _with_title(title: str, table: Table) -> Iterator[RenderableType]:
    yield Text()
    yield Text(title, "bold")
    yield Padding(table, (0, 0, 0, 2), expand=False)


def _channels(found: Answers) -> Table:
    numbers = ("visitors", "sessions", "engaged", "bounced")
    table = plain_table("channel", *numbers, numbers=numbers)
    for channel in found.channels:
        table.add_row(*_channel_row(channel, channel.name))
    table.add_section()
    table.add_row(*_channel_row(found.total, "all"), style="bold")
    return table


def _channel_row(channel: Channel, name: str) -> list[str]:
    return [
        name,
        f"{channel.visitors:,}",
        f"{channel.sessions:,}",
        words.share(channel.engaged, channel.sessions),
        words.share(channel.bounced, channel.sessions),
    ]


def _pages(found: Answers) -> Table:
    numbers = ("page views", "visitors", "seconds engaged")
    table = plain_table("page", *numbers, numbers=numbers)
    for page in found.pages:
        engaged = f"{page.engaged_seconds:.0f}"
        table.add_row(page.path, f"{page.views:,}", f"{page.visitors:,}", engaged)
    return table


def _devices(found: AppAnswers) -> Table:
    numbers = ("devices", "sessions", "installs", "with errors", "with fatal ones")
    table = plain_table("system", *numbers, numbers=numbers)
    for device in found.devices:
        table.add_row(
            device.system,
            f"{device.devices:,}",
            f"{device.sessions:,}",
            f"{device.installs:,}",
            words.share(device.with_errors, device.sessions),
            words.share(device.with_fatal_errors, device.sessions),
        )
    return table


def _screens(found: AppAnswers) -> Table:
    numbers = ("screen views", "devices")
    table = plain_table("screen", *numbers, numbers=numbers)
    for screen in found.screens:
        table.add_row(screen.name, f"{screen.views:,}", f"{screen.devices:,}")
    return table


def _runs(result: DemoResult) -> Table:
    numbers = (
        *("arrived", "late", "processed", "copies"),
        *("no session id", "sent late", "sessions cut", "took"),
    )
    table = plain_table("run at", *numbers, numbers=numbers)
    for run in result.runs:
        counts = run.result.counts or {}
        table.add_row(
            f"{run.clock:%Y-%m-%d}",
            f"{run.arrived:,}",
            str(run.late),
            f"{counts.get('events', 0):,}",
            str(counts.get("duplicates", 0)),
            str(counts.get("window_without_session", 0)),
            str(counts.get("window_too_late", 0)),
            str(counts.get("quarantined", counts.get("capped", 0))),
            words.duration(run.result.seconds),
        )
    return table


def _tables(result: DemoResult, folder: Path) -> Table:
    table = plain_table("table", "rows", "where", numbers=("rows",))
    for name, rows in result.table_rows.items():
        table.add_row(name, f"{rows:,}", f"{folder}/warehouse/derived/{name}")
    return table


def _next_steps(result: DemoResult, folder: Path, windrow: str) -> Iterator[RenderableType]:
    """Each command has a line of its own: not every shell takes comments that are pasted."""
    yield Text("Try next", "bold")
    yield Text(f"    cd {shlex.quote(str(folder))}")
    clock = f"{result.next_clock:%Y-%m-%d}"
    late = words.count(result.outstanding, "event")
    own = "daily_screens" if isinstance(result.answers, AppAnswers) else "daily_pages"
    commands = {
        f"Take in the {late} that arrived after the last run": f"run --now {clock}",
        "See where the package stands": f"status --now {clock}",
        f"List the models behind models/{own}.py, your own": f"ls --select +{own}",
        "Begin anew, with two days of events": "run --full-refresh --now 2024-03-06",
    }
    for purpose, command in commands.items():
        yield Text(f"  {purpose}", "dim")
        yield Text(f"    {windrow} {command}")
