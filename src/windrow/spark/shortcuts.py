"""What a start of Spark may leave out: only where nothing but what windrow brings is in play."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from windrow.spark.known_jars import asks_for_our_jars_only
from windrow.spark.settings import is_local
from windrow.spark.surroundings import (
    LAST_ON_CLASS_PATH,
    SUBMIT_ARGUMENTS,
    conf_dir,
    java_flags_given,
)

_ADDS_TO_CLASS_PATH = ("HADOOP_CONF_DIR", "YARN_CONF_DIR", LAST_ON_CLASS_PATH)


def may_leave_out_ivy(conf: Mapping[str, str], ivy: Path) -> bool:
    """Whether the jars may come from the class path, once it is known which they are.

    On a cluster Spark has to send them to others; `spark-env.sh` may set the class path after us.
    """
    given = os.environ.get(SUBMIT_ARGUMENTS, "")
    return (
        is_local(conf["spark.master"])
        and asks_for_our_jars_only(conf)
        and not re.search(r"--(jars|packages|exclude-packages|master)\b", given)
        and not (conf_dir() / "spark-env.sh").exists()
        and os.pathsep not in str(ivy)
    )


def may_archive_classes(conf: Mapping[str, str]) -> bool:
    """Whether the class path is jars alone, and nobody has other plans for Java's archives.

    Java makes no archive with a folder on the class path, and an agent may change the classes.
    """
    is_plain = (
        not conf_dir().exists()
        and "spark.driver.extraClassPath" not in conf
        and not any(os.environ.get(name) for name in _ADDS_TO_CLASS_PATH)
    )
    other_plans = r"-Xshare|SharedArchive|ArchiveClasses|CDS|-javaagent|-agent|--driver-class-path"
    return is_plain and not re.search(other_plans, java_flags_given(conf))
