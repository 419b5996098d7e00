"""A signal ends a command, at whatever moment it comes."""

from __future__ import annotations

import signal
import time

import pytest

from windrow.cli.signals import Terminated, terminable


class Disposed:
    """Something that is disposed of just when the signal comes."""

    def __del__(self) -> None:
        signal.raise_signal(signal.SIGTERM)


@terminable()
def dispose_of_something() -> None:
    it = Disposed()
    del it
    time.sleep(10)


@terminable()
def end_twice(way_back: list[str]) -> None:
    try:
        signal.raise_signal(signal.SIGTERM)
    finally:
        signal.raise_signal(signal.SIGTERM)
        way_back.append("done")


def test_a_signal_is_not_lost_while_something_is_disposed_of() -> None:
    began = time.monotonic()
    with pytest.raises(Terminated):
        dispose_of_something()
    assert time.monotonic() - began < 5


def test_a_second_signal_does_not_stop_the_way_back() -> None:
    way_back: list[str] = []
    with pytest.raises(Terminated):
        end_twice(way_back)
    assert way_back == ["done"]
