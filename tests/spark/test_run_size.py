"""Spark's settings for the size of a run, and afterwards."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from plan_texts import executed_plan
from windrow.spark.run_size import SMALL_RUN_EVENTS, settings_for, sized_for

ADAPTIVE = "spark.sql.adaptive.enabled"
PARTITIONS = "spark.sql.shuffle.partitions"
WHOLE_STAGE = "spark.sql.codegen.wholeStage"
LISTING = "spark.sql.sources.parallelPartitionDiscovery.parallelism"
FACTORY = "spark.sql.codegen.factoryMode"
BROADCAST = "spark.sql.autoBroadcastJoinThreshold"
LOGS = "spark.databricks.delta.snapshotPartitions"
BLOOM = "spark.sql.optimizer.runtime.bloomFilter.enabled"
COMPRESSED = "spark.sql.inMemoryColumnarStorage.compressed"
BEFORE = {ADAPTIVE: "true", PARTITIONS: "7", WHOLE_STAGE: "true", FACTORY: "FALLBACK"}
SMALL = {ADAPTIVE: "false", PARTITIONS: "1", WHOLE_STAGE: "false", FACTORY: "NO_CODEGEN"}


@pytest.fixture
def session(spark: SparkSession) -> Iterator[SparkSession]:
    """A session as Spark would have it, beside the suite's own."""
    session = spark.newSession()
    for key, value in BEFORE.items():
        session.conf.set(key, value)
    return session


def settings_of(session: SparkSession) -> dict[str, str | None]:
    return {key: session.conf.get(key) for key in BEFORE}


def test_small_run_has_its_settings_for_as_long_as_it_lasts(session: SparkSession) -> None:
    with sized_for(session, 50_000):
        assert settings_of(session) == SMALL

    assert settings_of(session) == BEFORE


def test_partitions_follow_the_events() -> None:
    found = {events: settings_for(events)[PARTITIONS] for events in (0, 100_001, SMALL_RUN_EVENTS)}
    assert found == {0: "1", 100_001: "3", SMALL_RUN_EVENTS: "20"}


def test_small_run_is_planned_once_and_compiles_nothing(session: SparkSession) -> None:
    with sized_for(session, 1):
        counted = session.range(9).groupBy("id").count()
        plan = executed_plan(counted)

    assert "AdaptiveSparkPlan" not in plan
    assert "*(1)" not in plan


def test_large_run_is_left_to_spark_but_for_its_partitions(session: SparkSession) -> None:
    with sized_for(session, 5_000_000):
        assert settings_of(session) == BEFORE | {PARTITIONS: "100"}


def test_large_run_is_adaptive_whatever_the_cluster_has_but_not_against_the_user(
    session: SparkSession,
):
    session.conf.set(ADAPTIVE, "false")
    with sized_for(session, 5_000_000):
        assert session.conf.get(ADAPTIVE) == "true"
    assert session.conf.get(ADAPTIVE) == "false"
    assert settings_for(5_000_000, {ADAPTIVE}) == {PARTITIONS: "100", LISTING: "64"}
    assert settings_for(5_000_000, {PARTITIONS}) == {ADAPTIVE: "true", LISTING: "64"}


def test_partitions_follow_the_events_up_to_a_thousand_million() -> None:
    found = {events: settings_for(events)[PARTITIONS] for events in (100_000_000, 1_000_000_000)}
    assert found == {100_000_000: "2000", 1_000_000_000: "20000"}


def test_run_of_unknown_size_is_left_to_spark(session: SparkSession) -> None:
    with sized_for(session, None):
        assert settings_of(session) == BEFORE


def test_settings_come_back_when_the_run_fails(session: SparkSession) -> None:
    with pytest.raises(ZeroDivisionError), sized_for(session, 1):
        raise ZeroDivisionError

    assert settings_of(session) == BEFORE


def test_what_the_user_chose_and_what_goes_with_it_is_left_alone(session: SparkSession) -> None:
    with sized_for(session, 1, chosen={PARTITIONS, "spark.driver.memory"}):
        assert settings_of(session) == BEFORE | {WHOLE_STAGE: "false", FACTORY: "NO_CODEGEN"}

    assert set(settings_for(1, {ADAPTIVE, FACTORY})) == {LISTING, LOGS, BLOOM, COMPRESSED}
    assert settings_for(1, {ADAPTIVE, FACTORY, LISTING, LOGS, BLOOM, COMPRESSED}) == {}


def test_logs_of_delta_are_put_together_by_few_tasks_unless_the_session_says_otherwise(
    session: SparkSession,
) -> None:
    session.conf.unset(LOGS)
    unset = session.conf.get(LOGS)
    with sized_for(session, 1):
        assert session.conf.get(LOGS) == "2"
    assert session.conf.get(LOGS) == unset

    session.conf.set(LOGS, "9")
    with sized_for(session, 1):
        assert session.conf.get(LOGS) == "9"


def test_what_lies_in_one_partition_is_not_sent_there() -> None:
    assert settings_for(50_000)[BROADCAST] == "-1"
    assert [BROADCAST in settings_for(events) for events in (50_001, 5_000_000)] == [False, False]
