"""A session on a Spark Connect server."""

from __future__ import annotations

import importlib.util
import socket
from collections.abc import Callable
from urllib.parse import urlsplit
from urllib.request import getproxies

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from windrow.config.secrets import redacted, without_secrets
from windrow.errors import SparkStartError, telling_line
from windrow.spark.settings import SparkSettings

CONNECT_PORT = 15002
CONNECT_PACKAGES = ("google.rpc", "grpc", "grpc_status", "pandas", "pyarrow", "zstandard")


def connect(settings: SparkSettings, remote: str, announce: Callable[[str], None]) -> SparkSession:
    """A session on a Spark Connect server, which brings its own jars and fixed settings."""
    if not remote.startswith("sc://"):
        raise SparkStartError(
            f"The target's spark.remote is '{redacted(remote)}'; expected the address of a Spark "
            "Connect server, like sc://host:15002. For a Spark on this machine set spark.master "
            "instead."
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
        cause = telling_line(str(error)).replace(parameters or remote, "…")
        raise SparkStartError(
            f"No Spark Connect server answers at {redacted(address)}: "
            f"{without_secrets(cause, settings.conf)}"
        ) from error
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
