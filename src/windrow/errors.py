"""Every error windrow raises on purpose, in one tree.

WindrowError
├── ConfigError        windrow.yml, --vars or hooks.py is wrong
├── UsageError         a command or call asks for something that does not exist
├── SourceError        the events table, or a column of it, is missing or has the wrong type
├── SparkStartError    Java, the jars or the cluster cannot be had
├── LockedError        another run holds the package
├── RefusedError       the request is protected against
├── TableError         a table format refused an operation
└── RunFailedError     a model or a check failed

Each class carries the exit code the command line gives for it. Callers can catch the root:

    try:
        project.run("web")
    except windrow.WindrowError as error:
        print(error)
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable


class WindrowError(Exception):
    """The root: anything windrow noticed itself."""

    exit_code = 1


class ConfigError(WindrowError):
    """A setting is missing, misspelt, of the wrong type or impossible."""

    exit_code = 2


class UsageError(WindrowError):
    """A command or call names something that does not exist."""

    exit_code = 2


class SourceError(WindrowError):
    """The events cannot be read as they are."""

    exit_code = 2


class SparkStartError(WindrowError):
    """Spark cannot be started or reached."""

    exit_code = 2


class LockedError(WindrowError):
    """Another run holds the package."""

    exit_code = 3


class RefusedError(WindrowError):
    """The request would destroy protected state."""

    exit_code = 4


class TableError(WindrowError):
    """A table format refused an operation."""


class RunFailedError(WindrowError):
    """A model or a check failed; the rest of the run went on."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """` Did you mean 'x'?` for the nearest known word, or nothing when none is near."""
    near = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f" Did you mean '{near[0]}'?" if near else ""


def first_line(error: BaseException) -> str:
    """What an error says first; the rest is Spark's plan."""
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def in_one_line(error: BaseException) -> str:
    """The type of an error and what it says first: `ValueError: negative seconds`."""
    kind, line = type(error).__name__, first_line(error)
    return kind if line == kind else f"{kind}: {line}"


def telling_line(said: str) -> str:
    """The line of an output that tells most: the first that names an error, or the last."""
    lines = [line.strip() for line in said.splitlines() if line.strip()] or ["no reason given."]
    return next((line for line in lines if re.search(r"Exception:|Error:", line)), lines[-1])
