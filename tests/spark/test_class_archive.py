"""When an archive of classes is made, used, and left alone."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from windrow.spark.class_archive import MAGIC, archive_flag

NOW = 1_700_000_000.0
DAY = 24 * 60 * 60


@pytest.fixture
def jar(tmp_path: Path) -> Path:
    file = tmp_path / "a.jar"
    file.write_bytes(b"a")
    return file


def flag(jar: Path, *, java: str = "17.0.15", days: int = 0) -> str:
    return archive_flag(jar.parent, [jar], java, NOW + days * DAY)


def write_as_java_does(flag: str, *, whole: bool = True) -> Path:
    """The draft that Java leaves when it ends; its first bytes come last."""
    draft = Path(flag.removeprefix("-XX:ArchiveClassesAtExit="))
    draft.write_bytes((MAGIC if whole else 0).to_bytes(4, sys.byteorder) + b"classes")
    return draft


def test_archive_is_made_when_somebody_comes_again_and_used_from_then_on(jar: Path) -> None:
    assert flag(jar) == ""
    making = flag(jar)
    assert making.startswith("-XX:ArchiveClassesAtExit=")
    assert flag(jar) == ""  # One that starts meanwhile neither makes nor uses it.

    draft = write_as_java_does(making)
    using = flag(jar)

    assert Path(using.removeprefix("-XX:SharedArchiveFile=")).read_bytes().endswith(b"classes")
    assert not draft.exists()
    assert flag(jar) == using


def test_archive_that_a_kill_cut_short_is_not_used_but_made_again_a_day_later(jar: Path) -> None:
    flag(jar)
    draft = write_as_java_does(flag(jar), whole=False)
    os.utime(draft, (NOW, NOW))

    assert flag(jar) == ""
    assert flag(jar, days=2).startswith("-XX:ArchiveClassesAtExit=")
    assert not draft.exists()


def test_another_java_or_another_jar_is_another_archive(jar: Path) -> None:
    flag(jar)
    write_as_java_does(flag(jar))
    using = flag(jar)

    assert flag(jar, java="21.0.2") == ""
    os.utime(jar, (1, 1))
    assert flag(jar) != using


def test_archive_that_nobody_used_for_a_month_goes_when_another_comes(jar: Path) -> None:
    flag(jar)
    write_as_java_does(flag(jar))
    old = Path(flag(jar).removeprefix("-XX:SharedArchiveFile="))

    flag(jar, java="21.0.2", days=40)
    write_as_java_does(flag(jar, java="21.0.2", days=40))
    flag(jar, java="21.0.2", days=40)

    assert not old.exists()


def test_folder_that_spark_cannot_be_told_of_has_no_archive(jar: Path, tmp_path: Path) -> None:
    folder = tmp_path / "my ivy"
    folder.mkdir()

    assert [archive_flag(folder, [jar], "17", NOW) for _ in range(2)] == ["", ""]
    assert [archive_flag(tmp_path / "none", [jar], "17", NOW) for _ in range(2)] == ["", ""]
