"""Two processes that start at the same moment do not write the same files at once."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

from windrow.spark.one_at_a_time import one_at_a_time

HOLD = """
import sys
from pathlib import Path
from windrow.spark.one_at_a_time import one_at_a_time

with one_at_a_time(Path(sys.argv[1]), lambda: None):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_the_second_waits_until_the_first_is_done_or_dead(tmp_path: Path):
    folder = tmp_path / "new"
    first = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert first.stdout is not None
    assert first.stdout.readline() == "held\n"
    waits, is_in = threading.Event(), threading.Event()

    def second() -> None:
        with one_at_a_time(folder, waits.set):
            is_in.set()

    thread = threading.Thread(target=second, daemon=True)
    thread.start()
    assert waits.wait(10)
    assert not is_in.wait(0.2)
    first.kill()
    first.communicate()
    assert is_in.wait(10)


def test_who_is_alone_does_not_wait(tmp_path: Path):
    told = threading.Event()
    for _ in range(2):
        with one_at_a_time(tmp_path, told.set):
            pass
    assert not told.is_set()


def test_a_folder_that_cannot_be_written_to_is_no_reason_to_stop(tmp_path: Path):
    (tmp_path / "file").touch()
    with one_at_a_time(tmp_path / "file" / "folder", lambda: None):
        pass
