"""Which files the table formats' jars are, once Ivy has found them: the next start need not ask it.

At every start, Ivy takes seconds to find files that it has, and Spark copies each of them.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote, urlsplit

from windrow.spark.jars import FORMATS

PACKAGES = "spark.jars.packages"
EXCLUDES = "spark.jars.excludes"


def asks_for_our_jars_only(conf: Mapping[str, str]) -> bool:
    """Whether Ivy is asked for nothing but versions that we named.

    Others may be of a kind that changes (`1.+`, snapshots), bring Python code, or be meant to come
    before ours: all that is Spark's business.
    """
    ours = {jars.coordinates for jars in FORMATS.values()}
    packages = _parts(conf.get(PACKAGES, ""))
    return (
        bool(packages)
        and ours.issuperset(packages)
        and not conf.get("spark.jars")
        and conf.get("spark.driver.userClassPathFirst", "false").lower() != "true"
    )


def known_jars(conf: Mapping[str, str], ivy: Path) -> list[Path]:
    """The files that Ivy found for these settings before; none unless all are there, and whole."""
    try:
        sizes = json.loads(_list_of(conf, ivy).read_text(encoding="utf-8"))["bytes"]
        files = {ivy / "jars" / name: size for name, size in sizes.items()}
        whole = all(size > 0 and file.stat().st_size == size for file, size in files.items())
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return []
    return list(files) if whole else []


def remember_jars(conf: Mapping[str, str], ivy: Path, found: str) -> None:
    """Write down what Ivy found: `spark.jars`, as Spark's launcher left it.

    Nothing is written when there are jars in it from elsewhere, or no place to write to.
    """
    files = [Path(unquote(urlsplit(address).path)) for address in _parts(found)]
    if not files or any(file.parent != ivy / "jars" for file in files):
        return
    target = _list_of(conf, ivy)
    draft = target.with_name(f"{target.name}.{os.getpid()}")
    with suppress(OSError):
        sizes = {file.name: file.stat().st_size for file in files}
        content = {"packages": conf[PACKAGES], "excludes": conf.get(EXCLUDES, ""), "bytes": sizes}
        # Written aside and moved, so that a process starting at the same moment reads all or none.
        draft.write_text(json.dumps(content, indent=1), encoding="utf-8")
        draft.replace(target)


def _list_of(conf: Mapping[str, str], ivy: Path) -> Path:
    asked = json.dumps([_parts(conf.get(key, "")) for key in (PACKAGES, EXCLUDES)])
    return ivy / f"windrow-jars-{hashlib.sha256(asked.encode()).hexdigest()[:16]}.json"


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
