"""Starting Spark: a quiet session in UTC that has the table formats' jars."""

from __future__ import annotations

import importlib.util
import logging
import os
import re
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn, Protocol
from urllib.parse import urlsplit
from urllib.request import getproxies

from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway
from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

from windrow.errors import SparkStartError
from windrow.spark.java import find_java, home_for_spark

# The newest pair that exists for Spark 4.1; Delta's Python wheel is sometimes ahead of its jars.
DELTA_JARS = "io.delta:delta-spark_4.1_2.13:4.4.0"
ICEBERG_JARS = "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0"

# Delta asks for these, but Spark ships them itself and prefers its own: 70 MB less to download.
SHIPPED_WITH_SPARK = (
    "org.apache.hadoop:hadoop-client-api",
    "org.apache.hadoop:hadoop-client-runtime",
    "org.apache.logging.log4j:log4j-api",
    "org.apache.logging.log4j:log4j-core",
    "org.apache.logging.log4j:log4j-slf4j2-impl",
    "org.apache.parquet:parquet-hadoop",
)

CONNECT_PORT = 15002
CONNECT_PACKAGES = ("grpc", "grpc_status", "google.rpc", "zstandard")

# PySpark prints each failed query's stack trace through these, although it raises the error too.
QUERY_LOGGERS = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")

# As Spark's own spark.redaction.regex: such values stay off the command line of the JVM, where
# every user of the machine could read them.
SECRET_KEY = re.compile(r"(?i)secret|password|token|access[.]?key")


class SparkSettings(Protocol):
    """What a target says of Spark (`targets.<name>.spark` in windrow.yml)."""

    @property
    def master(self) -> str | None: ...
    @property
    def remote(self) -> str | None: ...
    @property
    def conf(self) -> Mapping[str, str]: ...
    @property
    def jars(self) -> tuple[str, ...]: ...


@dataclass(frozen=True)
class FormatJars:
    """How a table format gets into a Spark session."""

    label: str
    coordinates: str
    megabytes: int
    extension: str
    conf: Mapping[str, str]

    @property
    def artifact(self) -> str:
        """`io.delta:delta-spark`: the same for every Spark, Scala and format version."""
        return re.split(r"-runtime|_", self.coordinates)[0]

    def is_in(self, ivy: Path) -> bool:
        """Whether Spark has downloaded these jars before."""
        group, artifact, version = self.coordinates.split(":")
        return (ivy / "jars" / f"{group}_{artifact}-{version}.jar").exists()


FORMATS: Mapping[str, FormatJars] = {
    "delta": FormatJars(
        label="Delta",
        coordinates=DELTA_JARS,
        megabytes=16,
        extension="io.delta.sql.DeltaSparkSessionExtension",
        conf={"spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog"},
    ),
    "iceberg": FormatJars(
        label="Iceberg",
        coordinates=ICEBERG_JARS,
        megabytes=48,
        extension="org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        conf={},
    ),
}


def _say_nothing(_: str) -> None:
    pass


def start(
    settings: SparkSettings,
    *,
    app_name: str = "windrow",
    formats: Sequence[str] = ("delta",),
    log_dir: Path,
    announce: Callable[[str], None] = _say_nothing,
) -> SparkSession:
    """A session as the target asks for it: local, on a cluster, or through Spark Connect.

    All that Java, Ivy and Spark print goes to `spark.log` in `log_dir`; `announce` gets the one or
    two lines a waiting user should see. A session this process already has is used as it is.
    """
    if not settings.remote and _is_running():
        spark = SparkSession.builder.config(map=dict(settings.conf)).getOrCreate()
        check_session(spark, formats)
        return spark

    log_dir.mkdir(parents=True, exist_ok=True)
    log = log_dir.absolute() / "spark.log"
    _quiet_python(log)
    if settings.remote:
        spark = _connect(settings, settings.remote, announce)
    else:
        conf = session_conf(settings, app_name, formats, scratch=log_dir.parent)
        spark = _launch(conf, formats, log, announce)
    check_session(spark, formats)
    return spark


