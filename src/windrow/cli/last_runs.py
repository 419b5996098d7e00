"""How many events the last runs took in, noted beside the logs: Java is started for as many again.

It is a guess, and nothing else depends on it: where it is wrong, or cannot be written down, a run
does the same in another time.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from windrow.assembly import Choice
from windrow.engine.result import RunResult
from windrow.operations.several_packages import PackageRuns
from windrow.project import Project

_LITTLE = 50_000
"""Over twice as many, what Java's second compiler saves of a run is what it costs."""


def takes_in_little(project: Project, choices: Iterable[Choice]) -> bool:
    """Whether the last runs of these packages on this target were small; not if nobody knows."""
    events = _read(project).get(project.target.name, {})
    expected = [events.get(choice.package) for choice in choices]
    known = [number for number in expected if isinstance(number, int)]
    return len(known) == len(expected) and sum(known) <= _LITTLE


def note_last_runs(project: Project, done: Mapping[str, PackageRuns]) -> None:
    """Write down how many events each package took in, if it had any to take in."""
    taken_in = {name: sum(map(_events, it.runs)) for name, it in done.items()}
    found = {name: number for name, number in taken_in.items() if number}
    if not found:
        return
    noted = _read(project)
    target = project.target.name
    noted[target] = {**noted.get(target, {}), **found}
    file = _file(project)
    draft = file.with_name(f"{file.name}.{os.getpid()}")
    # A folder that cannot be written to keeps nobody from running.
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(json.dumps(noted), encoding="utf-8")
        draft.replace(file)


def _events(run: RunResult) -> int:
    """What a run took in, and what was done beside it."""
    return (run.counts or {}).get("events", 0) + sum(map(_events, run.beside))


def _read(project: Project) -> dict[str, dict[str, int]]:
    with suppress(OSError, ValueError):
        found = json.loads(_file(project).read_text(encoding="utf-8"))
        if isinstance(found, dict) and all(isinstance(it, dict) for it in found.values()):
            return found
    return {}


def _file(project: Project) -> Path:
    return project.config.project_dir / ".windrow" / "last-runs.json"
