"""What processes use."""

from __future__ import annotations

import os
import sys
import time

import pytest

from bench.cpu import begin_peak, cpu_seconds, peak_bytes

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

MEGABYTES_100 = 100_000_000


def test_cpu_seconds_grow_with_work_and_not_with_waiting():
    began = cpu_seconds(os.getpid())
    time.sleep(0.3)
    waited = cpu_seconds(os.getpid())
    until = time.process_time() + 0.3
    while time.process_time() < until:
        pass
    worked = cpu_seconds(os.getpid())
    # Asked for itself, this process counts as the other one and as itself.
    assert waited - began < 0.3 < 0.5 <= worked - waited


def test_the_peak_is_what_was_held_though_it_was_given_back():
    begin_peak(os.getpid())
    before = peak_bytes(os.getpid())
    held = b"x" * MEGABYTES_100
    del held
    assert peak_bytes(os.getpid()) - before > 0.9 * MEGABYTES_100
