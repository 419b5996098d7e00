"""Progress: plain lines, a live display and JSON lines."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from datetime import timedelta
from io import StringIO

import pytest
from rich.console import Console

from report.values import a_run_that_begins, at
from windrow.engine.steps import Step
from windrow.report.progress import (
    JsonLines,
    Lines,
    Live,
    Progress,
    Quiet,
    running_line,
    time_left,
)
from windrow.report.tally import Tally

BEGINS = Step("run", "started", kind="run", run=a_run_that_begins())
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
        "✓ events 2,010 events 1.3 s 1,595/s",
        "✗ page_views 0.5 s no such column [x]",
        "- users skipped: reads page_views, which failed",
        "Nothing to do: no usable event.",
    ]


def test_in_a_pipe_only_what_went_wrong_is_told_before_the_result() -> None:
    stream = StringIO()
    told(Quiet(Console(file=stream, width=100)))
    assert [line.split()[1] for line in stream.getvalue().splitlines()] == ["page_views", "users"]


def test_a_run_shows_phase_models_done_rows_rate_and_time_left() -> None:
    tally = Tally()
    shown = []
    for seconds, step in [
        (2, BEGINS),
        (2, Step("events", "started")),
        (10, Step("events", "done", rows=2010)),
        (10, Step("page_views", "started", kind="model")),
        (20, Step("page_views", "done", rows=1200, kind="model")),
        (20, Step("users", "started", kind="model")),
        (60, Step("users", "failed", kind="model")),
    ]:
        now = at(7) + timedelta(seconds=seconds)
        tally.take(step)
        shown.append((running_line(tally, now), time_left(tally, now)))
    assert shown == [
        ("preparing", "about 40 s left"),
        ("events", "about 40 s left"),
        ("preparing", "about 32 s left"),
        ("models 0/2 · page_views", "about 32 s left"),
        ("models 1/2 · preparing · 1,200 rows, 60/s", "about 22 s left"),
        ("models 1/2 · users · 1,200 rows, 60/s", "about 22 s left"),
        ("models 2/2 · preparing · 1,200 rows, 20/s", "longer than the usual 42.0 s"),
    ]


def test_without_an_earlier_run_like_it_nothing_is_said_of_the_time_left() -> None:
    tally = Tally()
    tally.take(replace(BEGINS, run=replace(a_run_that_begins(), expected_seconds=None)))
    assert time_left(tally, at(7)) == ""
    assert tally.seconds_left(at(7)) is None


def test_a_live_run_is_one_line_that_goes_with_the_run() -> None:
    stream = StringIO()
    console = Console(file=stream, width=100, force_terminal=True, color_system=None)
    with Live(console, wall_clock=lambda: at(7) + timedelta(seconds=2)) as progress:
        progress.begin("web", "web on dev")
        progress(BEGINS)
        progress(Step("page_views", "started", kind="model"))
        progress._bar.refresh()
        during = stream.getvalue()
        progress(Step("run", "done", kind="run", detail="succeeded"))
        before = len(stream.getvalue())
        progress._bar.refresh()
    assert "models 0/2 · page_views" in during
    assert "about 40 s left" in during
    assert "left" not in stream.getvalue()[before:]
    assert "succeeded" not in stream.getvalue()


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
    assert [line["event"] for line in lines] == [
        *("note", "phase", "phase", "phase", "phase", "phase", "note")
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
