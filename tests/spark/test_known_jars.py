"""Which files the table formats' jars are, remembered from one start to the next."""

from __future__ import annotations

from pathlib import Path

import pytest

from windrow.spark.jars import DELTA_JARS, ICEBERG_JARS
from windrow.spark.known_jars import asks_for_our_jars_only, known_jars, remember_jars

CONF = {"spark.jars.packages": DELTA_JARS, "spark.jars.excludes": "org.acme:lib"}


@pytest.fixture
def ivy(tmp_path: Path) -> Path:
    """A download cache, in a folder with a space in its name, with two jars in it."""
    jars = tmp_path / "my ivy" / "jars"
    jars.mkdir(parents=True)
    (jars / "a.jar").write_bytes(b"aaa")
    (jars / "b.jar").write_bytes(b"bb")
    return tmp_path / "my ivy"


def found(ivy: Path) -> str:
    """What Spark's launcher says that Ivy found."""
    return ",".join((ivy / "jars" / name).as_uri() for name in ("b.jar", "a.jar"))


def test_jars_are_known_in_ivys_order_once_remembered(ivy: Path) -> None:
    assert known_jars(CONF, ivy) == []

    remember_jars(CONF, ivy, found(ivy))

    assert known_jars(CONF, ivy) == [ivy / "jars" / "b.jar", ivy / "jars" / "a.jar"]
    assert sorted(path.suffix for path in ivy.iterdir()) == ["", ".json"]


def test_other_packages_and_exclusions_are_other_jars(ivy: Path) -> None:
    remember_jars(CONF, ivy, found(ivy))

    assert known_jars(CONF | {"spark.jars.packages": f"{DELTA_JARS},{ICEBERG_JARS}"}, ivy) == []
    assert known_jars(CONF | {"spark.jars.excludes": ""}, ivy) == []


@pytest.mark.parametrize("content", [b"", b"aaaa"])
def test_a_jar_that_is_not_as_ivy_left_it_makes_all_unknown(ivy: Path, content: bytes) -> None:
    remember_jars(CONF, ivy, found(ivy))

    (ivy / "jars" / "a.jar").write_bytes(content)

    assert known_jars(CONF, ivy) == []


def test_a_jar_that_is_gone_makes_all_unknown(ivy: Path) -> None:
    remember_jars(CONF, ivy, found(ivy))

    (ivy / "jars" / "a.jar").unlink()

    assert known_jars(CONF, ivy) == []


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"bytes": []}', '{"bytes": {"a.jar": "3"}}']
)
def test_a_broken_list_is_no_list(ivy: Path, text: str) -> None:
    remember_jars(CONF, ivy, found(ivy))

    next(ivy.glob("*.json")).write_text(text)

    assert known_jars(CONF, ivy) == []


def test_jars_from_elsewhere_are_not_remembered(ivy: Path, tmp_path: Path) -> None:
    remember_jars(CONF, ivy, f"{found(ivy)},{(tmp_path / 'mine.jar').as_uri()}")
    remember_jars(CONF, ivy, "")

    assert list(ivy.glob("*.json")) == []


def test_only_versions_that_we_named_are_ours() -> None:
    assert asks_for_our_jars_only(CONF)
    assert asks_for_our_jars_only({"spark.jars.packages": f"{ICEBERG_JARS}, {DELTA_JARS}"})


@pytest.mark.parametrize(
    "conf",
    [
        {},
        {"spark.jars.packages": ""},
        {"spark.jars.packages": f"org.acme:lib:1,{DELTA_JARS}"},
        {"spark.jars.packages": "io.delta:delta-spark_2.13:4.0.0"},
        CONF | {"spark.jars": "mine.jar"},
        CONF | {"spark.driver.userClassPathFirst": "true"},
    ],
)
def test_whatever_the_user_chose_is_left_to_spark(conf: dict[str, str]) -> None:
    assert not asks_for_our_jars_only(conf)
