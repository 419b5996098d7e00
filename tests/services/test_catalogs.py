"""A project whose tables lie in a catalog; what it does without each of the catalog's grants."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from services.projects import (
    TO_THE_THIRD_DAY,
    UNTIL_THE_END,
    answer,
    ask,
    change,
    live,
    on_two_cores,
)
from services.stores import (
    POSTGRES_DRIVER,
    Database,
    hive_metastore,
    postgres,
    rest_catalog,
)

pytestmark = pytest.mark.services


@pytest.fixture(scope="module")
def metastore(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with hive_metastore(tmp_path_factory.mktemp("metastore")) as address:
        yield address


def test_iceberg_in_a_rest_catalog(shop: Path, tmp_path: Path) -> None:
    with rest_catalog(tmp_path) as address:
        catalog = {
            "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
            "spark.sql.catalog.lake.type": "rest",
            "spark.sql.catalog.lake.uri": address,
        }
        lives_in(shop, "lake", "iceberg", catalog)


def test_iceberg_in_a_hive_metastore(shop: Path, tmp_path: Path, metastore: str) -> None:
    catalog = {
        "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.lake.type": "hive",
        "spark.sql.catalog.lake.uri": metastore,
        "spark.sql.catalog.lake.warehouse": f"file://{tmp_path}/iceberg",
    }
    change(shop, schemas={"derived": "ice", "manifest": "ice_state", "scratch": "ice_scratch"})
    lives_in(shop, "lake", "iceberg", catalog)


def test_delta_in_a_hive_metastore(shop: Path, tmp_path: Path, metastore: str) -> None:
    catalog = {
        "spark.sql.catalogImplementation": "hive",
        "spark.hadoop.hive.metastore.uris": metastore,
        "spark.sql.warehouse.dir": f"file://{tmp_path}/delta",
    }
    lives_in(shop, "spark_catalog", "delta", catalog)


def test_a_user_with_some_of_the_grants_of_a_jdbc_catalog(shop: Path, tmp_path: Path) -> None:
    with postgres() as database:
        for user in ("windrow", "analyst"):
            add_jdbc_target(shop, user, database, f"file://{tmp_path}/lake")
        # Whoever comes first makes the catalog's own tables: here, one who may.
        assert told(shop, "doctor", "windrow")[0] == 0
        database.ask("create role analyst login")
        database.ask("grant select on iceberg_tables, iceberg_namespace_properties to analyst")

        code, said = told(shop, "doctor", "analyst")
        assert code == 1, said
        assert "✗ schema derived: Missing: create tables in schema derived (" in said
        assert "permission denied for table iceberg_tables" in said
        assert "Not tried without it: write, alter, read, drop." in said

        before = tables_in(database)
        code, said = told(shop, "run", "analyst", *TO_THE_THIRD_DAY)
        assert code == 1, said
        assert "The run may not create tables in schema" in said
        assert "permission denied for table iceberg_tables" in said
        assert tables_in(database) == before

        database.ask("grant insert on iceberg_tables to analyst")
        code, said = told(shop, "doctor", "analyst")
        assert code == 1, said
        for verb in ("write", "alter"):
            assert f"{verb} tables in schema derived (" in said
        assert "create tables in schema derived (" not in said
        assert "read tables in schema derived (" not in said

        # All but `delete`, which takes a table out of the catalog: no run does so here.
        database.ask("grant update on iceberg_tables to analyst")
        code, said = told(shop, "run", "analyst", *TO_THE_THIRD_DAY)
        assert code == 0, said
        code, said = told(shop, "doctor", "analyst")
        assert code == 0, said
        assert "all that runs do there is allowed; not allowed: drop (" in said

        database.ask("revoke update on iceberg_tables from analyst")
        before = tables_in(database)
        code, said = told(shop, "run", "analyst", *UNTIL_THE_END)
        assert code == 1, said
        assert "permission denied for table iceberg_tables" in said
        assert tables_in(database) == before


def add_jdbc_target(shop: Path, user: str, database: Database, warehouse: str) -> None:
    """A target named like the user of the database who works on it."""
    catalog = {
        "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.lake.type": "jdbc",
        "spark.sql.catalog.lake.uri": database.address,
        "spark.sql.catalog.lake.jdbc.user": user,
        "spark.sql.catalog.lake.jdbc.schema-version": "V1",
        "spark.sql.catalog.lake.warehouse": warehouse,
        "spark.jars.packages": POSTGRES_DRIVER,
    }
    target = {"catalog": "lake", "format": "iceberg", "spark": on_two_cores(catalog)}
    change(shop, targets={user: target})


def told(shop: Path, command: str, target: str, *options: str) -> tuple[int, str]:
    """How a command ended on a target, and what it said, in one line."""
    place = ("--target", target, "--project-dir", str(shop))
    code, said = answer(command, *options, *place)
    return code, " ".join(said.split())


def tables_in(database: Database) -> str:
    """Which tables the catalog has, and at what."""
    return database.ask("select table_name, metadata_location from iceberg_tables order by 1, 2")


def lives_in(shop: Path, catalog: str, format: str, conf: dict[str, str]) -> None:
    """A life in a catalog that Spark knows by these settings."""
    target = {"catalog": catalog, "format": format, "spark": on_two_cores(conf)}
    change(shop, targets={"there": target})
    ask("run", *TO_THE_THIRD_DAY, "--target", "there", "--project-dir", str(shop))
    live("short", shop, "there")
