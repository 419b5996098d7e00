"""Starting the JVM that Spark lives in; the one file that knows PySpark from the inside."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NoReturn

from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway

from windrow.config.secrets import without_secrets
from windrow.errors import SparkStartError, telling_line
from windrow.spark.class_archive import archive_flag
from windrow.spark.jars import FormatJars, check_jars_exist, downloads, ivy_home
from windrow.spark.java import Java, find_java, home_for_spark
from windrow.spark.known_jars import PACKAGES, known_jars, remember_jars
from windrow.spark.one_at_a_time import one_at_a_time
from windrow.spark.settings import is_local
from windrow.spark.shortcuts import may_archive_classes, may_leave_out_ivy
from windrow.spark.surroundings import (
    JAVA_FLAGS,
    LAST_ON_CLASS_PATH,
    SUBMIT_ARGUMENTS,
    spark_home,
)

_SECONDS_TO_CANCEL = 5
_SECONDS_TO_DISPOSE = 0.1


def is_running() -> bool:
    """Whether this process has a Spark already: in a notebook, or under spark-submit."""
    return SparkContext._active_spark_context is not None or "PYSPARK_GATEWAY_PORT" in os.environ


def start_context(
    conf: Mapping[str, str], formats: Sequence[str], log: Path, announce: Callable[[str], None]
) -> None:
    """Start Spark with these settings, in a JVM of its own unless this process has one left."""
    gateway = SparkContext._gateway or _launch_jvm(conf, formats, log, announce)
    if is_local(conf["spark.master"]):
        # Functions of the project's models run there, which Spark else gives to the first on the
        # PATH.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    # The JVM knows the jars, downloaded ones included, better than the settings do.
    context_conf = [(key, value) for key, value in conf.items() if key != "spark.jars"]
    try:
        SparkContext(gateway=gateway, conf=SparkConf(loadDefaults=False).setAll(context_conf))
    except Exception as error:
        cause = without_secrets(telling_line(str(error)), conf)
        raise SparkStartError(
            f"Spark did not start on {conf['spark.master']}: {cause} Spark's log: {log}"
        ) from error
    # PySpark's own handler speaks to the JVM over the connection that the interrupted call is
    # using; that fails, and the caller gets an error that looks like a failed query.
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, _on_ctrl_c)


def _on_ctrl_c(number: int, frame: FrameType | None) -> None:
    if can_interrupt(number, frame):
        interrupt(KeyboardInterrupt)


def can_interrupt(number: int, frame: FrameType | None) -> bool:
    """False while an object is being disposed of: Python drops what is raised there.

    The signal is sent again then, a moment later. PySpark disposes of something after every query.
    """
    while frame is not None:
        if _is_disposing(frame.f_code):
            again = threading.Timer(_SECONDS_TO_DISPOSE, os.kill, (os.getpid(), number))
            again.daemon = True
            again.start()
            return False
        frame = frame.f_back
    return True


def _is_disposing(code: CodeType) -> bool:
    """True for finalizers of Python and of Py4J, PySpark's bridge to Java."""
    if code.co_name == "__del__":
        return True
    is_finalizer = code.co_name.startswith(("_garbage_collect_", "<lambda>"))
    return is_finalizer and Path(code.co_filename).parent.name == "py4j"


def interrupt(kind: type[KeyboardInterrupt]) -> NoReturn:
    """Cancel what this process's Spark is doing, over a connection of its own, and raise."""
    context = SparkContext._active_spark_context
    if context is not None:
        canceller = threading.Thread(target=context.cancelAllJobs, daemon=True)
        canceller.start()
        canceller.join(timeout=_SECONDS_TO_CANCEL)
    raise kind


def _launch_jvm(
    conf: Mapping[str, str], formats: Sequence[str], log: Path, announce: Callable[[str], None]
) -> Any:
    """The JVM, writing to `log` from its first line to its last.

    It is out of reach of Ctrl-C and of signals to our process group: while we take back what a run
    wrote, Spark must live. When this process ends, so does the JVM.
    """
    scratch = log.parent.parent
    check_jars_exist(conf)
    java = find_java()
    java_home = home_for_spark(java, scratch / "java")
    ivy = Path(conf.get("spark.jars.ivy") or ivy_home(scratch))
    missing = downloads(conf, formats, ivy)
    for jars in missing:
        announce(f"Downloading the {jars.label} jars (about {jars.megabytes} MB, once) …")
    may_know_jars = may_leave_out_ivy(conf, ivy)
    here = known_jars(conf, ivy) if may_know_jars else []

    def wait() -> None:
        announce("Another process is starting Spark and fetches jars; waiting for it …")

    with ExitStack() as alone:
        if conf.get(PACKAGES) and not here:
            # Two that ask Ivy at once are told that what the other writes cannot be had.
            alone.enter_context(one_at_a_time(ivy, wait))
            here = known_jars(conf, ivy) if may_know_jars else []
        gateway = _launch(conf, ivy, here, java, java_home, log, missing)
        if may_know_jars and not here:
            remember_jars(conf, ivy, gateway.jvm.System.getProperty("spark.jars", ""))
    return gateway


