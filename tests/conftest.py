"""One Spark session for each test process, and the tables of both formats under a fresh folder."""

from __future__ import annotations

import fcntl
import os
import tempfile
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest
from hypothesis import settings
from pyspark.sql import SparkSession

from conformance.published import need_fixtures
from windrow.spark.jars import FORMATS, SHIPPED_WITH_SPARK, ivy_home
from windrow.spark.jvm import start_context
from windrow.spark.known_jars import known_jars
from windrow.tables import Tables, open_tables

# Two busy cores make any example slow once in a while; a test that hangs has its own limit.
# On CI, Hypothesis would draw the same examples every time.
settings.register_profile("windrow", deadline=None, derandomize=False)
settings.load_profile("windrow")

SETTINGS = {
    "spark.master": "local[2]",
    "spark.app.name": "windrow-tests",
    "spark.jars.packages": ",".join(jars.coordinates for jars in FORMATS.values()),
    "spark.jars.excludes": ",".join(SHIPPED_WITH_SPARK),
    "spark.sql.extensions": ",".join(jars.extension for jars in FORMATS.values()),
    "spark.sql.catalog.spark_catalog": FORMATS["delta"].conf["spark.sql.catalog.spark_catalog"],
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.ui.enabled": "false",
    "spark.sql.ui.explainMode": "simple",
    "spark.sql.maxPlanStringLength": "100",
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    "spark.sql.dataFrameQueryContext.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # A handful of rows is done before the code that would speed it up is compiled.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    # Plans of wide tables leave much garbage that is young, and much compiled code.
    "spark.driver.memory": "2g",
    # Java's second compiler takes more of a suite's time than its code then saves.
    "spark.driver.extraJavaOptions": "-Xmn700m -XX:ReservedCodeCacheSize=512m "
    "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Duser.timezone=UTC "
    # Hadoop starts a dozen processes for a commit of Delta: without a helper process for each.
    "-Djdk.lang.Process.launchMechanism=VFORK",
}

LONGEST = [
    *("test_golden.py", "tables/test_behaviour.py", "engine/test_upsert.py", "engine/test_runs.py"),
    *("cli/test_run.py", "cli/test_verbs.py", "operations/test_operations.py"),
]
"""A file goes to one process: were one of these the last, the other process would wait for it."""


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Of the test processes that run side by side, let one through: it fetches the jars."""
    with (Path(tempfile.gettempdir()) / f"windrow-tests-{os.getuid()}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def start_spark(folder: Path) -> SparkSession:
    """The session of the suite; everything it writes by default lies under the folder.

    Java is started as windrow starts it: without Ivy, once it is known which files the jars are.
    """
    log = folder / ".windrow" / "logs" / "spark.log"
    log.parent.mkdir(parents=True)
    conf = {**SETTINGS, "spark.sql.warehouse.dir": str(folder)}
    with nullcontext() if known_jars(conf, ivy_home(log.parent)) else one_at_a_time():
        start_context(conf, tuple(FORMATS), log, print)
        session = SparkSession.builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


SEED = "WINDROW_SEED"


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    # Processes that run side by side inherit it.
    os.environ.setdefault(SEED, str(int(time.time())))
    if config.getoption("hypothesis_seed", None) is None:
        config.option.hypothesis_seed = os.environ[SEED]
    # PySpark leaves the sockets of collect() to the garbage collector.
    config.addinivalue_line("filterwarnings", "ignore:unclosed <socket:ResourceWarning")


def pytest_report_header(config: pytest.Config) -> str:
    return f"random tests draw with {SEED}={os.environ[SEED]}"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slice", metavar="K/N", help="Run the K-th of N slices of what is chosen.")


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Generator[None]:
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.spark)
    # What `-m` leaves out goes meanwhile.
    yield
    if slice_ := config.getoption("--slice"):
        number, slices = (int(text) for text in slice_.split("/"))
        # In turn, so that all slices have as many of them, and none has nothing to do.
        chosen = {*sorted({_whole(item) for item in items})[number - 1 :: slices]}
        by_slice: dict[bool, list[pytest.Item]] = {True: [], False: []}
        for item in items:
            by_slice[_whole(item) in chosen].append(item)
        items[:] = by_slice[True]
        config.hook.pytest_deselected(items=by_slice[False])
    items.sort(key=_place)


def _whole(item: pytest.Item) -> str:
    """What stays together in a slice: a file, as its tests share what they begin with.

    Those that start processes of their own share little, and take minutes each.
    """
    is_long = item.get_closest_marker("kills") or item.get_closest_marker("services")
    return item.nodeid if is_long else item.path.name


def _place(item: pytest.Item) -> int:
    """Where a test's file comes: those that take long first, all others as they were."""
    name = item.path.relative_to(item.config.rootpath / "tests").as_posix()
    return LONGEST.index(name) if name in LONGEST else len(LONGEST)


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("conformance"):
        need_fixtures()


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    session = start_spark(tmp_path_factory.mktemp("spark-warehouse"))
    yield session
    session.stop()


@pytest.fixture(params=["delta", "iceberg"])
def format(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def tables(spark: SparkSession, format: str, tmp_path: Path) -> Tables:
    """No tables yet: an empty warehouse of either format."""
    return open_tables(spark, format=format, warehouse=str(tmp_path))
