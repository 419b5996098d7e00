"""What a standard run is made of, so that it cannot creep back: a query is dear, however small."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from costs import counted
from website import Site, event
from windrow.state import fence

pytestmark = pytest.mark.ci

MOST_EXECUTIONS = 24
MOST_JOBS = 75
"""Keys that are sent to stored rows take a job each."""
MOST_SCANS = 30
"""A plan shows what a cached frame was read from each time that the frame is used."""


def day(number: int) -> list[dict[str, object]]:
    """A new visitor, one who comes back and logs in, and a session that goes on after midnight."""
    when = f"2024-01-{number:02d}"
    return [
        event(f"n{number}", f"new{number}", f"{when} 10:00", page=f"pn{number}", cookie="new"),
        event(f"m{number}", f"new{number}", f"{when} 10:01", "page_ping", page=f"pn{number}"),
        event(f"b{number}", f"back{number}", f"{when} 12:00", page=f"pb{number}", user_id="anna"),
        event(f"l{number}", f"late{number}", f"{when} 23:50", page=f"pl{number}", cookie="owl"),
        event(f"o{number}", f"late{number - 1}", f"{when} 00:05", page=f"po{number}", cookie="owl"),
    ]


def test_a_standard_run_has_a_handful_of_queries(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    # A slow machine looks after its lease more often.
    monkeypatch.setattr(fence, "LOOK_AGAIN_AFTER", timedelta(hours=1))
    site = Site(spark, tmp_path, format="delta")
    for number in (2, 3, 4):
        site.arrive(*day(number))
        with counted(spark) as cost:
            assert site.run(f"2024-01-{number + 1:02d} 00:00").outcome == "succeeded"
    assert len(site.rows("page_views", "page_view_id")) == 12
    told = "\n".join(cost.what)
    assert cost.executions <= MOST_EXECUTIONS, f"{cost.executions} executions:\n{told}"
    assert cost.jobs <= MOST_JOBS, f"{cost.jobs} jobs, of:\n{told}"
    assert cost.scans <= MOST_SCANS, f"{cost.scans} scans, of:\n{told}"
