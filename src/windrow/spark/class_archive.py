"""The classes that a Spark loaded, kept as Java's class data archive: the next start maps them in.

Reading and checking some 20,000 classes is half of a start. Java writes such an archive when it
ends, at some cost, so the third start on a machine makes one and those after it use it. An archive
that does not fit is ignored by Java; one that was cut short, by a kill, is never taken up.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

# What an archive of this kind begins with. Java writes it last, when all else is in the file.
MAGIC = 0xF00BABA8

_NEEDED_BYTES = 2 * 2**30
_DAY = 24 * 60 * 60
_MONTH = 30 * _DAY


def archive_flag(folder: Path, jars: Sequence[Path], java: str, now: float | None = None) -> str:
    """Java's flag that uses the archive for this Java and these jars, or makes it; or no flag."""
    now = time.time() if now is None else now
    if re.search(r"[\s\"'\\]", str(folder)):  # Spark splits the flags at such characters.
        return ""
    try:
        archive = folder / f"windrow-classes-{_fingerprint(jars, java)}.jsa"
        _take_up_drafts(archive, now)
        if archive.exists():
            with suppress(OSError):  # It may be another user's.
                os.utime(archive, (now, now))
            return f"-XX:SharedArchiveFile={archive}"
        if _is_worth_making(archive, now):
            return f"-XX:ArchiveClassesAtExit={_draft(archive)}"
    except OSError:
        pass
    return ""


def _fingerprint(jars: Sequence[Path], java: str) -> str:
    """Java checks the jars' names, sizes and times as well, and would ignore the archive."""
    text = java
    for jar in jars:
        found = jar.stat()
        text += f"\n{jar} {found.st_size} {found.st_mtime_ns}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _draft(archive: Path) -> Path:
    return archive.with_suffix(f".{os.getpid()}.draft")


def _take_up_drafts(archive: Path, now: float) -> None:
    """Move a whole draft to where the archive is looked for; remove what was left by kills."""
    for draft in archive.parent.glob(f"{archive.stem}.*.draft"):
        with suppress(OSError):  # Others may do the same; the folder may be read-only.
            if is_whole(draft):
                draft.replace(archive)
                _remove_unused(archive.parent, now)
            elif now - draft.stat().st_mtime > _DAY:
                draft.unlink()


def is_whole(draft: Path) -> bool:
    """Whether Java has come to the end of writing this archive."""
    with draft.open("rb") as file:
        return int.from_bytes(file.read(4), sys.byteorder) == MAGIC


def _remove_unused(folder: Path, now: float) -> None:
    for archive in folder.glob("windrow-classes-*.jsa"):
        if now - archive.stat().st_mtime > _MONTH:
            archive.unlink()


def _is_worth_making(archive: Path, now: float) -> bool:
    """Not where nobody has come twice, such as in a container; not again and again where it fails.

    The mark is empty after one start, and not empty from the time that a start makes the archive.
    """
    mark = archive.with_suffix(".mark")
    if not mark.exists():
        mark.touch()
        return False
    found = mark.stat()
    is_tried = found.st_size > 0 and now - found.st_mtime < _DAY
    if is_tried or shutil.disk_usage(archive.parent).free < _NEEDED_BYTES:
        return False
    mark.write_text("making")
    os.utime(mark, (now, now))
    return True
