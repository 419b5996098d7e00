"""Generated events end to end: what is suggested is run day by day, and once for all days."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from normalized import Normalized, entry
from windrow.demo.events import GenerateOptions, generate, write

OPTIONS = GenerateOptions(
    start=date(2024, 3, 1),
    days=3,
    events_per_day=400,
    hard_cases=("duplicates", "null_device_times"),
)


def project(spark: SparkSession, folder: Path, events: DataFrame) -> Normalized:
    site = Normalized(spark, folder, start_date="2024-03-01", events=[entry("e", event_columns=[])])
    write(events, str(folder / "events"))
    suggested = site.project().suggest_normalize().configuration
    site.configure(**suggested, days_late_allowed=-1)
    return site


@pytest.mark.slow
def test_daily_runs_over_generated_events_equal_one_run(spark: SparkSession, tmp_path: Path):
    events = generate(spark, OPTIONS).cache()
    whole = project(spark, tmp_path / "whole", events)
    whole.run("2024-03-06 00:00")
    daily = project(spark, tmp_path / "daily", events)
    for day in (2, 3, 6):
        daily.run(f"2024-03-{day:02d} 00:00")

    per_name = events.groupBy("event_name").agg(F.count_distinct("event_id")).collect()
    expected = {f"snowplow_{name}_1": count for name, count in per_name}
    assert len(expected) > 2
    assert {name: whole.table(name).count() for name in expected} == expected
    assert whole.table("snowplow_events_normalized").count() == sum(expected.values())
    for member in whole.workspace.models:
        ours, theirs = daily.table(member.name), whole.table(member.name)
        assert ours.schema == theirs.schema
        assert not theirs.isEmpty(), member.name
        assert ours.exceptAll(theirs).isEmpty()
        assert theirs.exceptAll(ours).isEmpty()
    events.unpersist()
