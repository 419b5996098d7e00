"""A project whose events and tables lie in an object store, and in catalogs."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from services.faults import way_to
from services.projects import (
    TO_THE_THIRD_DAY,
    UNTIL_THE_END,
    answer,
    ask,
    change,
    live,
    on_two_cores,
    run_beside,
)
from services.stores import (
    AZURE,
    BUCKET,
    POSTGRES_DRIVER,
    S3FILEIO_PACKAGES,
    ObjectStore,
    azure_storage,
    object_store,
    postgres,
)

pytestmark = pytest.mark.services


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ObjectStore]:
    with object_store(tmp_path_factory.mktemp("store")) as started:
        yield started


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


def test_uploads_that_fail_in_the_middle_of_runs(shop: Path, store: ObjectStore) -> None:
    with way_to(store.endpoint) as (way, address):
        at_once = {
            "spark.hadoop.fs.s3a.attempts.maximum": "1",
            "spark.hadoop.fs.s3a.retry.limit": "1",
            "spark.hadoop.fs.s3a.retry.interval": "10ms",
            # A failed task is not tried again either.
            "spark.task.maxFailures": "1",
        }
        spark = on_two_cores(replace(store, endpoint=address).s3a | at_once)
        change(shop, targets={"weak": {"warehouse": f"s3a://{BUCKET}/weak", "spark": spark}})
        place = ("--target", "weak", "--project-dir", str(shop))
        ask("run", *TO_THE_THIRD_DAY, *place)

        # Rows of one model do not arrive: the others are kept, and it catches up later.
        with way.broken_for(r"/derived/snowplow_web_sessions/.*\.parquet"):
            code, said = answer("run", *UNTIL_THE_END, *place)
        assert code == 1, said
        # Nor does what would make the run count: it never happened.
        with way.broken_for(r"/snowplow_manifest/snowplow_web_incremental_manifest/_delta_log/"):
            code, said = answer("run", *UNTIL_THE_END, *place)
        assert code == 1, said
        ask("run", *UNTIL_THE_END, *place)
        live("compare", shop, "weak")


def test_delta_in_azure_storage(shop: Path, tmp_path: Path) -> None:
    with azure_storage(tmp_path) as settings:
        target = {"warehouse": f"{AZURE}/delta", "spark": on_two_cores(settings)}
        change(shop, targets={"azure": target})
        ask("run", *TO_THE_THIRD_DAY, "--target", "azure", "--project-dir", str(shop))
        live("short", shop, "azure")


def test_iceberg_in_an_object_store_with_a_jdbc_catalog(shop: Path, store: ObjectStore) -> None:
    with postgres() as database:
        catalog = {
            "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
            "spark.sql.catalog.lake.type": "jdbc",
            "spark.sql.catalog.lake.uri": database.address,
            "spark.sql.catalog.lake.jdbc.user": "windrow",
            "spark.sql.catalog.lake.jdbc.schema-version": "V1",
            **store.s3fileio("lake"),
        }
        packages = ",".join((*S3FILEIO_PACKAGES, POSTGRES_DRIVER))
        spark = on_two_cores(catalog | {"spark.jars.packages": packages})
        change(shop, targets={"lake": {"catalog": "lake", "format": "iceberg", "spark": spark}})

        two_at_once(shop, "lake")
        live("short", shop, "lake")


def test_a_user_who_may_only_read_an_object_store(shop: Path, tmp_path: Path) -> None:
    with object_store(tmp_path) as store:
        store.upload(shop / "events", "events")
        reader = store.s3a | store.make_reader()
        target = {"warehouse": f"s3a://{BUCKET}/delta", "spark": on_two_cores(reader)}
        change(shop, targets={"s3": target})
        change(shop, events={"path": f"s3a://{BUCKET}/events"})
        before = store.keys()

        place = ("--target", "s3", "--project-dir", str(shop))
        with store.asking_who_comes():
            refused = [answer("doctor", *place), answer("run", *TO_THE_THIRD_DAY, *place)]

        for code, _ in refused:
            assert code == 1, refused
        looked, ran = (" ".join(said.split()) for _, said in refused)
        assert "✗ schema derived: Missing: create tables in schema derived (" in looked
        assert "✓ events of web" in looked
        assert "The run may not create tables in schema" in ran
        assert "Access Denied" in looked
        assert "Access Denied" in ran
        assert store.keys() == before


def two_at_once(shop: Path, target: str) -> None:
    """The first run, twice at the same moment: one is turned away, and has written nothing."""
    place = ("--target", target, "--project-dir", str(shop))
    with ThreadPoolExecutor() as both:
        ends = [both.submit(answer, "run", *TO_THE_THIRD_DAY, *place) for _ in range(2)]
    codes = sorted(end.result()[0] for end in ends)
    assert codes == [0, 3], [end.result()[1] for end in ends]


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
