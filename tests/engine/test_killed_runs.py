"""A run whose process dies is undone by the next one, and done again, on Iceberg too."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from pulled_plug import killed_after
from website import Site, event


@pytest.mark.ci
def test_a_killed_run_is_undone_and_done_again(spark: SparkSession, tmp_path: Path):
    site = Site(spark, tmp_path, format="iceberg")
    site.arrive(event("e1", "s1", "2024-01-02 10:00", page="p1"))
    site.run("2024-01-03 00:00")
    before = site.rows("users", "domain_userid", "sessions")
    site.arrive(event("e2", "s2", "2024-01-04 10:00", page="p2", user_id="anna"))

    killed_after(site, "sessions", "2024-01-05 00:00")
    result = site.run("2024-01-05 00:00")

    assert len(result.undone) == 1
    assert before == [("cookie", 1)]
    assert site.rows("users", "domain_userid", "sessions", "page_views") == [("cookie", 2, 2)]
    assert site.rows("sessions", "domain_sessionid", "stitched_user_id") == [
        ("s1", "anna"),
        ("s2", "anna"),
    ]
