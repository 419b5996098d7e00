"""Flags for the Java of a session on this machine, which mostly lives for a minute or two."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from windrow.spark.surroundings import JAVA_FLAGS, installed_defaults, java_flags_given

# Java's second compiler makes code that is quicker over hours, and takes a third of a short run to
# do so. Here it takes up a method ten times later: these are its thresholds, times 10.
COMPILER_FLAGS = (
    "-XX:Tier4InvocationThreshold=50000 -XX:Tier4MinInvocationThreshold=6000 "
    "-XX:Tier4CompileThreshold=150000 -XX:Tier4BackEdgeThreshold=400000"
)

# A Java that ends after some seconds does better with the first compiler alone, which then need not
# watch what its code does for the second one's sake. It has room for 48 MB of code by itself; Spark
# fills that, and would see its code thrown away and made again.
BRIEF_COMPILER_FLAGS = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m"

# By default all garbage is collected each time that classes outgrow a few megabytes: of a start,
# twice.
CLASSES_FLAG = "-XX:MetaspaceSize=256m"

# With a core or two, collecting garbage beside the work only takes the core away from it.
COLLECTOR_FLAGS = "-XX:+UseSerialGC"
CORES_FOR_G1 = 3

_CHOICE_OF_COMPILER = re.compile(
    r"TieredStopAtLevel|TieredCompilation|CompilationMode|-Xint|-Xcomp"
)
_CHOICE_OF_COLLECTOR = re.compile(r"Use\w+GC\b")


def with_java_flags(
    conf: Mapping[str, str], *, is_brief: bool = False, heap: str = ""
) -> dict[str, str]:
    """The settings with our flags before all others, so that the user's win.

    `is_brief`: Java is started for the work of some seconds; `heap`: how much memory it takes at
    once. Two flags that name a collector would keep Java from starting: ours goes when there is
    another.
    """
    if JAVA_FLAGS in installed_defaults():  # Ours would stand in its place.
        return dict(conf)
    given = java_flags_given(conf)
    flags = []
    if not _CHOICE_OF_COMPILER.search(given):
        flags.append(BRIEF_COMPILER_FLAGS if is_brief else COMPILER_FLAGS)
    if not _CHOICE_OF_COLLECTOR.search(given) and (os.cpu_count() or 1) < CORES_FOR_G1:
        flags.append(COLLECTOR_FLAGS)
    flags += [CLASSES_FLAG, heap, conf.get(JAVA_FLAGS, "")]
    return {**conf, JAVA_FLAGS: " ".join(flag for flag in flags if flag)}
