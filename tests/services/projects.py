"""A project for the services to work on, and windrow's commands as processes."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from services import life
from services.servers import QUICK

SMALL = {
    "spark.sql.shuffle.partitions": "2",
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.driver.extraJavaOptions": QUICK,
}
TO_THE_THIRD_DAY = ("--now", "2024-01-03", "--until-caught-up")
UNTIL_THE_END = ("--now", "2024-01-05", "--until-caught-up")


def make_shop(folder: Path) -> Path:
    """A project with four days of events, and what one run on this machine makes of them."""
    ask("init", str(folder))
    sizes = ("--start", "2024-01-01", "--days", "4", "--events-per-day", "60")
    ask("generate", *sizes, "--output", str(folder / "events"), "--project-dir", str(folder))
    (folder / "models" / "daily_pages.py").unlink()
    spark = {"master": "local[2]", "conf": SMALL}
    here: dict[str, Any] = {"warehouse": "./warehouse", "spark": spark}
    change(folder, targets={"here": here})
    live("on_this_machine", folder, "here")
    return folder


def change(shop: Path, **changes: dict[str, Any]) -> None:
    """Set parts of windrow.yml: keys below targets, events and the like."""
    file = shop / "windrow.yml"
    document = yaml.safe_load(file.read_text())
    for name, change in changes.items():
        document[name] = {**document.get(name, {}), **change}
    file.write_text(yaml.safe_dump(document))


def on_two_cores(conf: dict[str, str]) -> dict[str, Any]:
    """A target's Spark on this machine, with settings for a store or a catalog."""
    return {"master": "local[2]", "conf": SMALL | conf}


def ask(*arguments: str) -> str:
    """A command of windrow, which must end well; what it prints."""
    code, said = answer(*arguments)
    assert code == 0, (arguments, said)
    return said


def answer(*arguments: str) -> tuple[int, str]:
    """How a command of windrow ends, and what it prints."""
    command = [sys.executable, "-m", "windrow", *arguments]
    found = subprocess.run(command, capture_output=True, text=True, timeout=600)
    return found.returncode, found.stdout + found.stderr


def live(which: str, shop: Path, target: str) -> None:
    """A life, or a part of it, in a process of its own; how long its steps took is printed."""
    command = [sys.executable, life.__file__, which, str(shop), target]
    found = subprocess.run(command, capture_output=True, text=True, timeout=900)
    sys.stdout.write(found.stdout)
    assert found.returncode == 0, found.stderr[-4000:]


def run_beside(
    shop: Path, target: str, happens: Callable[[], object], *, until: tuple[str, ...]
) -> tuple[int, str]:
    """A run beside which something happens once its events are there; how it ended."""
    place = ("--target", target, "--project-dir", str(shop))
    command = [sys.executable, "-m", "windrow", "run", *until, *place, "--log-format", "json"]
    run = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert run.stderr is not None
    told = []
    for line in run.stderr:
        told.append(line)
        step = json.loads(line) if line.startswith("{") else {}
        if (step.get("step"), step.get("status")) == ("events", "done"):
            # It waits meanwhile: what happens may take longer than the rest of the run.
            run.send_signal(signal.SIGSTOP)
            happens()
            run.send_signal(signal.SIGCONT)
            break
    told.append(run.communicate(timeout=600)[1])
    return run.returncode, "".join(told)
