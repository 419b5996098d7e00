"""Any command as a contestant: its text for a step, and what running it used."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from bench import usage
from bench.steps import Step


def placeholders(step: Step, *, events: Path, folder: Path, format: str) -> dict[str, str]:
    """What a template may name."""
    return {
        "events": str(events),
        "folder": str(folder),
        "format": format,
        "step": step.name.split()[0],
        "start": step.start.date().isoformat(),
        "end": step.end.date().isoformat(),
        "now": f"{step.end:%Y-%m-%dT%H:%M:%S}",
    }


def fill(template: str, values: Mapping[str, str]) -> str:
    """The template with its placeholders filled in; `{{` and `}}` stand for braces."""
    try:
        return template.format_map(values)
    except (KeyError, IndexError, ValueError) as error:
        known = ", ".join(f"{{{name}}}" for name in values)
        raise SystemExit(
            f"--against '{template}' cannot be filled in ({error!r}). It may name {known}; "
            "braces of its own are written twice."
        ) from error


def measure_command(command: str, output: Path) -> dict[str, float]:
    """Run a shell command; its seconds, CPU seconds and the peak of its largest process."""
    report = output.with_suffix(".json")
    with output.open("ab") as log:
        done = subprocess.run(
            [sys.executable, usage.__file__, str(report), command], stdout=log, stderr=log
        )
    if done.returncode:
        said = output.read_text(errors="replace").splitlines()[-20:]
        raise SystemExit("\n".join([f"Exit code {done.returncode}: {command}", *said]))
    found: dict[str, float] = json.loads(report.read_text())
    return found
