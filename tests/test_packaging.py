"""What is published: the wheel has all that it needs, and says truly what it needs beside it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

import windrow
from windrow.spark.connect import CONNECT_PACKAGES
from windrow.spark.jars import FORMATS, ICEBERG_JARS
from windrow.spark.surroundings import spark_home

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def requirement_names(requirements: list[str]) -> set[str]:
    return {re.split(r"[^\w-]", text)[0].lower() for text in requirements}


def test_the_extra_connect_has_what_pyspark_asks_for_and_is_looked_for():
    asked = [it for it in metadata.requires("pyspark") or [] if 'extra == "connect"' in it]
    assert len(asked) > 5
    # pandas brings numpy.
    needed = requirement_names(asked) - {"numpy"}
    assert requirement_names(PROJECT["optional-dependencies"]["connect"]) == needed
    assert len(CONNECT_PACKAGES) == len(needed)


def test_the_neighbours_are_tried_with_what_their_extras_bring():
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]
    extras = PROJECT["optional-dependencies"]
    assert {*extras["airflow"], *extras["dagster"]} <= {*groups["neighbours"]}
    lock = (ROOT / "requirements.neighbours.lock").read_text()
    assert "apache-airflow-task-sdk==" in lock
    assert "pyspark==" not in lock
    assert "://" not in lock


def test_packages_for_s3_are_of_the_versions_of_hadoop_and_iceberg_here():
    page = (ROOT / "docs" / "where-it-runs.md").read_text()
    (hadoop,) = (spark_home() / "jars").glob("hadoop-client-api-*.jar")
    assert f"hadoop-aws:{hadoop.stem.rpartition('-')[2]}\n" in page
    assert f"iceberg-aws-bundle:{ICEBERG_JARS.rpartition(':')[2]}," in page


def test_the_servers_of_tests_are_locked_by_hash():
    lock = (ROOT / "requirements.services.lock").read_text()
    assert "moto[s3]==" in lock
    assert lock.count("==") < lock.count("--hash=")
    assert "://" not in lock


def test_versions_of_jars_stand_in_one_file():
    versions = [jars.coordinates.partition(":")[2] for jars in FORMATS.values()]
    folders = ("src", "tests", "bench", "tools", "docs", "examples")
    files = [
        file
        for folder in folders
        for file in (ROOT / folder).rglob("*")
        if file.suffix in (".py", ".md", ".yml", ".sql")
    ]
    assert len(files) > 200
    texts = {file.relative_to(ROOT).as_posix(): file.read_text() for file in files}
    naming = {name for name, text in texts.items() for it in versions if it in text}
    # The page has commands that can be copied: versions that are no longer ours are missed there.
    assert naming == {"src/windrow/spark/jars.py", "docs/where-it-runs.md"}


def built(folder: Path, target: str) -> Path:
    """What hatchling makes of this checkout, without a network."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (file,) = folder.glob(f"windrow-{windrow.__version__}*")
    return file


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("wheel"), "wheel")


def test_the_wheel_has_every_file_of_the_package_and_its_notices(wheel: Path):
    inside = set(zipfile.ZipFile(wheel).namelist())
    src = ROOT / "src"
    ours = {
        file.relative_to(src).as_posix()
        for file in (src / "windrow").rglob("*")
        if file.is_file() and file.suffix != ".pyc"
    }
    assert {"windrow/py.typed", "windrow/reference/sources.yml"} <= ours
    info = f"windrow-{windrow.__version__}.dist-info"
    notices = {f"{info}/licenses/{name}" for name in ("LICENSE", "NOTICE")}
    assert inside - ours - notices == {
        f"{info}/{name}" for name in ("METADATA", "RECORD", "WHEEL", "entry_points.txt")
    }
    assert ours | notices <= inside


def test_the_source_distribution_has_the_notices_and_the_tests(tmp_path: Path):
    with tarfile.open(built(tmp_path, "sdist")) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    assert {"LICENSE", "NOTICE", "README.md", "src/windrow/py.typed", "tests/conftest.py"} <= inside


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `windrow` of an environment elsewhere into which only the wheel was installed.

    The libraries it needs are those of the environment that runs the tests, found by a path file:
    PySpark alone is 450 MB. That the wheel asks for them is not tried by this.
    """
    folder = tmp_path_factory.mktemp("elsewhere") / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    pip = [folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*pip, wheel], check=True)
    (site_packages,) = folder.glob("lib/python*/site-packages")
    libraries = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (site_packages / "libraries.pth").write_text("\n".join(libraries))
    return folder / "bin" / "windrow"


def said(*command: str | Path, folder: Path) -> str:
    """What a command prints, with nothing of the checkout in its surroundings."""
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        command, cwd=folder, env=environ, capture_output=True, text=True, timeout=900
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.ci
def test_an_installed_wheel_makes_a_project(installed: Path, tmp_path: Path):
    where = said(
        installed.with_name("python"), "-c", "import windrow; print(windrow)", folder=tmp_path
    )
    assert str(installed.parents[1]) in where
    assert said(installed, "--version", folder=tmp_path) == f"windrow {windrow.__version__}\n"
    assert "Made a project in shop" in said(installed, "init", "shop", folder=tmp_path)
    assert "page_views" in said(installed, "ls", folder=tmp_path / "shop")


@pytest.mark.slow
def test_the_demo_of_an_installed_wheel_says_how_to_call_it(installed: Path, tmp_path: Path):
    shown = said(installed, "demo", "--format", "iceberg", folder=tmp_path)
    _, _, next_steps = shown.partition("Try next\n")
    cd, *_, listing = (line for line in next_steps.splitlines() if " cd " in line or " ls " in line)
    assert "daily_pages" in said("sh", "-ec", f"{cd}\n{listing}", folder=tmp_path)
