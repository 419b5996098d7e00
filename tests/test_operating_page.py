"""The page on operating windrow shows what its commands print."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

TOOL = Path(__file__).parents[1] / "tools" / "docs" / "transcripts.py"


@pytest.mark.slow
def test_commands_print_what_the_page_shows(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    spec = importlib.util.spec_from_file_location("transcripts", TOOL)
    assert spec is not None
    assert spec.loader is not None
    transcripts = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(transcripts)
    monkeypatch.setenv("COLUMNS", "120")
    shop = tmp_path / "shop"
    transcripts.prepare(shop, spark)
    page = transcripts.PAGE.read_text()
    assert transcripts.played(page, shop, spark) == page
