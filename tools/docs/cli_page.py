"""docs/cli.md: every command with its options, from the commands themselves."""

from __future__ import annotations

import inspect
from enum import Enum
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import typer

from windrow.cli.app import build_app

INTRO = """# Commands

The help of every command says the same. Exit codes: 0 done, also when there
was nothing to do; 1 a model or a check failed; 2 wrong configuration or usage, or events that
cannot be used; 3 another run holds the package; 4 refused, to protect tables and manifests ([what
to retry](production.md#what-to-retry)). What `--json` prints: [JSON](json.md).

These are taken by every command that works on a project, and not repeated below:

| option | meaning |
|---|---|
"""


def cli_page() -> str:
    """The page."""
    commands = typer.main.get_command(build_app()).commands
    options = {
        name: {_names(it): it for it in command.params} for name, command in commands.items()
    }
    # `ls` takes what every command of a project takes; `plan` and `run` too, and more.
    common = set.intersection(*(set(options[name]) for name in ("plan", "status", "doctor")))
    shared = [_row(options["plan"][name]) for name in options["plan"] if name in common]
    parts = [INTRO + "\n".join(shared), ""]
    for name, command in commands.items():
        own = [it for label, it in options[name].items() if label not in common]
        parts += [f"## windrow {name}", "", " ".join((command.help or "").split()), ""]
        if own:
            parts += ["| option | meaning |", "|---|---|", *map(_row, own), ""]
    return "\n".join(parts)


def _names(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return f"`{(parameter.metavar or parameter.name).upper().strip('[]')}`"
    return ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))


def _row(parameter: Any) -> str:
    told = [" ".join((parameter.help or "").split())]
    choices = _choices(parameter)
    if choices:
        told.append(f"One of {', '.join(f'`{it}`' for it in choices)}.")
    default = getattr(parameter.default, "value", parameter.default)
    if parameter.required:
        told.append("Required.")
    elif isinstance(default, str | int | Path) and not isinstance(default, bool) and default != "":
        told.append(f"Default: `{default}`.")
    meaning = " ".join(part for part in told if part).replace("|", "\\|")
    return f"| {_names(parameter)} | {meaning} |"


def _choices(parameter: Any) -> list[str]:
    # Typer kept them with the type once, in Click's way.
    if hasattr(parameter, "type"):
        return [str(getattr(it, "value", it)) for it in getattr(parameter.type, "choices", ())]
    kind = parameter.type_descriptor.annotation
    if get_origin(kind) is list:
        (kind,) = get_args(kind)
    if inspect.isclass(kind) and issubclass(kind, Enum):
        return [str(it.value) for it in kind]
    return [str(it) for it in get_args(kind)] if get_origin(kind) is Literal else []
