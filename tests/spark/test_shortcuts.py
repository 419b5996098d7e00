"""What a start of Spark may leave out, and what stands against it."""

from __future__ import annotations

from pathlib import Path

import pytest

from windrow.spark.jars import DELTA_JARS
from windrow.spark.shortcuts import may_archive_classes, may_leave_out_ivy
from windrow.spark.surroundings import FLAG_VARIABLES

CONF = {"spark.master": "local[2]", "spark.jars.packages": DELTA_JARS}
IVY = Path("/home/me/.ivy2.5.2")


@pytest.fixture(autouse=True)
def installation(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The folder that a Spark may have its own settings in; PySpark from PyPI has none."""
    for name in (*FLAG_VARIABLES, "PYSPARK_SUBMIT_ARGS", "HADOOP_CONF_DIR", "SPARK_DIST_CLASSPATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path / "conf"))
    return tmp_path / "conf"


def test_plain_local_session_needs_no_ivy_and_may_archive_its_classes() -> None:
    assert may_leave_out_ivy(CONF, IVY)
    assert may_archive_classes(CONF)


@pytest.mark.parametrize("master", ["yarn", "spark://host:7077", "local-cluster[2,1,1024]"])
def test_cluster_gets_its_jars_from_spark(master: str) -> None:
    assert not may_leave_out_ivy(CONF | {"spark.master": master}, IVY)


@pytest.mark.parametrize("argument", ["--jars a.jar", "--packages a:b:1", "--master yarn"])
def test_arguments_for_spark_submit_are_obeyed(
    monkeypatch: pytest.MonkeyPatch, argument: str
) -> None:
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", f"{argument} pyspark-shell")

    assert not may_leave_out_ivy(CONF, IVY)


def test_script_that_may_set_the_class_path_is_obeyed(installation: Path) -> None:
    installation.mkdir()
    (installation / "spark-env.sh").touch()

    assert not may_leave_out_ivy(CONF, IVY)


def test_folder_on_the_class_path_means_no_archive(
    installation: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not may_archive_classes(CONF | {"spark.driver.extraClassPath": "folder"})

    monkeypatch.setenv("HADOOP_CONF_DIR", "folder")
    assert not may_archive_classes(CONF)
    monkeypatch.delenv("HADOOP_CONF_DIR")

    installation.mkdir()
    assert not may_archive_classes(CONF)


@pytest.mark.parametrize("flag", ["-Xshare:off", "-javaagent:a.jar", "-XX:SharedArchiveFile=a"])
def test_flags_about_archives_and_agents_mean_no_archive(
    monkeypatch: pytest.MonkeyPatch, flag: str
) -> None:
    assert not may_archive_classes(CONF | {"spark.driver.extraJavaOptions": flag})

    monkeypatch.setenv("JAVA_TOOL_OPTIONS", flag)
    assert not may_archive_classes(CONF)
