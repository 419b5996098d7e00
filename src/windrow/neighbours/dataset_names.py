"""What tables and events are called between tools, by OpenLineage's naming rules.

A namespace is where data is held, `s3://bucket` or `file`; a name is the path in it. Tables of a
catalog go by the address of its metastore where Spark's settings tell it, and else by its name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import urlsplit

from windrow.config import Config, Target

_SAME_STORE = {"s3a": "s3", "s3n": "s3", "gcs": "gs"}
"""Spellings by which different clients reach the same store."""


class DatasetName(NamedTuple):
    """A dataset, told apart from all others."""

    namespace: str
    name: str


@dataclass(frozen=True)
class DatasetNames:
    """What a project's datasets are called."""

    config: Config
    target: Target

    def of_table(self, schema: str, table: str) -> DatasetName:
        """A table that windrow writes."""
        if self.target.warehouse is not None:
            return at_path(f"{self.target.warehouse.rstrip('/')}/{schema}/{table}")
        assert self.target.catalog is not None
        return in_catalog(self.target.catalog, f"{schema}.{table}", self.target.spark.conf)

    def of_events(self, package: str) -> DatasetName:
        """Where a package's events come from."""
        source = self.config.events_of(package)
        if source.path is not None:
            return at_path(source.path)
        assert source.table is not None
        *catalog, schema, table = ["", *source.table.split(".")][-3:]
        named = f"{schema}.{table}" if schema else table
        return in_catalog("".join(catalog) or "spark_catalog", named, self.target.spark.conf)


def dataset_names(config: Config, target: Target) -> DatasetNames:
    """The names of a project's datasets on one target."""
    return DatasetNames(config, target)


def at_path(path: str) -> DatasetName:
    """Files under a folder or an object store's prefix."""
    parts = urlsplit(path)
    if parts.scheme in ("", "file"):
        return DatasetName("file", parts.path if parts.scheme else path)
    scheme = _SAME_STORE.get(parts.scheme, parts.scheme)
    # What a bucket holds has keys, without a slash before them; file systems have paths.
    name = parts.path if scheme == "hdfs" else parts.path.lstrip("/")
    return DatasetName(f"{scheme}://{parts.netloc}", name.rstrip("/") or "/")


def in_catalog(catalog: str, name: str, conf: Mapping[str, object]) -> DatasetName:
    """A table `schema.table` of one of Spark's catalogs."""
    own = conf.get(f"spark.sql.catalog.{catalog}.uri")
    address = urlsplit(str(own or conf.get("spark.hadoop.hive.metastore.uris") or ""))
    if address.scheme == "thrift":
        return DatasetName(f"hive://{address.netloc}", name)
    if own and address.netloc:
        return DatasetName(f"{address.scheme}://{address.netloc}", f"{catalog}.{name}")
    return DatasetName("spark", f"{catalog}.{name}")
