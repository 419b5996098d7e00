"""Two hundred event types at once: one pass over the events."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from normalized import PAGE, Normalized, entry
from website import event
from windrow.engine.steps import Step

TYPES = 200


@pytest.mark.slow
def test_two_hundred_types_are_one_pass_over_the_events(spark: SparkSession, tmp_path: Path):
    site = Normalized(
        spark,
        tmp_path,
        events=[
            entry(f"t{n}", event_columns=["app_id"], context_schemas=[PAGE]) for n in range(TYPES)
        ],
        config={"filtered_events_table_name": "routes", "models_prefix": ""},
    )
    site.arrive(
        *(
            event(f"e{n}", None, "2024-01-02 10:00", f"t{n % TYPES}", page=f"p{n}")
            for n in range(600)
        )
    )
    scans = []

    def take_the_events_away(step: Step) -> None:
        if step.name == "events" and step.status == "started":
            scans.append(bytes_read(spark))
        if step.name == "events" and step.status == "done":
            scans.append(bytes_read(spark))
            # Whoever would read them again now cannot.
            shutil.rmtree(tmp_path / "events")

    result = site.run("2024-01-03 00:00", listener=take_the_events_away)
    assert result.outcome == "succeeded"
    assert [it.rows for it in result.models] == [3] * TYPES + [600]
    ws = site.workspace
    counts = {m.name: ws.tables.read(ws.table(m)).count() for m in ws.models[:5]}
    assert counts == {f"t{n}_1": 3 for n in range(5)}

    before = bytes_read(spark)
    site.arrive(
        *(
            event(f"e{n}", None, "2024-01-02 10:00", f"t{n % TYPES}", page=f"p{n}")
            for n in range(600)
        )
    )
    spark.read.parquet(str(tmp_path / "events")).select(
        "event_id",
        "etl_tstamp",
        "collector_tstamp",
        "dvce_created_tstamp",
        "dvce_sent_tstamp",
        "event_name",
        "app_id",
        "contexts_com_snowplowanalytics_snowplow_web_page_1",
    ).write.format("noop").mode("overwrite").save()
    one_scan = bytes_read(spark) - before
    assert 0 < scans[1] - scans[0] <= 1.05 * one_scan


def bytes_read(spark: SparkSession) -> int:
    """What all tasks so far have read of local files."""
    statistics = spark._jvm.org.apache.hadoop.fs.FileSystem.getAllStatistics()
    return sum(it.getBytesRead() for it in statistics if it.getScheme() == "file")
