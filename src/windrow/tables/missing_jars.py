"""What Spark says when it lacks the jar for a store or a catalog -> what to add.

All that it says is the name of a class, and where it looked for it.
"""

from __future__ import annotations

import re

_HADOOPS = "in the version of this Spark's Hadoop"
_ICEBERGS = "in the version of this Spark's Iceberg"

NEEDS: tuple[tuple[str, str], ...] = (
    (r"fs\.s3a\.", f"s3a:// needs the package org.apache.hadoop:hadoop-aws {_HADOOPS}"),
    (r"fs\.azurebfs\.", f"abfss:// needs the package org.apache.hadoop:hadoop-azure {_HADOOPS}"),
    (r"scheme \"gs\"", "gs:// needs the package com.google.cloud.bigdataoss:gcs-connector"),
    (r"scheme \"s3\"", "s3:// is S3 on EMR alone; elsewhere Spark calls it s3a://"),
    (
        r"software[/.]amazon[/.]awssdk",
        f"S3FileIO needs the package org.apache.iceberg:iceberg-aws-bundle {_ICEBERGS}",
    ),
    (
        r"No suitable driver",
        "the catalog needs its database's driver, such as the package org.postgresql:postgresql",
    ),
)

_IS_ABSENT = re.compile(
    r"ClassNotFoundException|NoClassDefFoundError|Class \S+ not found|No FileSystem for scheme"
    r"|No suitable driver"
)


def needed_jar(said: str) -> str | None:
    """What has to be added, if the lack of a jar is what this error is about."""
    if not _IS_ABSENT.search(said):
        return None
    needs = next((needs for pattern, needs in NEEDS if re.search(pattern, said)), None)
    return needs and f"{needs}. docs/where-it-runs.md shows a target that has all it needs."
