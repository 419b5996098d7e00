"""How this command was called, for the commands that we tell people to type next."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path


def called_as(folder: Path) -> str:
    """`windrow` as it is typed in the folder: by its name, or by its path where that is needed."""
    program = Path(sys.argv[0])
    if program.name == "__main__.py":
        return f"{_typed(Path(sys.executable), folder)} -m windrow"
    return _typed(program, folder) if program.name == "windrow" else "windrow"


def _typed(program: Path, folder: Path) -> str:
    found = shutil.which(program.name)
    if found and Path(found).samefile(program):
        return program.name
    absolute = program.absolute()
    # The shell's `..` leads out of the folder that a link points to.
    relative = os.path.relpath(absolute, folder.resolve())
    return shlex.quote(min(relative, str(absolute), key=len))