def check_session(spark: SparkSession, formats: Sequence[str]) -> None:
    """Put the session in UTC and make sure that it can read and write these table formats."""
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    for name in formats:
        jars = FORMATS[name]
        problem = _format_problem(spark, name)
        if problem:
            catalog = "".join(f" and {key}={value}" for key, value in jars.conf.items())
            raise SparkStartError(
                f"This Spark session cannot use {jars.label} tables: {problem}. It needs the "
                f"package {jars.coordinates} and the settings "
                f"spark.sql.extensions={jars.extension}{catalog}."
            )


def is_local(master: str) -> bool:
    """Whether the executors live in the driver: `local`, `local[*]`, `local[2]`."""
    return master == "local" or master.startswith("local[")


def session_conf(
    settings: SparkSettings, app_name: str, formats: Sequence[str], scratch: Path
) -> dict[str, str]:
    """Every Spark setting of a session that we start ourselves; the user's come last and win."""
    master = settings.conf.get("spark.master") or settings.master or "local[*]"
    conf = {
        "spark.app.name": app_name,
        "spark.master": master,
        "spark.ui.showConsoleProgress": "false",
        # Else every call that makes a column asks the JVM three times more, for error messages.
        "spark.python.sql.dataFrameDebugging.enabled": "false",
    }
    if is_local(master):
        conf |= _local_conf(scratch)
    for name in formats:
        conf |= FORMATS[name].conf
    conf |= settings.conf
    conf["spark.sql.session.timeZone"] = "UTC"

    _append(conf, "spark.sql.extensions", [FORMATS[name].extension for name in formats])
    if settings.jars:
        _append(conf, "spark.jars", settings.jars)
    else:
        _append_packages(conf, formats)
    return conf


def _local_conf(scratch: Path) -> dict[str, str]:
    """What makes small runs quick on one machine, and leaves nothing lying about."""
    return {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": f"{_driver_memory_gib()}g",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": str(max(4, os.cpu_count() or 1)),
        "spark.databricks.delta.snapshotPartitions": "2",
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.warehouse.dir": str(scratch.absolute() / "spark-warehouse"),
        "spark.jars.ivy": str(_ivy_home(scratch)),
    }


