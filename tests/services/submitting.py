"""spark-submit as docs/where-it-runs.md has it: a project is handed over, a job submitted."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from services.life import OWN_MODEL
from services.servers import SPARK_HOME

DOCS = Path(__file__).parents[2] / "docs"
# Executors, which have no such module, get it by --py-files.
LIBRARY = """
def shouted(text):
    return (text or "").upper() + "!!"
"""
HANDED_OVER = ("windrow.yml", "hooks.py", "models")
PLACE = 'Project.load("/srv/shop", target="prod", spark=spark)'
ROUNDS = "run_all(until_caught_up=True)"


def hand_over(shop: Path, folder: Path) -> None:
    """The project as an archive, a module that its models need, and the script, in one folder."""
    handed = folder / "handed"
    handed.mkdir()
    for name in HANDED_OVER:
        source = shop / name
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, handed / name)
    (handed / "models" / "loud_views.py").write_text(_importing(OWN_MODEL))
    shutil.make_archive(str(folder / "shop"), "zip", handed)
    (folder / "shop_words.py").write_text(LIBRARY)
    (folder / "job.py").write_text(_script())


def _importing(model: str) -> str:
    """The model with its function in another module."""
    function = re.search(r"MARKS = .+?\n\n@model", model, re.DOTALL)
    assert function is not None
    return model.replace(function[0], "from shop_words import shouted\n\n@model")


def _script() -> str:
    """The script in production.md, with the changes that where-it-runs.md names; and a clock."""
    blocks = re.findall(r"```python\n(.+?)```", (DOCS / "production.md").read_text(), re.DOTALL)
    (script,) = (block for block in blocks if PLACE in block)
    assert ROUNDS in script
    there = PLACE.replace('"/srv/shop"', 'SparkFiles.get("shop")')
    clock = "from datetime import UTC, datetime\n\nfrom pyspark import SparkFiles\n"
    now = "run_all(until_caught_up=True, now=datetime(2024, 1, 5, tzinfo=UTC))"
    return clock + script.replace(PLACE, there).replace(ROUNDS, now)


def submit(folder: Path, master: str, conf: dict[str, str], *options: str) -> tuple[int, str]:
    """The command of where-it-runs.md in that folder: how it ended, and what it said."""
    page = (DOCS / "where-it-runs.md").read_text()
    printed = re.search(r"```sh\n(spark-submit --master spark://.+?)```", page, re.DOTALL)
    assert printed is not None
    program, *parts, script = shlex.split(printed[1].replace("\\\n", " "))
    parts[parts.index("--master") + 1] = master
    settings = [part for key, value in conf.items() for part in ("--conf", f"{key}={value}")]
    command = [str(SPARK_HOME / "bin" / program), *parts, *settings, *options, script]
    surroundings = {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    found = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=600,
        cwd=folder,
        env={**os.environ, **surroundings},
    )
    return found.returncode, found.stdout + found.stderr
