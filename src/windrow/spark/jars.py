"""The jars of the table formats: which they are, and whether they are here."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from windrow.errors import SparkStartError

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


def ivy_home(scratch: Path) -> Path:
    """Spark's own download cache; in `scratch` where there is no home folder to write to."""
    home = Path("~").expanduser()
    writable = home.is_absolute() and os.access(home, os.W_OK)
    return (home if writable else scratch.absolute()) / ".ivy2.5.2"


def downloads(conf: Mapping[str, str], formats: Sequence[str], ivy: Path) -> list[FormatJars]:
    """The jars of these formats that a session of these settings would have to download."""
    packages = conf.get("spark.jars.packages", "").split(",")
    wanted = [FORMATS[name] for name in formats if FORMATS[name].coordinates in packages]
    return [jars for jars in wanted if not jars.is_in(ivy)]


def check_jars_exist(conf: Mapping[str, str]) -> None:
    """Files must be there; addresses (`local:/…`, `s3a://…`) are Spark's business."""
    jars = [jar for jar in conf.get("spark.jars", "").split(",") if not re.match(r"\w+:", jar)]
    missing = [jar for jar in jars if jar and not Path(jar).is_file()]
    if missing:
        raise SparkStartError(
            f"The target's spark.jars name files that do not exist: {', '.join(missing)}"
        )