def _driver_memory_gib() -> int:
    """Half of what this machine or container has, but 1 to 4 GiB."""
    have = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    container_limit = Path("/sys/fs/cgroup/memory.max")
    if container_limit.exists() and (text := container_limit.read_text().strip()).isdigit():
        have = min(have, int(text))
    return max(1, min(4, have // 2**30 // 2))


def _ivy_home(scratch: Path) -> Path:
    """Spark's own download cache; in `scratch` where there is no home folder to write to."""
    home = Path("~").expanduser()
    writable = home.is_absolute() and os.access(home, os.W_OK)
    return (home if writable else scratch.absolute()) / ".ivy2.5.2"


def _append(conf: dict[str, str], key: str, values: Sequence[str]) -> None:
    given = [value.strip() for value in conf.get(key, "").split(",") if value.strip()]
    conf[key] = ",".join(dict.fromkeys([*given, *values]))


def _append_packages(conf: dict[str, str], formats: Sequence[str]) -> None:
    given = conf.get("spark.jars.packages", "")
    ours = [FORMATS[name] for name in formats if FORMATS[name].artifact not in given]
    _append(conf, "spark.jars.packages", [jars.coordinates for jars in ours])
    _append(conf, "spark.jars.excludes", SHIPPED_WITH_SPARK)


def _is_running() -> bool:
    """Whether this process has a Spark already: in a notebook, or under spark-submit."""
    return SparkContext._active_spark_context is not None or "PYSPARK_GATEWAY_PORT" in os.environ


def _quiet_python(log: Path) -> None:
    """What PySpark and py4j print from this process about errors that they raise as well."""
    for name in QUERY_LOGGERS:
        logger = PySparkLogger.getLogger(name)
        for handler in logger.handlers[:]:
            logger.removeHandler(handler)
            handler.close()
        logger.addHandler(logging.FileHandler(log, delay=True))
        logger.propagate = False
    logging.getLogger("py4j").propagate = False
    logging.getLogger().addFilter(_is_not_of_py4j)


def _is_not_of_py4j(record: logging.LogRecord) -> bool:
    """py4j reports Ctrl-C and a lost JVM, with a stack trace, to the root logger."""
    return "py4j" not in Path(record.pathname).parts


def _launch(
    conf: Mapping[str, str], formats: Sequence[str], log: Path, announce: Callable[[str], None]
) -> SparkSession:
    gateway = SparkContext._gateway or _launch_jvm(conf, formats, log, announce)
    # The JVM knows the jars, downloaded ones included, better than the settings do.
    context_conf = {key: value for key, value in conf.items() if key != "spark.jars"}
    try:
        context = SparkContext(gateway=gateway, conf=_spark_conf(context_conf))
        _stop_on_interrupt(context)
        return SparkSession.builder.getOrCreate()
    except Exception as error:
        raise SparkStartError(
            f"Spark did not start on {conf['spark.master']}: {_cause(str(error))} "
            f"Spark's log: {log}"
        ) from error


def _stop_on_interrupt(context: SparkContext) -> None:
    """Let Ctrl-C cancel the jobs and raise KeyboardInterrupt.

    PySpark's own handler speaks to the JVM over the connection that the interrupted call is using;
    that fails, and the caller gets an error that looks like a failed query.
    """

    def handle(_signal: int, _frame: FrameType | None) -> NoReturn:
        canceller = threading.Thread(target=context.cancelAllJobs, daemon=True)
        canceller.start()
        canceller.join(timeout=5)
        raise KeyboardInterrupt

    # Python lets no other thread do this.
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, handle)


def _launch_jvm(
    conf: Mapping[str, str], formats: Sequence[str], log: Path, announce: Callable[[str], None]
) -> Any:
    """The JVM, writing to `log` from its first line to its last; Ctrl-C does not reach it."""
    scratch = log.parent.parent
    _check_jars_exist(conf)
    java_home = home_for_spark(find_java(), scratch / "java")
    ivy = Path(conf.get("spark.jars.ivy") or _ivy_home(scratch))
    downloads = _downloads(conf, formats, ivy)
    for jars in downloads:
        announce(f"Downloading the {jars.label} jars (about {jars.megabytes} MB, once) …")

    launch_conf = {key: value for key, value in conf.items() if not SECRET_KEY.search(key)}
    with log.open("ab") as output, _java_home(java_home):
        begin = output.tell()
        try:
            # PySpark leaves it untyped.
            return launch_gateway(  # type: ignore[no-untyped-call]
                _spark_conf(launch_conf), popen_kwargs={"stdout": output, "stderr": output}
            )
        except PySparkException as error:
            said = log.read_bytes()[begin:].decode(errors="replace")
            raise _launch_error(said, log, downloads, ivy) from error


def _check_jars_exist(conf: Mapping[str, str]) -> None:
    """Files must be there; addresses (`local:/…`, `s3a://…`) are Spark's business."""
    jars = [jar for jar in conf.get("spark.jars", "").split(",") if not re.match(r"\w+:", jar)]
    missing = [jar for jar in jars if jar and not Path(jar).is_file()]
    if missing:
        raise SparkStartError(
            f"The target's spark.jars name files that do not exist: {', '.join(missing)}"
        )


def _downloads(conf: Mapping[str, str], formats: Sequence[str], ivy: Path) -> list[FormatJars]:
    packages = conf.get("spark.jars.packages", "").split(",")
    wanted = [FORMATS[name] for name in formats if FORMATS[name].coordinates in packages]
    return [jars for jars in wanted if not jars.is_in(ivy)]


def _spark_conf(conf: Mapping[str, str]) -> SparkConf:
    return SparkConf(loadDefaults=False).setAll(list(conf.items()))


def _launch_error(
    said: str, log: Path, downloads: Sequence[FormatJars], ivy: Path
) -> SparkStartError:
    if re.search(r"unresolved dependenc|download failed|failed downloads", said, re.IGNORECASE):
        jars = ", ".join(jars.coordinates for jars in downloads) or "spark.jars.packages"
        return SparkStartError(
            f"The jars of {jars} cannot be downloaded. Without a network, name local files in "
            f"targets.<target>.spark.jars, or copy {ivy} from a machine that has them. "
            f"Spark's log: {log}"
        )
    return SparkStartError(f"Spark did not start: {_cause(said)} Spark's log: {log}")


def _cause(said: str) -> str:
    """The line that tells most: the first that names an error, or the last."""
    lines = [line.strip() for line in said.splitlines() if line.strip()] or ["no reason given."]
    return next((line for line in lines if re.search(r"Exception:|Error:", line)), lines[-1])


@contextmanager
def _java_home(home: Path | None) -> Iterator[None]:
    """JAVA_HOME as Spark's launcher should see it; None means that it takes the PATH's Java."""
    before = os.environ.pop("JAVA_HOME", None)
    if home is not None:
        os.environ["JAVA_HOME"] = str(home)
    try:
        yield
    finally:
        os.environ.pop("JAVA_HOME", None)
        if before is not None:
            os.environ["JAVA_HOME"] = before


def _connect(settings: SparkSettings, remote: str, announce: Callable[[str], None]) -> SparkSession:
    """A session on a Spark Connect server, which brings its own jars and fixed settings."""
    if not remote.startswith("sc://"):
        raise SparkStartError(
            f"The target's spark.remote is '{remote}'; expected the address of a Spark Connect "
            "server, like sc://host:15002. For a Spark on this machine set spark.master instead."
        )
    if not all(_is_installed(package) for package in CONNECT_PACKAGES):
        raise SparkStartError(
            "Spark Connect needs packages that are not installed: pip install 'windrow[connect]'"
        )
    try:
        _knock(remote)
        spark = SparkSession.builder.remote(remote).getOrCreate()
        fixed = [key for key, value in settings.conf.items() if not _set(spark, key, value)]
    except Exception as error:
        # What follows the semicolon may hold a token.
        address, _, parameters = remote.partition(";")
        cause = _cause(str(error)).replace(parameters or remote, "…")
        raise SparkStartError(f"No Spark Connect server answers at {address}: {cause}") from error
    for key in fixed:
        announce(f"{key} is fixed by the Spark Connect server; the value in windrow.yml is unused.")
    return spark


def _knock(remote: str) -> None:
    """Fail in seconds where nobody listens; Spark's client would try again for minutes."""
    address = urlsplit(remote)
    if not getproxies():
        port = address.port or CONNECT_PORT
        socket.create_connection((address.hostname or "", port), timeout=10).close()


def _is_installed(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:
        return False


def _set(spark: SparkSession, key: str, value: str) -> bool:
    try:
        spark.conf.set(key, value)
    except PySparkException as error:
        if "CANNOT_MODIFY" not in str(error):
            raise
        return False
    return True


def _format_problem(spark: SparkSession, name: str) -> str | None:
    """Ask for a table that cannot exist: the refusal tells whether the format is known."""
    try:
        _ = spark.read.format(name).load("/windrow/no/such/table").schema
    except Exception as error:
        answer = str(error)
        if "[DATA_SOURCE_NOT_FOUND]" in answer:
            return "its classes are not on the classpath"
        if "[DELTA_CONFIGURE_SPARK_SESSION_WITH_EXTENSION_AND_CATALOG]" in answer:
            return "the SQL extension or the catalog is not configured"
    return None
