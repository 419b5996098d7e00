"""`windrow run` as a process: what it is called with, and what becomes of it."""

from __future__ import annotations

import sys
from typing import Any, NoReturn

import pytest

from windrow.neighbours.process import Ended, RunCommand, RunProcess

WAITING = """
import signal, sys, time
def end(*_):
    print('{"error": null}')
    sys.exit(143)
signal.signal(signal.SIGTERM, end)
sys.stderr.write("waiting\\n\\n")
sys.stderr.flush()
time.sleep(60)
"""


def a_process(code: str) -> RunProcess:
    return RunProcess(RunCommand(project_dir="x", command=(sys.executable, "-c", code)))


def test_the_command_line_has_what_was_asked_for():
    plain = RunCommand(project_dir="/srv/shop")
    assert plain.arguments == ["windrow", "run", "--project-dir", "/srv/shop", "--json"]
    every = RunCommand(
        project_dir="/srv/shop",
        target="prod",
        package="web",
        select=("+users", "pages"),
        exclude=("sessions",),
        vars={"web": {"backfill_limit_days": 2}},
        until_caught_up=True,
        check=True,
        command=("python", "-m", "windrow"),
    )
    assert every.arguments == [
        *("python", "-m", "windrow", "run", "--project-dir", "/srv/shop", "--json"),
        *("--target", "prod", "--package", "web"),
        *("--vars", '{"web": {"backfill_limit_days": 2}}'),
        *("--select", "+users", "--select", "pages", "--exclude", "sessions"),
        *("--until-caught-up", "--check"),
    ]


def test_one_that_is_asked_to_stop_ends_by_itself():
    process, said = a_process(WAITING), list[str]()

    def stop(line: str) -> None:
        said.append(line)
        process.stop()

    assert process.wait(stop) == Ended(143, {"error": None})
    assert said == ["waiting"]


def test_what_stops_us_stops_it():
    process = a_process(WAITING)

    def interrupted(line: str) -> NoReturn:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        process.wait(interrupted)
    assert process._process.returncode == 143


def test_one_that_is_killed_has_no_document():
    killed = a_process("import os; print('{', flush=True); os.kill(os.getpid(), 9)").wait(print)
    assert killed == Ended(-9, {})
    assert killed.message == "windrow run ended with -9."


def test_more_output_than_a_pipe_holds_is_read():
    code = "import sys; sys.stderr.write('x' * 200_000 + '\\n'); print('[1]' * 100_000)"
    said: list[str] = []
    assert a_process(code).wait(said.append) == Ended(0, {})
    assert len(said[0]) == 200_000


def test_the_message_says_which_models_and_checks_failed():
    run: dict[str, Any] = {
        "models": [{"name": "users", "error": "ValueError: no cheese"}],
        "checks": [{"table": "users", "check": "unique(id)", "outcome": "failed"}],
        "catch_up": None,
    }
    packages = [
        {"package": "web", "runs": [run], "error": None},
        {"package": "mobile", "runs": [], "error": {"message": "Held by host-1."}},
    ]
    assert Ended(1, {"packages": packages}).message == (
        "windrow run ended with 1. Held by host-1. users: ValueError: no cheese "
        "users: unique(id) failed"
    )