def _launch(
    conf: Mapping[str, str],
    ivy: Path,
    here: Sequence[Path],
    java: Java,
    java_home: Path | None,
    log: Path,
    missing: Sequence[FormatJars],
) -> Any:
    launch_conf = _without_ivy(conf, ivy, here, java) if here else conf
    with (
        log.open("ab") as output,
        _settings_file(launch_conf) as settings,
        _environment("JAVA_HOME", None if java_home is None else str(java_home)),
        _environment(SUBMIT_ARGUMENTS, _submit_arguments(settings)),
        _environment(LAST_ON_CLASS_PATH, _class_path(here)),
    ):
        begin = output.tell()
        try:
            # PySpark leaves it untyped.
            return launch_gateway(  # type: ignore[no-untyped-call]
                popen_kwargs={"stdout": output, "stderr": output, "process_group": 0}
            )
        except PySparkException as error:
            said = log.read_bytes()[begin:].decode(errors="replace")
            said = without_secrets(said, conf)
            raise _launch_error(said, log, missing, ivy) from error


def _without_ivy(
    conf: Mapping[str, str], ivy: Path, here: Sequence[Path], java: Java
) -> Mapping[str, str]:
    """The settings of a start whose jars are on the class path; their classes may be archived."""
    without = {**conf, PACKAGES: ""}
    if may_archive_classes(conf):
        jars = [*sorted((spark_home() / "jars").glob("*.jar")), *here]
        flag = archive_flag(ivy, jars, f"{java.path.resolve()} {java.version}")
        without[JAVA_FLAGS] = f"{conf.get(JAVA_FLAGS, '')} {flag}".strip()
    return without


def _class_path(jars: Sequence[Path]) -> str | None:
    given = os.environ.get(LAST_ON_CLASS_PATH)
    return os.pathsep.join([*([given] if given else []), *map(str, jars)]) or None


@contextmanager
def _settings_file(conf: Mapping[str, str]) -> Iterator[Path]:
    """The settings in a file that only we may read, for as long as the block runs.

    Every user of the machine can read a command line, and any setting may hold a secret.
    """
    descriptor, name = tempfile.mkstemp(prefix="windrow-", suffix=".properties")
    file = Path(name)
    try:
        with open(descriptor, "w", encoding="ascii") as out:
            out.writelines(f"{_escape(key)}={_escape(text)}\n" for key, text in conf.items())
        yield file
    finally:
        file.unlink()


def _escape(text: str) -> str:
    """Text as Java's properties files have it: JSON's escapes, and some of their own."""
    return re.sub(r"([ =:#!])", r"\\\1", json.dumps(text)[1:-1])


def _submit_arguments(settings: Path) -> str:
    given = os.environ.get(SUBMIT_ARGUMENTS, "pyspark-shell")
    if "--properties-file" in given:
        raise SparkStartError(
            f"The environment variable {SUBMIT_ARGUMENTS} has a --properties-file, of which there "
            "can be one, and windrow uses it. Write its settings under targets.<target>.spark.conf."
        )
    return f"--properties-file {shlex.quote(str(settings))} --load-spark-defaults {given}"


@contextmanager
def _environment(name: str, value: str | None) -> Iterator[None]:
    """An environment variable as Spark's launcher should see it; None: it is not set."""
    before = os.environ.pop(name, None)
    if value is not None:
        os.environ[name] = value
    try:
        yield
    finally:
        os.environ.pop(name, None)
        if before is not None:
            os.environ[name] = before


def _launch_error(
    said: str, log: Path, missing: Sequence[FormatJars], ivy: Path
) -> SparkStartError:
    if re.search(r"unresolved dependenc|download failed|failed downloads", said, re.IGNORECASE):
        jars = ", ".join(jars.coordinates for jars in missing) or "spark.jars.packages"
        return SparkStartError(
            f"The jars of {jars} cannot be downloaded. Without a network, name local files in "
            f"targets.<target>.spark.jars, or copy {ivy} from a machine that has them. "
            f"Spark's log: {log}"
        )
    return SparkStartError(f"Spark did not start: {telling_line(said)} Spark's log: {log}")
