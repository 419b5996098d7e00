"""Events are read in whatever shape they come."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from plan_texts import executed_plan
from windrow.atomic.entity_columns import IAB, MEDIA_PLAYER, WEB_PAGE, WEB_VITALS
from windrow.atomic.misfits import refuse_misfits
from windrow.atomic.source import check_columns, open_source
from windrow.config import EventsSource
from windrow.errors import SourceError
from windrow.models.foundation import is_of_app, is_on_time
from windrow.packages.mobile.settings import MobileSettings
from windrow.packages.web.settings import WebSettings
from windrow.tables.observed import Observed

FIRST, LAST = datetime(2024, 1, 1, tzinfo=UTC), datetime(2024, 1, 2, tzinfo=UTC)


def one_event(spark: SparkSession, **columns: str) -> DataFrame:
    """One event of 2024-01-01; columns are SQL expressions."""
    selected = {
        "event_id": "'e1'",
        "collector_tstamp": "timestamp'2024-01-01 10:00:00Z'",
        **columns,
    }
    return spark.range(1).select(*(F.expr(text).alias(name) for name, text in selected.items()))


def adapted(spark: SparkSession, folder: Path, frame: DataFrame, column: str) -> object:
    frame.write.parquet(str(folder / "events"))
    source = open_source(
        spark, EventsSource(path=str(folder / "events")), time_column="collector_tstamp"
    )
    row = source.between(FIRST, LAST, [column]).collect()[0][0]
    return row.asDict(recursive=True) if hasattr(row, "asDict") else row


IAB_STRUCT = "named_struct('category', 'SPIDER', '{0}', 'NONE', 'reason', 'FAILED', '{1}', true)"


@pytest.mark.parametrize(
    "stored",
    [
        f"array({IAB_STRUCT.format('primary_impact', 'spider_or_robot')})",
        f"array({IAB_STRUCT.format('primaryImpact', 'spiderOrRobot')})",
        IAB_STRUCT.format("primary_impact", "spider_or_robot"),
        """'[{"category":"SPIDER","primaryImpact":"NONE","reason":"FAILED","spiderOrRobot":true}]'""",
        """'{"category":"SPIDER","primary_impact":"NONE","reason":"FAILED","spider_or_robot":true}'""",
    ],
    ids=["array", "camelCase", "struct", "JSON array", "JSON object"],
)
def test_an_entity_has_one_shape_whatever_it_came_in(spark, tmp_path, stored):
    found = adapted(spark, tmp_path, one_event(spark, **{IAB.name: stored}), IAB.name)
    assert [row.asDict() for row in found] == [
        {
            "category": "SPIDER",
            "primary_impact": "NONE",
            "reason": "FAILED",
            "spider_or_robot": True,
        }
    ]


PLAYER = """{"playbackRate": "10", "muted": "TRUE", "isLive": "false", "loop": "",
    "volume": "50", "percentProgress": "", "duration": "89.6"}"""
PLAYER_STRUCT = """named_struct('playback_rate', '10', 'muted', 'TRUE', 'is_live', 'false',
    'loop', '', 'volume', '50', 'percent_progress', '', 'duration', '89.6')"""


@pytest.mark.parametrize("stored", [f"'[{PLAYER}]'", f"array({PLAYER_STRUCT})"])
def test_numbers_and_flags_that_are_text_get_their_types_and_empty_text_is_null(
    spark, tmp_path, stored
):
    frame = one_event(spark, **{MEDIA_PLAYER.name: stored})
    (player,) = adapted(spark, tmp_path, frame, MEDIA_PLAYER.name)
    assert {name: value for name, value in player.asDict().items() if value is not None} == {
        "playback_rate": 10.0,
        "muted": True,
        "is_live": False,
        "volume": 50,
        "duration": 89.6,
    }


def test_a_self_describing_event_is_the_first_of_its_json_array(spark, tmp_path):
    text = """'[{"lcp": 12.5, "navigationType": "reload"}]'"""
    found = adapted(spark, tmp_path, one_event(spark, **{WEB_VITALS.name: text}), WEB_VITALS.name)
    assert (found["lcp"], found["navigation_type"], found["cls"]) == (12.5, "reload", None)


def test_a_column_of_a_minor_version_is_found(spark, tmp_path):
    name = f"{WEB_PAGE.name}_0_0"
    frame = one_event(spark, **{name: """'[{"id": "p1"}]'"""})
    assert adapted(spark, tmp_path, frame, WEB_PAGE.name)[0].id == "p1"


@pytest.mark.parametrize("text", ["'not json'", """'[[{"id": "p1"}]]'"""])
def test_json_that_cannot_be_read_is_null_and_counted(spark, tmp_path, text):
    one_event(spark, **{WEB_PAGE.name: text}).write.parquet(str(tmp_path / "events"))
    source = open_source(
        spark, EventsSource(path=str(tmp_path / "events")), time_column="collector_tstamp"
    )
    counted = Observed()
    events = source.between(FIRST, LAST, [WEB_PAGE.name], unreadable=counted)
    first = F.get(F.col(WEB_PAGE.name), F.lit(0)).getField("id")
    assert events.select(first).collect()[0][0] is None
    assert counted.figures(has_rows=True) == {WEB_PAGE.name: 1}


def test_text_columns_get_their_types_and_nonsense_is_null_and_refused(spark, tmp_path):
    frame = one_event(
        spark, doc_height="'1200'", doc_width="'wide'", br_cookies="'true'", se_value="' '"
    )
    frame.write.parquet(str(tmp_path / "events"))
    source = open_source(
        spark, EventsSource(path=str(tmp_path / "events")), time_column="collector_tstamp"
    )
    columns, found = ["doc_height", "doc_width", "br_cookies", "se_value"], Observed()
    row = source.between(FIRST, LAST, columns, unreadable=found).collect()[0]
    assert tuple(row) == (1200, None, True, None)
    problem = "column 'doc_width' is text and has 1 value that is not of type int, such as 'wide'"
    with pytest.raises(SourceError, match=problem) as error:
        refuse_misfits(found.figures(has_rows=True))
    assert (error.value.exit_code, str(error.value).count("  - ")) == (2, 1)


def test_the_window_reaches_the_scan_as_literals(spark, tmp_path):
    one_event(spark).write.parquet(str(tmp_path / "events"))
    source = open_source(
        spark, EventsSource(path=str(tmp_path / "events")), time_column="collector_tstamp"
    )
    plan = executed_plan(source.between(FIRST, LAST, ["event_id"]))
    assert (
        "PushedFilters: [IsNotNull(collector_tstamp), GreaterThanOrEqual(collector_tstamp,2024"
        in plan
    )


def test_events_that_are_not_there_are_an_error_that_names_the_setting(spark, tmp_path):
    with pytest.raises(SourceError, match=r"Cannot read the events at .* Check events.path"):
        open_source(
            spark, EventsSource(path=str(tmp_path / "nowhere")), time_column="collector_tstamp"
        )


def test_missing_and_mistyped_columns_are_named_together(spark, tmp_path):
    one_event(spark, derived_tstamp="array(1)", usragent="'x'").write.parquet(
        str(tmp_path / "events")
    )
    source = open_source(
        spark, EventsSource(path=str(tmp_path / "events")), time_column="collector_tstamp"
    )
    needed = {"useragent": "model 'page_views' needs it", "derived_tstamp": "every run needs it"}
    with pytest.raises(SourceError) as error:
        check_columns(source, needed)
    assert "'useragent' is missing (model 'page_views' needs it). Did you mean 'usragent'" in str(
        error.value
    )
    assert "'derived_tstamp' has type array<int>, expected timestamp" in str(error.value)


@pytest.mark.parametrize(
    ("sent", "options", "is_kept"),
    [
        ("timestamp'2024-01-04 10:00:00Z'", {}, True),
        ("timestamp'2024-01-04 10:00:01Z'", {}, False),
        ("cast(null as timestamp)", {}, True),
        ("timestamp'2024-01-04 10:00:00Z'", {"compat": True}, True),
        ("timestamp'2024-01-04 10:00:01Z'", {"compat": True}, False),
        ("cast(null as timestamp)", {"compat": True}, False),
        ("timestamp'2024-02-01 10:00:00Z'", {"days_late_allowed": -1}, True),
        ("timestamp'2024-02-01 10:00:00Z'", {"days_late_allowed": -1, "compat": True}, True),
        ("cast(null as timestamp)", {"days_late_allowed": -1, "compat": True}, True),
    ],
)
def test_lateness_is_between_making_and_sending(spark, sent, options, is_kept):
    frame = one_event(
        spark, dvce_created_tstamp="timestamp'2024-01-01 10:00:00Z'", dvce_sent_tstamp=sent
    )
    for settings in (WebSettings(**options), MobileSettings(**options)):
        assert frame.where(is_on_time(settings)).isEmpty() != is_kept


def test_only_the_configured_applications_are_taken_in(spark):
    frame = one_event(spark, app_id="'Shop'")
    assert frame.where(is_of_app(WebSettings(app_id=("shop",)))).isEmpty()
    assert not frame.where(is_of_app(WebSettings())).isEmpty()
