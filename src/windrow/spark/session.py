"""A Spark session as a target asks for it: quiet, in UTC, with the table formats' jars."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from weakref import WeakKeyDictionary

from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

from windrow.errors import SparkStartError
from windrow.spark.connect import connect
from windrow.spark.jars import FORMATS
from windrow.spark.jvm import is_running, start_context
from windrow.spark.settings import SparkSettings, session_conf

# PySpark prints each failed query's stack trace through these, although it raises the error too.
QUERY_LOGGERS = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")

_USABLE: WeakKeyDictionary[SparkSession, set[str]] = WeakKeyDictionary()
"""Session -> the table formats that it was seen to be able to use."""


def _say_nothing(_: str) -> None:
    pass


def start(
    settings: SparkSettings,
    *,
    app_name: str = "windrow",
    formats: Sequence[str] = ("delta",),
    log_dir: Path,
    announce: Callable[[str], None] = _say_nothing,
    is_brief: bool = False,
) -> SparkSession:
    """A session as the target asks for it: local, on a cluster, or through Spark Connect.

    All that Java, Ivy and Spark print goes to `spark.log` in `log_dir`; `announce` gets the one or
    two lines a waiting user should see; `is_brief`: Java is set for the work of some seconds. A
    session this process already has is used as it is.
    """
    if not settings.remote and is_running():
        spark = SparkSession.builder.config(map=dict(settings.conf)).getOrCreate()
        check_session(spark, formats)
        return spark

    log_dir.mkdir(parents=True, exist_ok=True)
    log = log_dir.absolute() / "spark.log"
    _quiet_python(log)
    if settings.remote:
        spark = connect(settings, settings.remote, announce)
    else:
        conf = session_conf(settings, app_name, formats, scratch=log_dir.parent, is_brief=is_brief)
        start_context(conf, formats, log, announce)
        spark = SparkSession.builder.getOrCreate()
    check_session(spark, formats)
    return spark


def check_session(spark: SparkSession, formats: Sequence[str]) -> None:
    """Put the session in UTC and make sure that it can read and write these table formats."""
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    if getattr(spark, "_jvm", None) is not None:
        # Not above: a client of Spark Connect may be without py4j.
        from windrow.spark.java_names import remember_java_names

        remember_java_names(spark)
    known = _USABLE.setdefault(spark, set())
    for name in formats:
        if name in known:
            continue
        jars = FORMATS[name]
        problem = _format_problem(spark, name)
        if problem:
            catalog = "".join(f" and {key}={value}" for key, value in jars.conf.items())
            raise SparkStartError(
                f"This Spark session cannot use {jars.label} tables: {problem}. It needs the "
                f"package {jars.coordinates} and the settings "
                f"spark.sql.extensions={jars.extension}{catalog}."
            )
        known.add(name)


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
