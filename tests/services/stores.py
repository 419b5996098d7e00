"""An object store and catalogs on the loopback address, each on a free port.

They are not part of PySpark. Who misses one is skipped, and told what to install.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.request import Request, urlopen

import pytest

from services.servers import SPARK_HOME, free_port, running
from windrow.spark.jars import ICEBERG_JARS
from windrow.spark.java import find_java

REST_SERVER = Path(__file__).parent / "rest" / "RestCatalog.java"
BUCKET = "lake"
KEYS = {"id": "windrow", "secret": "of-no-worth"}

HADOOP = next(SPARK_HOME.glob("jars/hadoop-client-api-*.jar")).stem.rpartition("-")[2]
ICEBERG = ICEBERG_JARS.rpartition(":")[2]
# hadoop-aws asks for all of Amazon's SDK in one jar of 640 MB. These parts of it, in the version
# that Hadoop was built with, are 15 MB and all that S3 takes.
SDK = "2.29.52"
SDK_PARTS = ("s3-transfer-manager", "sts", "apache-client", "netty-nio-client")
S3A_PACKAGES = (
    f"org.apache.hadoop:hadoop-aws:{HADOOP}",
    *(f"software.amazon.awssdk:{part}:{SDK}" for part in SDK_PARTS),
)
S3FILEIO_PACKAGES = (f"org.apache.iceberg:iceberg-aws-bundle:{ICEBERG}",)
POSTGRES_DRIVER = "org.postgresql:postgresql:42.7.14"


@dataclass(frozen=True)
class ObjectStore:
    """A server that speaks S3, with one bucket."""

    endpoint: str

    def upload(self, folder: Path, prefix: str) -> None:
        """All files of a folder, under a prefix of the bucket."""
        for file in folder.rglob("*"):
            if file.is_file():
                self._put(f"{BUCKET}/{prefix}/{file.relative_to(folder)}", file.read_bytes())

    def make_bucket(self) -> None:
        self._put(BUCKET, b"")

    def _put(self, path: str, content: bytes) -> None:
        kind = {"Content-Type": "application/octet-stream"}
        address = f"{self.endpoint}/{path}"
        urlopen(Request(address, data=content, headers=kind, method="PUT"), timeout=30).close()

    @property
    def s3a(self) -> dict[str, str]:
        """Settings with which Spark finds it as s3a://."""
        return {
            "spark.jars.packages": ",".join(S3A_PACKAGES),
            "spark.jars.excludes": "software.amazon.awssdk:bundle",
            "spark.hadoop.fs.s3a.endpoint": self.endpoint,
            "spark.hadoop.fs.s3a.endpoint.region": "us-east-1",
            "spark.hadoop.fs.s3a.path.style.access": "true",
            "spark.hadoop.fs.s3a.access.key": KEYS["id"],
            "spark.hadoop.fs.s3a.secret.key": KEYS["secret"],
        }

    def s3fileio(self, catalog: str) -> dict[str, str]:
        """Settings with which an Iceberg catalog keeps its tables there."""
        settings = {
            "io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
            "warehouse": f"s3://{BUCKET}/{catalog}",
            "client.region": "us-east-1",
            "s3.endpoint": self.endpoint,
            "s3.path-style-access": "true",
            "s3.access-key-id": KEYS["id"],
            "s3.secret-access-key": KEYS["secret"],
        }
        return {f"spark.sql.catalog.{catalog}.{key}": value for key, value in settings.items()}


@contextmanager
def object_store(folder: Path) -> Iterator[ObjectStore]:
    """A store that honours conditional writes, from `build/services`."""
    programs = os.environ.get("WINDROW_SERVICES", "build/services/bin")
    server = shutil.which("moto_server", path=programs)
    if server is None:
        pytest.skip(f"no object store: {programs} has no moto_server; `make test-services` has")
    port = free_port()
    command = [server, "-H", "127.0.0.1", "-p", str(port)]
    with running(command, folder / "store.log", port):
        store = ObjectStore(f"http://127.0.0.1:{port}")
        store.make_bucket()
        yield store


@contextmanager
def postgres() -> Iterator[str]:
    """A PostgreSQL server with an empty database; its JDBC address."""
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    programs = os.pathsep.join([*map(str, reversed(installed)), os.environ.get("PATH", "")])
    initdb, server = (shutil.which(name, path=programs) for name in ("initdb", "postgres"))
    if initdb is None or server is None:
        pytest.skip("no PostgreSQL: apt-get install postgresql")
    # It refuses to be root's.
    user = "postgres" if os.geteuid() == 0 else None
    with TemporaryDirectory(prefix="windrow-postgres-") as folder:
        if user:
            shutil.chown(folder, user)
        make = [initdb, "-D", f"{folder}/data", "-A", "trust", "-U", "windrow", "--no-sync"]
        subprocess.run(make, check=True, capture_output=True, user=user, cwd=folder)
        port = free_port()
        command = [server, "-D", f"{folder}/data", "-h", "127.0.0.1", "-p", str(port)]
        command += ["-c", "fsync=off", "-c", "unix_socket_directories="]
        with running(command, Path(folder, "postgres.log"), port, user=user):
            yield f"jdbc:postgresql://127.0.0.1:{port}/postgres"


@contextmanager
def rest_catalog(folder: Path) -> Iterator[str]:
    """Iceberg's REST catalog with tables on this disk; its address."""
    jars = Path(os.environ.get("WINDROW_SERVICES", "build/services/bin")).parent / "rest"
    if not any(jars.glob("*.jar")):
        pytest.skip(f"no REST catalog: {jars} is empty; with Maven, `make test-services` fills it")
    port = free_port()
    paths = [str(folder / "catalog.db"), f"file://{folder}/warehouse"]
    command = [str(find_java().path), "-cp", f"{jars.absolute()}/*:{SPARK_HOME}/jars/*"]
    command += [str(REST_SERVER), str(port), *paths]
    with running(command, folder / "rest.log", port):
        yield f"http://127.0.0.1:{port}"
