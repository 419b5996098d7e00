"""What Spark's launcher finds beside our settings: an installation's own, and the environment's."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from pyspark.find_spark_home import _find_spark_home

SUBMIT_ARGUMENTS = "PYSPARK_SUBMIT_ARGS"
# What Spark's launcher puts on the class path after its own jars, so that its own come first.
LAST_ON_CLASS_PATH = "SPARK_DIST_CLASSPATH"
# Every variable that Java or Spark's launcher takes flags from.
FLAG_VARIABLES = ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "SPARK_SUBMIT_OPTS")

JAVA_FLAGS = "spark.driver.defaultJavaOptions"
USERS_JAVA_FLAGS = "spark.driver.extraJavaOptions"


def spark_home() -> Path:
    """Where Spark is installed."""
    # PySpark leaves it untyped.
    return Path(_find_spark_home())  # type: ignore[no-untyped-call]


def conf_dir() -> Path:
    """Where an installation keeps `spark-env.sh` and `spark-defaults.conf`, if it has any."""
    return Path(os.environ.get("SPARK_CONF_DIR") or spark_home() / "conf")


def installed_defaults() -> str:
    """The text of `spark-defaults.conf`; PySpark from PyPI has none."""
    with suppress(OSError):
        return (conf_dir() / "spark-defaults.conf").read_text(encoding="utf-8", errors="replace")
    return ""


def java_flags_given(conf: Mapping[str, str]) -> str:
    """All text in which somebody may have given the driver's Java a flag."""
    settings = [conf.get(key, "") for key in (JAVA_FLAGS, USERS_JAVA_FLAGS)]
    variables = [os.environ.get(name, "") for name in (*FLAG_VARIABLES, SUBMIT_ARGUMENTS)]
    return " ".join([*settings, *variables, installed_defaults()])
