"""A file that is written whole or not at all: whoever has the page open never loads half of one."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from windrow.errors import UsageError


def refuse_unwritable(path: Path, *, example: str = "report.html") -> None:
    """Stop at a place where no file can be, before time is spent on what should go there."""
    if path.is_dir():
        raise UsageError(
            f"{path} is a folder. Name a file with --output, such as {path}/{example}."
        )
    if not path.absolute().parent.is_dir():
        raise UsageError(
            f"There is no folder {path.absolute().parent}. Make it, or name another file with "
            "--output."
        )


def write_whole(path: Path, text: str) -> Path:
    """Write beside the file, then put it in its place; gives its full path."""
    refuse_unwritable(path)
    place = path.absolute()
    try:
        handle, name = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name}.")
    except OSError as error:
        raise UsageError(f"Cannot write to {place.parent}: {error.strerror}.") from error
    try:
        # An error may quote a file's name that is no text.
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
        # Temporary files are for their owner alone; this one is to be read as others are.
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, place)
    except OSError as error:
        with suppress(OSError):
            os.unlink(name)
        raise UsageError(f"Cannot write {place}: {error.strerror}.") from error
    return place


def _umask() -> int:
    """What the process takes from the rights of new files; it can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
