"""Refusals of a Spark Connect server, or on the way to it."""

from __future__ import annotations

from pathlib import Path

import pytest

from windrow.errors import SparkStartError
from windrow.spark.session import start

from .target import Settings


def test_remote_that_is_no_address_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SparkStartError, match=r"sc://host:15002.*set spark\.master instead"):
        start(Settings(remote="local[2]"), log_dir=tmp_path)


def test_missing_connect_packages_name_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("windrow.spark.connect.CONNECT_PACKAGES", ("no_such_package.part",))

    with pytest.raises(SparkStartError, match=r"pip install 'windrow\[connect\]'"):
        start(Settings(remote="sc://localhost"), log_dir=tmp_path)


def test_unreachable_connect_server_fails_at_once_and_hides_the_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("windrow.spark.connect.CONNECT_PACKAGES", ())
    monkeypatch.setattr("windrow.spark.connect.getproxies", dict)

    with pytest.raises(SparkStartError, match=r"answers at sc://127.0.0.1:1/: ") as caught:
        start(Settings(remote="sc://127.0.0.1:1/;token=hush"), log_dir=tmp_path)

    assert "hush" not in str(caught.value)
