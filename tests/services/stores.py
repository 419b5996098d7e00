"""An object store and catalogs on the loopback address, each on a free port.

They are not part of PySpark. Who misses one is skipped, and told what to install.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import pytest

from services.servers import QUICK, SPARK_HOME, free_port, running
from windrow.spark.jars import ICEBERG_JARS
from windrow.spark.java import find_java

REST_SERVER = Path(__file__).parent / "rest" / "RestCatalog.java"
METASTORE = Path(__file__).parent / "hive" / "Metastore.java"
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

    def keys(self) -> list[str]:
        """What lies in the bucket."""
        return re.findall("<Key>(.+?)</Key>", self._send("GET", f"{BUCKET}?list-type=2"))

    def make_reader(self) -> dict[str, str]:
        """A user who may read all there is, and no more; settings with which s3a is that user."""
        self._manage("CreateUser")
        allowed = {"Effect": "Allow", "Action": ["s3:Get*", "s3:List*"], "Resource": "*"}
        policy = json.dumps({"Version": "2012-10-17", "Statement": [allowed]})
        self._manage("PutUserPolicy", PolicyName="reads", PolicyDocument=policy)
        made = self._manage("CreateAccessKey")
        settings = {"access.key": "AccessKeyId", "secret.key": "SecretAccessKey"}
        return {
            f"spark.hadoop.fs.s3a.{setting}": re.findall(f"<{name}>(.+?)</{name}>", made)[0]
            for setting, name in settings.items()
        }

    @contextmanager
    def asking_who_comes(self) -> Iterator[None]:
        """Until the end of the block it looks at who asks, and whether that is allowed."""
        self._send("POST", "moto-api/reset-auth", b"0")
        try:
            yield
        finally:
            self._send("POST", "moto-api/reset-auth", b"inf")

    def _manage(self, action: str, **parameters: str) -> str:
        query = {"Action": action, "Version": "2010-05-08", "UserName": "reader", **parameters}
        # Of the signature it only reads for which service it is.
        scope = "any/20240101/us-east-1/iam/aws4_request"
        signed = f"AWS4-HMAC-SHA256 Credential={scope}, SignedHeaders=host, Signature=any"
        kind = "application/x-www-form-urlencoded"
        return self._send("POST", "", urlencode(query).encode(), kind, Authorization=signed)

    def _put(self, path: str, content: bytes) -> None:
        self._send("PUT", path, content)

    def _send(
        self,
        method: str,
        path: str,
        content: bytes | None = None,
        kind: str = "application/octet-stream",
        **headers: str,
    ) -> str:
        told = {"Content-Type": kind, **headers}
        request = Request(f"{self.endpoint}/{path}", data=content, headers=told, method=method)
        with urlopen(request, timeout=30) as answer:
            return str(answer.read().decode())

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


AZURE_ACCOUNT, AZURE_KEY = "windrow", b64encode(b"of no worth").decode()
AZURE = f"abfs://{BUCKET}@{AZURE_ACCOUNT}.dfs.core.windows.net"


@contextmanager
def azure_storage(folder: Path) -> Iterator[dict[str, str]]:
    """Azure's blob storage, from `build/services`; settings with which Spark finds it as AZURE.

    It has no folders of its own (a "flat namespace"), so Hadoop is told to speak to it as to blobs.
    """
    programs = Path(os.environ.get("WINDROW_SERVICES", "build/services/bin")).parent / "azure"
    server = programs / "node_modules" / ".bin" / "azurite-blob"
    if not server.exists():
        pytest.skip(
            f"no Azure storage: {programs} is empty; with npm, `make test-services` fills it"
        )
    port = free_port()
    command = [str(server.absolute()), "--blobHost", "127.0.0.1", "--blobPort", str(port)]
    command += ["--inMemoryPersistence", "--silent", "--disableTelemetry", "--skipApiVersionCheck"]
    account = {"AZURITE_ACCOUNTS": f"{AZURE_ACCOUNT}:{AZURE_KEY}"}
    settings = {
        f"account.key.{AZURE_ACCOUNT}.dfs.core.windows.net": AZURE_KEY,
        "account.hns.enabled": "false",
        "fns.account.service.type": "BLOB",
        "ingress.service.type": "BLOB",
        "abfs.endpoint": f"127.0.0.1:{port}",
        "always.use.https": "false",
        "createRemoteFileSystemDuringInitialization": "true",
    }
    with running(command, folder / "azure.log", port, env=account):
        yield {
            "spark.jars.packages": f"org.apache.hadoop:hadoop-azure:{HADOOP}",
            **{f"spark.hadoop.fs.azure.{key}": value for key, value in settings.items()},
        }


@dataclass(frozen=True)
class Database:
    """A PostgreSQL server; the user windrow owns all that is in it."""

    psql: str
    port: int

    @property
    def address(self) -> str:
        """Its JDBC address."""
        return f"jdbc:postgresql://127.0.0.1:{self.port}/postgres"

    def ask(self, statement: str) -> str:
        """What it answers the user windrow."""
        place = ["-h", "127.0.0.1", "-p", str(self.port), "-U", "windrow", "-d", "postgres"]
        command = [self.psql, *place, "-X", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", statement]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@contextmanager
def postgres() -> Iterator[Database]:
    """A PostgreSQL server with an empty database."""
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    programs = os.pathsep.join([*map(str, reversed(installed)), os.environ.get("PATH", "")])
    found = [shutil.which(name, path=programs) for name in ("initdb", "postgres", "psql")]
    if None in found:
        pytest.skip("no PostgreSQL: apt-get install postgresql")
    initdb, server, psql = map(str, found)
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
            yield Database(psql, port)


@contextmanager
def rest_catalog(folder: Path) -> Iterator[str]:
    """Iceberg's REST catalog with tables on this disk; its address."""
    jars = Path(os.environ.get("WINDROW_SERVICES", "build/services/bin")).parent / "rest"
    if not any(jars.glob("*.jar")):
        pytest.skip(f"no REST catalog: {jars} is empty; with Maven, `make test-services` fills it")
    port = free_port()
    paths = [str(folder / "catalog.db"), f"file://{folder}/warehouse"]
    command = [_java_that_compiles(), "-cp", f"{jars.absolute()}/*:{SPARK_HOME}/jars/*"]
    command += [str(REST_SERVER), str(port), *paths]
    with running(command, folder / "rest.log", port):
        yield f"http://127.0.0.1:{port}"


@contextmanager
def hive_metastore(folder: Path) -> Iterator[str]:
    """Hive's metastore from Spark's own jars, over a database in the folder; its address."""
    port = free_port()
    command = [_java_that_compiles(), *QUICK.split(), "-cp", f"{SPARK_HOME}/jars/*"]
    command += [str(METASTORE), str(port), str(folder)]
    with running(command, folder / "metastore.log", port):
        yield f"thrift://127.0.0.1:{port}"


def _java_that_compiles() -> str:
    """Java for a server that is a source file."""
    java = find_java().path
    if not java.resolve().with_name("javac").exists():
        pytest.skip(f"no Java compiler beside {java}: apt-get install openjdk-17-jdk-headless")
    return str(java)
