"""consent_versions: since when a version is there, its terms, and which one is the latest."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from windrow.packages.web.consent_log import COLUMNS as LOG
from windrow.packages.web.consent_versions import COLUMNS
from windrow.packages.web.consent_versions import consent_versions as model
from windrow.packages.web.settings import WebSettings
from windrow.tables.frames import frame_of

OURS, REFERENCE = WebSettings(), WebSettings(compat=True)


def consent_versions(settings: WebSettings, log: DataFrame, known: DataFrame) -> DataFrame:
    """Made of the whole log."""
    return model(settings, log, log, known, log, None)


def a_log(spark: SparkSession, *rows: dict[str, Any]) -> DataFrame:
    event = {"event_name": "consent_preferences", "event_type": "allow_all"}
    return frame_of(spark, [[(event | row).get(name) for name in LOG] for row in rows], LOG)


def allowed(event_id: str, version: str | None, time: str, **values: Any) -> dict[str, Any]:
    times = {"derived_tstamp": f"2024-01-{time}", "load_tstamp": f"2024-01-{time}"}
    return {"event_id": event_id, "consent_version": version, **times, **values}


def none_yet(spark: SparkSession) -> DataFrame:
    return frame_of(spark, [], COLUMNS)


def shown(versions: DataFrame, *names: str) -> list[tuple[Any, ...]]:
    texts = versions.select(*(F.col(name).cast("string") for name in names))
    return sorted(tuple(row) for row in texts.collect())


def test_columns_are_those_declared(spark: SparkSession) -> None:
    for settings in (OURS, REFERENCE):
        assert dict(consent_versions(settings, a_log(spark), none_yet(spark)).dtypes) == COLUMNS


def test_version_starts_with_its_first_full_consent(spark: SparkSession) -> None:
    log = a_log(
        spark,
        allowed("e0", "1", "01 08:00", event_type="deny_all"),
        allowed("e1", "1", "02 08:00"),
        allowed("e2", "1", "03 08:00", load_tstamp="2024-01-04 00:00:00"),
        allowed("e3", "2", "04 08:00", event_type="allow_selected"),
    )
    times = ("consent_version", "version_start_tstamp", "last_allow_all_event")
    expected = [("1", "2024-01-02 08:00:00", "2024-01-04 00:00:00")]
    assert shown(consent_versions(OURS, log, none_yet(spark)), *times) == expected
    assert shown(consent_versions(REFERENCE, log, none_yet(spark)), *times) == expected


def test_latest_version_is_decided_over_all_versions(spark: SparkSession) -> None:
    first = a_log(spark, allowed("e1", "1", "01"), allowed("e2", "2", "02"))
    both = first.unionByName(a_log(spark, allowed("e3", "1", "03")))
    flags = ("consent_version", "is_latest_version")

    before = consent_versions(OURS, first, none_yet(spark)).localCheckpoint()
    assert shown(before, *flags) == [("1", "false"), ("2", "true")]
    assert shown(consent_versions(OURS, both, before), *flags) == [("1", "false"), ("2", "true")]
    # The reference looks at the new events only, and then knows two latest versions.
    assert shown(consent_versions(REFERENCE, both, before), *flags) == [
        ("1", "true"),
        ("2", "true"),
    ]


def test_of_two_versions_that_start_together_one_is_the_latest(spark: SparkSession) -> None:
    log = a_log(spark, allowed("e1", "b", "01"), allowed("e2", "a", "01"))
    versions = consent_versions(OURS, log, none_yet(spark))
    assert shown(versions, "consent_version", "is_latest_version") == [
        ("a", "false"),
        ("b", "true"),
    ]


def test_version_with_two_sets_of_terms_has_the_newest(spark: SparkSession) -> None:
    log = a_log(
        spark,
        allowed("e1", "1", "02", consent_scopes="necessary", consent_url="new"),
        allowed("e2", "1", "01", consent_scopes="all", consent_url="old"),
        allowed("e0", "1", "02", consent_scopes="tied", consent_url="tied"),
    )
    for settings in (OURS, REFERENCE):
        versions = consent_versions(settings, log, none_yet(spark))
        assert shown(versions, "consent_scopes", "consent_url") == [("necessary", "new")]


def test_events_loaded_earlier_than_known_ones_count(spark: SparkSession) -> None:
    known = consent_versions(OURS, a_log(spark, allowed("e1", "1", "05")), none_yet(spark))
    late = allowed("e2", "0", "04")
    log = a_log(spark, allowed("e1", "1", "05"), late)
    assert shown(consent_versions(OURS, log, known), "consent_version") == [("0",), ("1",)]
    assert shown(consent_versions(REFERENCE, log, known), "consent_version") == [("1",)]


def test_the_reference_keeps_the_earlier_start(spark: SparkSession) -> None:
    earlier = a_log(spark, allowed("e1", "1", "01"))
    known = consent_versions(REFERENCE, earlier, none_yet(spark)).localCheckpoint()
    log = earlier.unionByName(a_log(spark, allowed("e2", "1", "03")))
    times = ("version_start_tstamp", "last_allow_all_event")
    expected = [("2024-01-01 00:00:00", "2024-01-03 00:00:00")]
    assert shown(consent_versions(REFERENCE, log, known), *times) == expected


def test_a_version_that_is_no_longer_in_the_log_goes(spark: SparkSession) -> None:
    known = consent_versions(OURS, a_log(spark, allowed("e1", "1", "01")), none_yet(spark))
    assert shown(consent_versions(OURS, a_log(spark), known), "consent_version") == []


def test_consent_to_no_version_makes_no_row(spark: SparkSession) -> None:
    log = a_log(spark, allowed("e1", None, "01"))
    assert shown(consent_versions(OURS, log, none_yet(spark)), "consent_version") == []


def test_versions_go_on_from_what_is_known(spark: SparkSession) -> None:
    stored = [allowed("e1", "1", "01"), allowed("e2", "2", "05"), allowed("e3", "3", "07")]
    dated = F.to_date("derived_tstamp")

    def log_of(*rows: dict[str, Any]) -> DataFrame:
        return a_log(spark, *rows).withColumn("derived_tstamp_date", dated)

    known = consent_versions(OURS, log_of(*stored), none_yet(spark)).localCheckpoint()
    # The run takes back the one answer to 3, and brings an older one to 2. Of 1 it reads nothing.
    new = allowed("e4", "2", "03", consent_url="u")
    now, former = log_of(stored[1], new), log_of(stored[2])
    found = model(OURS, log_of(new), now, known, former, known)
    whole = consent_versions(OURS, log_of(stored[0], stored[1], new), none_yet(spark))
    assert shown(found, *COLUMNS) == shown(whole, *COLUMNS)
    assert len(shown(whole, *COLUMNS)) == 2
