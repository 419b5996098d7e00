"""Every setting of a session that we start ourselves."""

from __future__ import annotations

from pathlib import Path

import pytest

from windrow.spark.jars import DELTA_JARS, FORMATS, ICEBERG_JARS
from windrow.spark.settings import is_local, session_conf

from .target import Settings

DELTA_EXTENSION = FORMATS["delta"].extension


def conf_of(settings: Settings, *formats: str) -> dict[str, str]:
    return session_conf(settings, "windrow", formats or ("delta",), Path("scratch"))


def test_local_session_gets_quick_settings_and_leaves_no_litter() -> None:
    conf = conf_of(Settings())

    assert conf["spark.databricks.delta.snapshotPartitions"] == "2"
    assert conf["spark.sql.catalogImplementation"] == "in-memory"
    assert conf["spark.sql.warehouse.dir"] == str(Path("scratch/spark-warehouse").absolute())
    assert conf["spark.driver.host"] == "127.0.0.1"


@pytest.mark.parametrize("master", ["yarn", "spark://host:7077", "k8s://https://host:6443"])
def test_cluster_gets_none_of_the_local_settings(master: str) -> None:
    conf = conf_of(Settings(master=master))

    assert not is_local(master)
    assert conf.keys() == {
        "spark.app.name",
        "spark.master",
        "spark.ui.showConsoleProgress",
        "spark.python.sql.dataFrameDebugging.enabled",
        "spark.sql.catalog.spark_catalog",
        "spark.sql.session.timeZone",
        "spark.sql.extensions",
        "spark.jars.packages",
        "spark.jars.excludes",
    }


def test_only_the_formats_asked_for_are_loaded() -> None:
    assert conf_of(Settings(), "delta")["spark.jars.packages"] == DELTA_JARS
    assert conf_of(Settings(), "delta", "iceberg")["spark.jars.packages"] == (
        f"{DELTA_JARS},{ICEBERG_JARS}"
    )
    assert "spark.sql.catalog.spark_catalog" not in conf_of(Settings(), "iceberg")


def test_users_settings_win_but_time_is_utc() -> None:
    given = {"spark.sql.shuffle.partitions": "7", "spark.sql.session.timeZone": "Europe/Oslo"}

    conf = conf_of(Settings(conf=given))

    assert conf["spark.sql.shuffle.partitions"] == "7"
    assert conf["spark.sql.session.timeZone"] == "UTC"


def test_users_packages_and_extensions_are_kept() -> None:
    given = {"spark.jars.packages": "org.acme:lib:1", "spark.sql.extensions": "org.acme.Extension"}

    conf = conf_of(Settings(conf=given))

    assert conf["spark.jars.packages"] == f"org.acme:lib:1,{DELTA_JARS}"
    assert conf["spark.sql.extensions"] == f"org.acme.Extension,{DELTA_EXTENSION}"


def test_users_own_delta_version_replaces_ours() -> None:
    given = {"spark.jars.packages": "io.delta:delta-spark_2.13:4.0.0"}

    conf = conf_of(Settings(conf=given), "delta", "iceberg")

    assert conf["spark.jars.packages"] == f"io.delta:delta-spark_2.13:4.0.0,{ICEBERG_JARS}"


def test_local_jars_stand_in_for_downloads() -> None:
    conf = conf_of(Settings(jars=("a.jar", "b.jar")))

    assert conf["spark.jars"] == "a.jar,b.jar"
    assert "spark.jars.packages" not in conf
