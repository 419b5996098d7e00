"""Progress: plain lines, a live display and JSON lines."""

from __future__ import annotations

import json
import sys
from io import StringIO

import pytest
from rich.console import Console

from report.values import at
from windrow.engine.steps import Step
from windrow.report.progress import JsonLines, Lines, Live, Progress

STEPS = [
    Step("limits", "info", detail="Standard incremental run"),
    Step("events", "started"),
    Step("events", "done", rows=2010, seconds=1.26),
    Step("page_views", "started"),
    Step("page_views", "failed", seconds=0.5, detail="no such column [x]"),
    Step("users", "skipped", detail="reads page_views, which failed"),
    Step("plan", "nothing", detail="no usable event."),
]


def told(progress: Progress) -> None:
    with progress:
        progress.begin("web", "web on dev")
        for step in STEPS:
            progress(step)


def test_plain_progress_has_a_line_for_each_step_that_ended() -> None:
    stream = StringIO()
    told(Lines(Console(file=stream, width=40)))
    assert [" ".join(line.split()) for line in stream.getvalue().splitlines()] == [
        "web on dev",
        "Standard incremental run",
        "✓ events 2,010 events 1.3 s",
        "✗ page_views 0.5 s no such column [x]",
        "- users skipped: reads page_views, which failed",
        "Nothing to do: no usable event.",
    ]


def test_live_progress_leaves_the_same_lines_and_shows_what_goes_on() -> None:
    stream = StringIO()
    console = Console(file=stream, width=100, force_terminal=True, color_system=None)
    told(Live(console))
    text = stream.getvalue()
    for words in ("2,010 events", "no such column [x]", "skipped: reads page_views"):
        assert words in text


def test_live_progress_leaves_stdout_alone(capsys: pytest.CaptureFixture[str]) -> None:
    console = Console(file=StringIO(), width=100, force_terminal=True)
    with Live(console) as progress:
        progress(Step("events", "started"))
        sys.stdout.write("{}")
    assert capsys.readouterr().out == "{}"


def test_json_progress_is_one_object_a_line_with_the_package() -> None:
    stream = StringIO()
    told(JsonLines(stream, wall_clock=lambda: at(7)))
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [(line["step"], line["status"]) for line in lines] == [
        (step.name, step.status) for step in STEPS
    ]
    assert {line["package"] for line in lines} == {"web"}
    assert lines[2]["rows"] == 2010


def test_after_a_rest_lines_belong_to_no_package() -> None:
    stream = StringIO()
    progress = JsonLines(stream, wall_clock=lambda: at(5))
    progress.begin("web", "web on dev")
    progress(Step("events", "started"))
    progress.rest()
    progress(Step("round", "info", detail="Round 2"))
    packages = [json.loads(line)["package"] for line in stream.getvalue().splitlines()]
    assert packages == ["web", None]


def test_at_rest_nothing_spins_though_a_step_was_cut_short() -> None:
    stream = StringIO()
    console = Console(file=stream, width=100, force_terminal=True, color_system=None)
    with Live(console) as progress:
        progress.begin("web", "web on dev")
        progress(Step("events", "started", detail="Reading"))
        progress.rest()
        told_before = len(stream.getvalue())
        progress(Step("round", "info", detail="Round 2"))
    assert "Reading" not in stream.getvalue()[told_before:]
