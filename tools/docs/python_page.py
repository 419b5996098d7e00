"""docs/python.md: what `import windrow` gives, from signatures and docstrings."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import textwrap
from enum import Enum
from typing import Any

import windrow
from windrow.engine.options import RunKeywords, RunOptions

INTRO = """# Python

What the commands do with a project, from Python. Names that are not on this page are windrow's
own affair and may change.

```python
import windrow

project = windrow.Project.load("shop", target="dev")  # spark=spark: on a session of yours
plan = project.plan("web")  # writes nothing
result = project.run("web", select="+page_views")
```

Spark starts when something first needs it. Errors are `windrow.WindrowError`s, with the sentence
that the command would print.

"""

NOT_SHOWN = {"workspace"}
"""Of a project: what hands out the engine's own values."""


def python_page() -> str:
    """The page."""
    public = {name: getattr(windrow, name) for name in windrow.__all__}
    kinds = {name: _kind(it) for name, it in public.items()}
    parts = [INTRO.rstrip("\n"), "", "## Project", "", _told(windrow.Project), ""]
    for name, member in vars(windrow.Project).items():
        if not name.startswith("_") and name not in NOT_SHOWN:
            parts += _member(name, member)
    parts += [
        "### Options of a run",
        "",
        "`plan`, `run`, `run_until_caught_up` and `run_all` take:",
        "",
    ]
    parts += _fields(RunOptions, only=set(RunKeywords.__annotations__))
    parts += ["## Models of your own", ""]
    for name in ("model", "stored", "column"):
        parts += _function(name, public[name])
    for title, kind in (("Checks", "check"), ("Values", "value"), ("Errors", "error")):
        parts += [f"## {title}", ""]
        for name in (it for it in public if kinds[it] == kind):
            parts += [f"### {name}", "", _told(public[name]), ""]
            if kind != "error":
                parts += _fields(public[name])
    return "\n".join(parts).rstrip("\n") + "\n"


def _kind(it: Any) -> str:
    if it is windrow.Project or not inspect.isclass(it):
        return "shown by itself"
    if issubclass(it, Exception):
        return "error"
    return "check" if it.__module__ == "windrow.models.checks" else "value"


def _member(name: str, member: Any) -> list[str]:
    if isinstance(member, property):
        returns = inspect.signature(member.fget).return_annotation
        return [
            f"### {name}",
            "",
            f"```python\nproject.{name}: {returns}\n```",
            "",
            _told(member),
            "",
        ]
    if isinstance(member, staticmethod):
        return _function(name, member.__func__, "Project.")
    return _function(name, member, "project.") if inspect.isfunction(member) else []


def _function(name: str, function: Any, owner: str = "windrow.") -> list[str]:
    signature = inspect.signature(function)
    taken = [it for it in signature.parameters.values() if it.name != "self"]
    shown = [_parameter(it) for it in taken]
    keywords = [place for place, it in enumerate(taken) if it.kind is it.KEYWORD_ONLY]
    if keywords:
        shown.insert(keywords[0], "*")
    call, returns = f"{owner}{name}({', '.join(shown)})", signature.return_annotation
    if len(f"{call} -> {returns}") > 90:
        call = f"{owner}{name}(\n    " + ",\n    ".join(shown) + ",\n)"
    return [f"### {name}", "", f"```python\n{call} -> {returns}\n```", "", _told(function), ""]


def _parameter(it: inspect.Parameter) -> str:
    stars = "**" if it.kind is it.VAR_KEYWORD else ""
    # Annotations are text, as the source has them.
    text = f"{stars}{it.name}: {it.annotation}"
    if it.default is it.empty:
        return text
    return f"{text} = {'…' if callable(it.default) else repr(it.default)}"


def _told(it: Any) -> str:
    return inspect.getdoc(it) or ""


def _fields(kind: type, only: set[str] | None = None) -> list[str]:
    if issubclass(kind, Enum):
        names = {member.name: f"`{member.value!r}`" for member in kind}
    elif dataclasses.is_dataclass(kind):
        names = {it.name: f"`{it.type}`" for it in dataclasses.fields(kind)}
    else:
        return []
    notes = _notes(kind)
    rows = [
        f"| `{name}` | {type_.replace('|', chr(92) + '|')} | {notes.get(name, '')} |"
        for name, type_ in names.items()
        if not name.startswith("_") and (only is None or name in only)
    ]
    head = "| name | value | meaning |" if issubclass(kind, Enum) else "| field | type | meaning |"
    return [head, "|---|---|---|", *rows, ""] if rows else []


def _notes(kind: type) -> dict[str, str]:
    """Field -> the docstring that stands under it in the source."""
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(tree, ast.ClassDef)
    notes = {}
    for field, after in zip(tree.body, tree.body[1:], strict=False):
        is_text = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
        targets = getattr(field, "targets", None) or [getattr(field, "target", None)]
        if is_text and isinstance(targets[0], ast.Name):
            notes[targets[0].id] = " ".join(str(after.value.value).split())
    return notes
