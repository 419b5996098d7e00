"""A project whose events and tables lie in an object store, and in catalogs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from services.projects import SMALL, answer, ask, change, live, run_beside
from services.stores import (
    BUCKET,
    POSTGRES_DRIVER,
    S3FILEIO_PACKAGES,
    ObjectStore,
    object_store,
    postgres,
    rest_catalog,
)

pytestmark = pytest.mark.services

TO_THE_THIRD_DAY = ("--now", "2024-01-03", "--until-caught-up")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ObjectStore]:
    with object_store(tmp_path_factory.mktemp("store")) as started:
        yield started


def on_two_cores(conf: dict[str, str]) -> dict[str, Any]:
    return {"master": "local[2]", "conf": SMALL | conf}


def test_delta_in_an_object_store(shop: Path, store: ObjectStore) -> None:
    store.upload(shop / "events", "events")
    spark = on_two_cores(store.s3a)
    target = {"warehouse": f"s3a://{BUCKET}/delta", "spark": spark}
    without = {"warehouse": f"s3a://{BUCKET}/delta", "spark": on_two_cores({})}
    change(shop, targets={"s3": target, "without": without})
    change(shop, events={"path": f"s3a://{BUCKET}/events"})

    code, said = answer("doctor", "--target", "without", "--project-dir", str(shop))
    assert code == 1, said
    said = " ".join(said.split())
    assert "s3a:// needs the package org.apache.hadoop:hadoop-aws" in said
    assert "Delta on s3a:// is safe with one driver at a time" in said

    goes_in_beside_another(shop, "s3")
    live("short", shop, "s3")


def test_iceberg_in_an_object_store_with_a_jdbc_catalog(shop: Path, store: ObjectStore) -> None:
    with postgres() as address:
        catalog = {
            "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
            "spark.sql.catalog.lake.type": "jdbc",
            "spark.sql.catalog.lake.uri": address,
            "spark.sql.catalog.lake.jdbc.user": "windrow",
            "spark.sql.catalog.lake.jdbc.schema-version": "V1",
            **store.s3fileio("lake"),
        }
        packages = ",".join((*S3FILEIO_PACKAGES, POSTGRES_DRIVER))
        spark = on_two_cores(catalog | {"spark.jars.packages": packages})
        change(shop, targets={"lake": {"catalog": "lake", "format": "iceberg", "spark": spark}})

        goes_in_beside_another(shop, "lake")
        live("short", shop, "lake")


def test_iceberg_in_a_rest_catalog(shop: Path, tmp_path: Path) -> None:
    with rest_catalog(tmp_path) as address:
        catalog = {
            "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
            "spark.sql.catalog.lake.type": "rest",
            "spark.sql.catalog.lake.uri": address,
        }
        spark = on_two_cores(catalog)
        change(shop, targets={"lake": {"catalog": "lake", "format": "iceberg", "spark": spark}})

        ask("run", *TO_THE_THIRD_DAY, "--target", "lake", "--project-dir", str(shop))
        live("short", shop, "lake")


def goes_in_beside_another(shop: Path, target: str) -> None:
    """The first run, beside which a second one is turned away."""
    place = ("--target", target, "--project-dir", str(shop))
    turned_away = []

    def try_too() -> None:
        turned_away.append(answer("run", *TO_THE_THIRD_DAY, *place))

    code, told = run_beside(shop, target, try_too, until=TO_THE_THIRD_DAY)
    assert code == 0, told
    ((code, said),) = turned_away
    assert code == 3, said
