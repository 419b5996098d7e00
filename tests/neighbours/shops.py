"""A small project that schedulers run as a process, and the examples of the page about them."""

from __future__ import annotations

import json
import os
import re
import shlex
from pathlib import Path

import yaml

from website import ONLY_PAGE_VIEWS, Event, event
from windrow.atomic.columns import STANDARD_COLUMNS
from windrow.atomic.entity_columns import WEB_PAGE

PAGE = Path(__file__).parents[2] / "docs" / "neighbours.md"

OWN_MODEL = """
from pyspark.sql import functions as F
from windrow import model

@model(key="page_url")
def pages(page_views):
    return page_views.groupBy("page_url").agg(F.max("start_tstamp").alias("last_seen"))
"""


def make_shop(folder: Path) -> Path:
    """A project with two tables and three page views; nothing has run yet, no Spark was started."""
    (folder / "models").mkdir(parents=True)
    (folder / "models" / "pages.py").write_text(OWN_MODEL)
    config = {
        "name": "shop",
        "targets": {"prod": {"warehouse": "./warehouse"}},
        "events": {"path": "./events", "format": "json"},
        "packages": {"web": {"start_date": "2024-01-01", **ONLY_PAGE_VIEWS}},
    }
    (folder / "windrow.yml").write_text(yaml.safe_dump(config))
    (folder / "events").mkdir()
    times = ("2024-01-01 10:00", "2024-01-01 10:05", "2024-01-02 09:00")
    views = [event(f"e{n}", f"s{n}", at, page=f"p{n}") for n, at in enumerate(times)]
    (folder / "events" / "1.json").write_text("".join(map(_line, views)))
    return folder


def _line(row: Event) -> str:
    names = (*STANDARD_COLUMNS, WEB_PAGE.name)
    return json.dumps({name: row.get(name) for name in names}, default=str) + "\n"


def example(word: str, shop: Path) -> str:
    """The example of the page that has the word, for this project and the windrow we test."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    (found,) = (block for block in blocks if word in block)
    return found.replace("/srv/shop", str(shop))


def windrow() -> list[str]:
    """How windrow is called: that of .venv, which has Spark."""
    return shlex.split(os.environ["WINDROW"])
