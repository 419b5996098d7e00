"""`windrow run` as a process of its own, for schedulers that start many things.

A process of its own needs no JVM in the scheduler's worker, has the Python and libraries that the
project is tested with, and ends with what it took: memory, Spark, everything.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Any

LOCKED = 3
"""Another run holds the package: later is fine."""
NOT_HEALED_BY_RETRIES = (2, 4)
"""Wrong configuration, or refused: someone has to look."""
_SECONDS_TO_END = 120
"""For a run to take back what it wrote; killed after that, the next run does it."""


@dataclass(frozen=True, kw_only=True)
class RunCommand:
    """What is asked of `windrow run`."""

    project_dir: str
    target: str | None = None
    package: str | None = None
    select: Sequence[str] = ()
    exclude: Sequence[str] = ()
    vars: Mapping[str, Any] | None = None
    until_caught_up: bool = False
    check: bool = False
    command: Sequence[str] = ("windrow",)

    @property
    def arguments(self) -> list[str]:
        """The command line."""
        named = {"--target": self.target, "--package": self.package}
        if self.vars:
            named["--vars"] = json.dumps(self.vars)
        given = [part for name, value in named.items() if value for part in (name, value)]
        for name, parts in (("--select", self.select), ("--exclude", self.exclude)):
            given += [part for value in parts for part in (name, value)]
        given += ["--until-caught-up"] * self.until_caught_up + ["--check"] * self.check
        return [*self.command, "run", "--project-dir", self.project_dir, "--json", *given]


@dataclass(frozen=True)
class Ended:
    """How a run ended: its exit code, and the document that it printed."""

    exit_code: int
    document: dict[str, Any]

    @property
    def runs(self) -> Iterator[dict[str, Any]]:
        """The runs it made, those beside others among them."""
        for package in self.document.get("packages", ()):
            for run in package["runs"]:
                yield from (run, *([run["catch_up"]] if run["catch_up"] else ()))

    @property
    def message(self) -> str:
        """Why it did not succeed, in few words."""
        packages = self.document.get("packages", ())
        errors = [self.document.get("error"), *(package["error"] for package in packages)]
        said = [error["message"] for error in errors if error]
        for run in self.runs:
            said += [f"{it['name']}: {it['error']}" for it in run["models"] if it["error"]]
            failed = [it for it in run["checks"] if it["outcome"] == "failed"]
            said += [f"{it['table']}: {it['check']} failed" for it in failed]
        return f"windrow run ended with {self.exit_code}. {' '.join(said)}".strip()


class RunProcess:
    """A `windrow run` that goes on."""

    def __init__(self, command: RunCommand, env: Mapping[str, str] | None = None) -> None:
        self._process = subprocess.Popen(
            command.arguments,
            env=None if env is None else {**os.environ, **env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            # Whoever stops the scheduler's processes, all at once, stops this one by `stop`.
            start_new_session=True,
        )

    def wait(self, say: Callable[[str], object]) -> Ended:
        """Until it has ended; what it tells meanwhile is said. What stops us stops it, too."""
        out, err = self._process.stdout, self._process.stderr
        assert out is not None
        assert err is not None
        with out, err, ThreadPoolExecutor(max_workers=1) as pool:
            printed = pool.submit(out.read)
            try:
                _tell(err, say)
                exit_code = self._process.wait()
            except BaseException:
                self.stop()
                self._see_it_end()
                raise
            return Ended(exit_code, _document(printed.result()))

    def stop(self) -> None:
        """Ask it to end: it takes back what it has begun."""
        self._process.send_signal(signal.SIGTERM)

    def _see_it_end(self) -> None:
        try:
            self._process.wait(_SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)


def _tell(lines: IO[str], say: Callable[[str], object]) -> None:
    for line in lines:
        if line.strip():
            say(line.rstrip())


def _document(printed: str) -> dict[str, Any]:
    """What was printed; a process that was killed may have printed nothing, or a part."""
    try:
        found = json.loads(printed)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
