"""Every setting of a session that we start ourselves."""

from __future__ import annotations

from pathlib import Path

import pytest

from windrow.spark.jars import DELTA_JARS, FORMATS, ICEBERG_JARS
from windrow.spark.java_flags import (
    BRIEF_COMPILER_FLAGS,
    CLASSES_FLAG,
    COLLECTOR_FLAGS,
    COMPILER_FLAGS,
)
from windrow.spark.settings import is_local, session_conf
from windrow.spark.surroundings import FLAG_VARIABLES

from .target import Settings

DELTA_EXTENSION = FORMATS["delta"].extension


def conf_of(settings: Settings, *formats: str) -> dict[str, str]:
    return session_conf(settings, "windrow", formats or ("delta",), Path("scratch"))


def test_local_session_gets_quick_settings_and_leaves_no_litter() -> None:
    conf = conf_of(Settings())

    assert conf["spark.databricks.delta.snapshotPartitions"] == "1"
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
        "spark.sql.dataFrameQueryContext.enabled",
        "spark.sql.catalog.spark_catalog",
        "spark.sql.session.timeZone",
        "spark.sql.extensions",
        "spark.jars.packages",
        "spark.jars.excludes",
        "spark.sql.objectHashAggregate.sortBased.fallbackThreshold",
        "spark.sql.requireAllClusterKeysForCoPartition",
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


@pytest.mark.parametrize("memory", ["spark.driver.memory", "spark.memory.offHeap.size"])
def test_pages_of_memory_are_small_while_the_memory_is_ours(memory: str) -> None:
    assert conf_of(Settings())["spark.buffer.pageSize"] == "2m"
    assert conf_of(Settings(conf={"spark.buffer.pageSize": "8m"}))["spark.buffer.pageSize"] == "8m"
    assert "spark.buffer.pageSize" not in conf_of(Settings(conf={memory: "64g"}))


FLAGS = "spark.driver.defaultJavaOptions"
MEMORY = f"{CLASSES_FLAG} -Xms1g"
OURS = f"{COMPILER_FLAGS} {COLLECTOR_FLAGS} {MEMORY}"


@pytest.fixture
def two_cores(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A small machine on which nobody has said anything of Java yet."""
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    for name in FLAG_VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("two_cores")
def test_java_of_a_local_session_is_set_for_short_runs() -> None:
    assert conf_of(Settings())[FLAGS] == OURS
    assert conf_of(Settings(conf={FLAGS: "-Da=b"}))[FLAGS] == f"{OURS} -Da=b"
    assert FLAGS not in conf_of(Settings(master="yarn"))


@pytest.mark.usefixtures("two_cores")
def test_java_for_the_work_of_some_seconds_has_one_compiler() -> None:
    flags = session_conf(Settings(), "windrow", ["delta"], Path("scratch"), is_brief=True)[FLAGS]

    assert flags == f"{BRIEF_COMPILER_FLAGS} {COLLECTOR_FLAGS} {MEMORY}"


@pytest.mark.usefixtures("two_cores")
def test_users_memory_is_not_taken_at_once() -> None:
    conf = conf_of(Settings(conf={"spark.driver.memory": "512m"}))

    assert conf[FLAGS] == f"{COMPILER_FLAGS} {COLLECTOR_FLAGS} {CLASSES_FLAG}"


@pytest.mark.usefixtures("two_cores")
@pytest.mark.parametrize("given", ["--driver-memory 512m", "--conf spark.driver.memory=512m"])
def test_memory_that_the_environment_gives_is_not_taken_at_once(
    given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", f"{given} pyspark-shell")

    conf = conf_of(Settings())

    assert conf[FLAGS] == f"{COMPILER_FLAGS} {COLLECTOR_FLAGS} {CLASSES_FLAG}"
    assert "spark.buffer.pageSize" not in conf


@pytest.mark.usefixtures("two_cores")
def test_many_cores_keep_javas_own_collector(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 8)

    assert conf_of(Settings())[FLAGS] == f"{COMPILER_FLAGS} {MEMORY}"


@pytest.mark.usefixtures("two_cores")
def test_users_compiler_and_collector_replace_ours() -> None:
    given = {"spark.driver.extraJavaOptions": "-XX:+UseParallelGC -XX:TieredStopAtLevel=4"}

    conf = conf_of(Settings(conf=given))

    assert conf[FLAGS] == MEMORY
    assert conf["spark.driver.extraJavaOptions"] == given["spark.driver.extraJavaOptions"]


@pytest.mark.usefixtures("two_cores")
def test_collector_named_in_the_environment_replaces_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-XX:+UseG1GC")

    assert conf_of(Settings())[FLAGS] == f"{COMPILER_FLAGS} {MEMORY}"


@pytest.mark.usefixtures("two_cores")
def test_installations_defaults_replace_ours(tmp_path: Path) -> None:
    defaults = tmp_path / "spark-defaults.conf"

    defaults.write_text("spark.driver.extraJavaOptions -XX:+UseZGC")
    assert conf_of(Settings())[FLAGS] == f"{COMPILER_FLAGS} {MEMORY}"

    defaults.write_text(f"{FLAGS} -Da=b")
    assert FLAGS not in conf_of(Settings())
